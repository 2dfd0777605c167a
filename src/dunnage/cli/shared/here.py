"""The directory that a shell is in: relative paths begin there, and it may have been removed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from dunnage.cli.shared.terminal import typed
from dunnage.errors import UnavailableError

P = ParamSpec("P")
T = TypeVar("T")

_UNUSED: Mapping[str, str] = {"results": "resume"}
"""Option → another one beside which it is not looked at."""


def from_here(verb: Callable[P, T]) -> Callable[P, T]:
    """A verb that raises UnavailableError where it needs the directory that its shell is in, and
    that was removed: for a path that begins there, or for anything else that is sought there."""

    @wraps(verb)
    def command(*words: P.args, **options: P.kwargs) -> T:
        if _begins_here(options) and _removed():
            raise _gone()
        try:
            return verb(*words, **options)
        except FileNotFoundError as error:
            if not _removed():
                raise
            raise _gone() from error

    return command


def _begins_here(options: Mapping[str, object]) -> bool:
    """Whether one of the paths that a verb looks at is relative."""
    return any(
        isinstance(value, Path) and not value.is_absolute()
        for name, value in options.items()
        if options.get(_UNUSED.get(name, "")) is None
    )


def _removed() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _gone() -> UnavailableError:
    return UnavailableError(
        "the directory this shell is in was removed",
        hint=f"cd DIRECTORY, then: {typed(*sys.argv[1:])}",
    )
