"""Leaving a scope without hiding the error that ended it, and saying whose error it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from dunnage.contracts.host import Host, Process
from dunnage.errors import DunnageError, HostLostError, StayError

_KILLED = 5.0
"""Seconds that a killed process may take to be gone."""


def ending(action: Callable[[], None]) -> Callable[..., None]:
    """Return an exit for an ExitStack: an error in `action` becomes a note of the first error.

    Without a first error it is raised itself, as a StayError if it was none of ours.
    """

    def leave(
        _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        try:
            action()
        except Exception as second:
            if error is not None:
                error.add_note(f"during clean-up: {second}")
            elif isinstance(second, DunnageError):
                raise
            else:
                raise StayError(f"cannot be cleaned up: {second!r}") from second

    return leave


def ended(host: Host, process: Process, directory: str) -> Callable[..., None]:
    """Return an exit that kills a process if it lives, waits for it, and removes its directory."""

    def end() -> None:
        try:
            if process.poll() is None:
                process.signal("KILL")
                process.wait(_KILLED)
            host.remove(directory)
        except HostLostError:
            return

    return ending(end)


@contextmanager
def concerning(deployment: str) -> Iterator[None]:
    """Note in an error of ours which deployment it is of, where several live at once."""
    try:
        yield
    except DunnageError as error:
        error.add_note(f"deployment `{deployment}`")
        raise


def terminated(process: Process) -> Callable[..., None]:
    """Return an exit that asks a process to end, so that it can put in order what it holds."""

    def end() -> None:
        process.signal("TERM")
        process.wait(_KILLED)

    return ending(end)
