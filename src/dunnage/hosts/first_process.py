"""A host's first process: as long as it lives, the host does."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from dunnage.errors import UnavailableError

_BORN = 19
"""Place of the start time among the fields."""
_ENDING = 0x4
"""`PF_EXITING` of the kernel: set before it begins to kill what lives in the namespaces."""


@dataclass(frozen=True)
class Identity:
    """A process, told from a later one that got the same number by its start time (in ticks)."""

    pid: int
    born: int

    def alive(self) -> bool:
        """Whether it lives and is not ending."""
        return running(self.pid) == self

    def there(self) -> bool:
        """Whether the system still has it, be it ending or defunct."""
        fields = _fields(self.pid)
        return fields is not None and int(fields[_BORN]) == self.born

    def kill(self) -> None:
        """Kill it, if it still lives."""
        with contextlib.suppress(ProcessLookupError):
            hold = os.pidfd_open(self.pid)
            try:
                if running(self.pid) == self:
                    signal.pidfd_send_signal(hold, signal.SIGKILL)
            finally:
                os.close(hold)


def identity(pid: int) -> Identity:
    """Who has this number now; raises ProcessLookupError when no one has."""
    process = running(pid)
    if process is None:
        raise ProcessLookupError(pid)
    return process


def running(pid: int) -> Identity | None:
    """Who has this number now; None for no one, or one that is ending."""
    fields = _fields(pid)
    if fields is None or fields[0] in "ZX" or int(fields[6]) & _ENDING:
        return None
    return Identity(pid, int(fields[_BORN]))


def _fields(pid: int) -> list[str] | None:
    """What proc(5) tells after the command in brackets, which may hold anything: state, …, flags
    (the 9th field of all) and start time (the 22nd)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


class FirstProcess:
    """The first process of one host, started here. It ends when this process does.

    `ready` must be called before anything else is asked; several may be started before that.
    """

    def __init__(
        self, engine: Path, name: str, hosts: Path, machine_id: Path, join: Sequence[Path]
    ) -> None:
        """`hosts` and `machine_id` are what it sees of these names in `/etc`."""
        joins = [word for file in join for word in ("--join", str(file))]
        self._name = name
        self._identity: Identity | None = None
        self._waiter = subprocess.Popen(
            [
                *(str(engine), "init", "--name", name),
                *("--hosts", str(hosts), "--machine-id", str(machine_id)),
                *joins,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def ready(self) -> None:
        """Wait until the host is furnished. Raises UnavailableError with what it said."""
        output = self._waiter.stdout
        lines = [output.readline().decode().strip() for _ in range(2)] if output else []
        pids = [int(line.split()[1]) for line in lines if line.startswith("host ")]
        self._identity = running(pids[0]) if pids else None
        if "ready" not in lines or self._identity is None:
            self.end()
            complaint = self._waiter.stderr.read() if self._waiter.stderr else b""
            raise UnavailableError(
                f"a host cannot be created: {complaint.decode().strip()}",
                where=self._name,
                hint="dunnage doctor",
            )

    @property
    def identity(self) -> Identity:
        """The process as this machine sees it."""
        if self._identity is None:
            raise RuntimeError("a host is asked before `ready`")
        return self._identity

    @property
    def pid(self) -> int:
        """Its process id as this machine sees it."""
        return self.identity.pid

    @property
    def root(self) -> Path:
        """The root of the host's files, with all that is mounted there, as seen from here."""
        return Path(f"/proc/{self.pid}/root")

    def mounts(self) -> tuple[PurePosixPath, ...]:
        """Where something is mounted on the host. Raises OSError when the host is gone."""
        lines = Path(f"/proc/{self.pid}/mounts").read_text().splitlines()
        # proc(5): white space and backslashes in names are octal numbers.
        places = (line.split()[1].encode().decode("unicode_escape") for line in lines)
        return tuple(map(PurePosixPath, places))

    def alive(self) -> bool:
        """Whether the host lives."""
        return self._identity is not None and self._identity.alive()

    def keep(self) -> None:
        """Let the host outlive this process."""
        if self._waiter.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._waiter.stdin.write(b"k")
                self._waiter.stdin.flush()
            self._waiter.stdin.close()

    def end(self) -> None:
        """Kill it, and wait until all that lived in the host is gone."""
        if self._identity is not None:
            self._identity.kill()
        if self._waiter.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._waiter.stdin.close()
        self._waiter.wait()
