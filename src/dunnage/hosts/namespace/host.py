"""A host made of namespaces: its own network, mounts, processes, name and control groups."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from dunnage.contracts.host import Completed, Router
from dunnage.errors import RunError
from dunnage.hosts.control_groups.groups import ControlGroups, Shape
from dunnage.hosts.machine_clock import MachineClock
from dunnage.hosts.namespace.enter import Door, NamespaceProcess
from dunnage.model.study import Limits

ENGINE = "/run/dunnage/engine"
"""Where `dunnage-engine init` shows itself in every host."""
INIT_UNIT = "init"
LOOPBACK = "127.0.0.1"
_OUTSIDE = "outside"
"""Unit of what carries connections from this machine's loopback."""

_REMOVE = """
while read -r _ place _; do
    case "$place" in "$1" | "$1"/*) mounted="$place $mounted" ;; esac
done < /proc/self/mounts
for place in $mounted; do umount -- "$place" || exit; done
exec rm -rf -- "$1"
"""
"""What was mounted last goes first: a tree shown read-only cannot be removed otherwise."""


@dataclass(frozen=True, eq=False)
class NamespaceHost:
    """One host of a lab; `door` is asked for the way into its present incarnation, and
    `before` for the router that stands before it, if one does by now."""

    engine = ENGINE

    name: str
    group: str
    address: str
    scratch: str
    top: str
    """The control group above those of its units."""
    groups: ControlGroups
    clock: MachineClock
    door: Callable[[], Door]
    before: Callable[[], Router | None]
    _units: set[str] = field(default_factory=set)

    @property
    def router(self) -> Router | None:
        return self.before()

    @property
    def look_at_disks(self) -> str:
        return f"dunnage run --keep STUDY  # then: dunnage lab shell {self.name} -- df"

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        timeout: float = 60.0,
        unit: str = "command",
    ) -> Completed:
        self._make(unit, None)
        join = self.groups.join_files(self.control_group(unit))
        return self.door().complete(argv, join, stdin=stdin, timeout=timeout)

    def start(
        self,
        argv: Sequence[str],
        *,
        unit: str,
        log: str,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> NamespaceProcess:
        self._own(log)
        self._make(unit, shape(limits or Limits()))
        join = self.groups.join_files(self.control_group(unit))
        return self.door().enter(argv, join, env=env, log=log)

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        with self._files(self._own(path), "write") as file:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch(mode)  # before it holds anything
            file.chmod(mode)
            file.write_bytes(content)

    def get(self, path: str) -> bytes:
        with self._files(PurePosixPath(path), "read") as file:
            return file.read_bytes()

    def remove(self, path: str) -> None:
        target = self._own(path)
        if self._mounted_in(target):
            done = self.run(["sh", "-c", _REMOVE, "sh", str(target)])
            self._insist(done.code, done.stderr, f"remove `{path}`")
            return
        with self._files(target, "remove") as file:
            if file.is_dir() and not file.is_symlink():
                shutil.rmtree(file)
            else:
                file.unlink(missing_ok=True)

    def put_tree(self, source: Path, path: str) -> None:
        target = self._own(path)
        door = self.door()
        door.insist_alive()
        words = ["bind", "--host", str(door.first.pid), "--source", str(source)]
        done = subprocess.run(
            [str(door.engine), *words, "--target", str(target)],
            capture_output=True,
            check=False,
            start_new_session=True,
            text=True,
            errors="replace",
        )
        self._insist(done.returncode, done.stderr, f"show `{source}` at `{path}`")

    def control_group(self, unit: str) -> str:
        return f"{self.top}/{unit}" if unit else self.top

    def freeze(self, unit: str) -> None:
        self.groups.freeze(self.control_group(unit))

    def thaw(self, unit: str) -> None:
        self.groups.thaw(self.control_group(unit))

    def clock_offset(self) -> float:
        return self.clock.offset()

    def enter(self, argv: Sequence[str]) -> NamespaceProcess:
        """Start a program outside all units but the first process's, its streams being pipes."""
        join = self.groups.join_files(self.control_group(INIT_UNIT))
        return self.door().enter(argv, join)

    def listen_outside(self, to: str) -> int:
        """A port of this machine's loopback that leads to `to`, an address and port in the host's
        network, for as long as the host lives.

        The socket is made here and handed to a program of the host's.
        """
        with socket.create_server((LOOPBACK, 0)) as listener:
            self._make(_OUTSIDE, None)
            number = listener.fileno()
            self.door().enter(
                [ENGINE, "forward", "--listener", f"{number}={to}"],
                self.groups.join_files(self.control_group(_OUTSIDE)),
                log=f"/run/{_OUTSIDE}.log",
                descriptors=(number,),
            )
            return int(listener.getsockname()[1])

    def make_scratch(self) -> None:
        """Make its directory on a disk."""
        Path(self.scratch).mkdir()

    def remove_scratch(self) -> None:
        """Remove that directory with all in it."""
        shutil.rmtree(self.scratch, ignore_errors=True)

    def power_cut(self) -> None:
        """Kill the first process: everything on the host ends at once, without warning."""
        self.thaw("")  # what is frozen cannot end
        self.door().first.end()

    def forget_units(self) -> None:
        """The control groups of units were removed."""
        self._units.clear()

    @contextmanager
    def _files(self, path: PurePosixPath, act: str) -> Iterator[Path]:
        """The path as the host itself finds it, to be read or written from here.

        An absolute symbolic link on the way would lead out of the host. Raises FileNotFoundError
        where there is none, HostLostError when the host is gone, and RunError with what the kernel
        says.
        """
        door = self.door()
        door.insist_alive()
        try:
            yield door.first.root / path.relative_to("/")
        except OSError as error:
            door.insist_alive()
            if isinstance(error, FileNotFoundError | NotADirectoryError):
                raise FileNotFoundError(f"{self.name}:{path}") from None
            raise RunError(f"cannot {act} `{path}`: {error.strerror}", where=self.name) from error

    def _mounted_in(self, path: PurePosixPath) -> bool:
        """Whether something is mounted at a path of the host or below."""
        door = self.door()
        try:
            mounts = door.first.mounts()
        except OSError:
            raise door.lost() from None
        return any(path == mount or path in mount.parents for mount in mounts)

    def _insist(self, code: int, stderr: str, what: str) -> None:
        if code != 0:
            complaint = stderr.strip() or f"exit code {code}"
            self.door().insist_alive()
            raise RunError(f"cannot {what}: {complaint}", where=self.name)

    def _make(self, unit: str, wanted: Shape | None) -> None:
        """Make a unit's group; without a wanted shape an existing one keeps what it has."""
        if wanted is None and unit in self._units:
            return
        self.groups.make(self.control_group(unit), wanted or Shape())
        self._units.add(unit)

    def _own(self, path: str) -> PurePosixPath:
        """The path, when it is the host's own: the rest of the disk is this machine's."""
        clean = PurePosixPath(path)
        roots = (PurePosixPath("/run"), PurePosixPath("/tmp"), PurePosixPath(self.scratch))  # noqa: S108
        if ".." in clean.parts or not any(root in clean.parents for root in roots):
            raise RunError(
                f"`{path}` does not belong to the host: only paths below `/run`, `/tmp` and "
                f"`{self.scratch}` do",
                where=self.name,
            )
        return clean


def shape(limits: Limits) -> Shape:
    """What the limits of a member mean for its control group."""
    memory = None if limits.memory is None else int(limits.memory)
    return Shape(memory=memory, cpus=limits.cpus, pids=limits.pids)
