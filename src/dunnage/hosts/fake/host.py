"""A host in memory: files, processes and control groups, without the machine noticing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

from dunnage.contracts.host import Completed
from dunnage.errors import HostLostError, RunError
from dunnage.hosts.fake.clock import VirtualClock
from dunnage.model.study import Limits

COMMAND_SECONDS = 0.001
"""Virtual time that any command takes, so that every polling loop comes to an end."""


@dataclass(frozen=True)
class Task:
    """What a program does after it was started.

    It ends by itself `seconds` from now with what `finish` returns; without `seconds` it lives on
    until a signal. `finish` is also what it does when it is told to TERM, if `heeds` says so.
    """

    finish: Callable[[], int] = lambda: 0
    seconds: float | None = 0.0
    heeds: bool = False
    gone: Callable[[], None] = lambda: None
    """What becomes of the world when it has ended, however it ended."""
    restart: Callable[[int], None] | None = None
    """What happens when a signal of this number ends what it restarts; None if it restarts nothing.
    The process is then that of what restarts, which goes on."""


@dataclass(frozen=True)
class Streams:
    """What a program is given, and where its output goes."""

    say: Callable[[str], None]
    complain: Callable[[str], None]
    stdin: str = ""
    env: Mapping[str, str] = field(default_factory=dict)


class Surroundings(Protocol):
    """What a host needs of the world that it shares with others."""

    @property
    def clock(self) -> VirtualClock:
        """The time of all hosts."""

    def pid(self) -> int:
        """A process id that no other process has had."""

    def run(self, process: FakeProcess, streams: Streams) -> Task:
        """Find the program that a process was started as, and say what it does."""


class FakeProcess:
    """A process of a fake host."""

    def __init__(
        self, host: FakeHost, argv: tuple[str, ...], unit: str, limits: Limits | None
    ) -> None:
        self.host = host
        self.argv = argv
        self.unit = unit
        self.limits = limits
        self.began = host.world.clock.now()
        self.ended: float | None = None
        self.task = Task(seconds=None)
        self.pid = host.world.pid()
        self._code: int | None = None
        self._stopped = False
        self._lost = False

    @property
    def alive(self) -> bool:
        """Whether it has not ended, and its host has not been lost."""
        return self._code is None and not self._lost

    @property
    def held(self) -> bool:
        """Whether it is frozen or stopped."""
        return self._stopped or self.host.frozen(self.unit)

    def begin(self, task: Task) -> None:
        """Let it do `task`."""
        self.task = task
        if task.seconds is not None:
            clock = self.host.world.clock
            clock.at(clock.now() + task.seconds, self._expire)

    def end(self, code: int) -> None:
        """End it, however it came to that."""
        if self.alive:
            self._code = code
            self.ended = self.host.world.clock.now()
            self.host.processes.pop(self.pid, None)
            self.task.gone()

    def vanish(self) -> None:
        """End it with its host."""
        if self.alive:
            self._lost = True
            self.ended = self.host.world.clock.now()
            self.task.gone()

    def poll(self) -> int | None:
        if self._lost:
            raise lost(self.host.name)
        return self._code

    def wait(self, timeout: float) -> int:
        """Let time pass until it has ended. Raises TimeoutError, HostLostError."""
        self.host.world.clock.advance(timeout, lambda: not self.alive)
        code = self.poll()
        if code is None:
            raise TimeoutError(f"`{self.argv[0]}` still runs after {timeout:g} s")
        return code

    def signal(self, name: str) -> None:
        if not self.alive:
            return
        if name == "STOP":
            self._stopped = True
        elif name == "CONT":
            self._stopped = False
        elif name == "KILL":
            self.end(-9)
        elif name in ("TERM", "INT"):
            self.end(self.task.finish() if self.task.heeds else -15)

    def _expire(self) -> None:
        """It is done, unless it is held: then it goes on when it is let go."""
        if not self.alive:
            return
        if self.held:
            clock = self.host.world.clock
            clock.at(clock.now() + 0.1, self._expire)
        else:
            self.end(self.task.finish())


def lost(name: str) -> HostLostError:
    """What every use of a lost host ends in."""
    return HostLostError("the host no longer answers", where=name)


@dataclass
class FakeHost:
    """A host in memory. `world` is what it shares with the others."""

    engine = "/usr/lib/dunnage/dunnage-engine"

    name: str
    group: str
    address: str
    testbed: str
    world: Surroundings
    files: dict[str, bytes] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)
    """What may be done with files that were put, as `chmod` has it."""
    trees: dict[str, Path] = field(default_factory=dict)
    processes: dict[int, FakeProcess] = field(default_factory=dict)
    powered: bool = True
    _frozen: set[str] = field(default_factory=set)
    _settings: list[tuple[float, float, float]] = field(default_factory=lambda: [(0.0, 0.0, 0.0)])
    """What was done to its clock: from when on, seconds ahead of ours, seconds gained a second."""

    @property
    def scratch(self) -> str:
        return f"/scratch/{self.testbed}"

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        timeout: float = 60.0,
        unit: str = "command",
    ) -> Completed:
        """Run a command to its end; the time it takes passes on the virtual clock."""
        out: list[str] = []
        complaints: list[str] = []
        process = self._spawn(argv, unit, None, Streams(out.append, complaints.append, stdin))
        self.world.clock.sleep(COMMAND_SECONDS)
        try:
            code = process.wait(timeout)
        except TimeoutError:
            process.end(-9)
            raise RunError(
                f"`{' '.join(argv)}` did not end within {timeout:g} s", where=self.name
            ) from None
        return Completed(code, "".join(out), "".join(complaints))

    def start(
        self,
        argv: Sequence[str],
        *,
        unit: str,
        log: str,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> FakeProcess:

        def write(text: str) -> None:
            self.files[log] = self.files.get(log, b"") + text.encode()

        self._reached()
        self.files[log] = b""
        return self._spawn(argv, unit, limits, Streams(write, write, env=env or {}))

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        self._reached()
        self.files[path] = content
        self.modes[path] = mode

    def get(self, path: str) -> bytes:
        self._reached()
        if path in self.files:
            return self.files[path]
        for prefix, source in self.trees.items():
            if PurePosixPath(path).is_relative_to(prefix):
                return (source / PurePosixPath(path).relative_to(prefix)).read_bytes()
        raise FileNotFoundError(f"{self.name}: {path}")

    def remove(self, path: str) -> None:
        self._reached()
        below = path.rstrip("/") + "/"
        for known in [name for name in self.files if name == path or name.startswith(below)]:
            del self.files[known]

    def put_tree(self, source: Path, path: str) -> None:
        self._reached()
        self.trees[path] = source

    def control_group(self, unit: str) -> str:
        return f"/dunnage/{self.testbed}/{self.name}" + (f"/{unit}" if unit else "")

    def freeze(self, unit: str) -> None:
        self._reached()
        self._frozen.add(unit)

    def thaw(self, unit: str) -> None:
        self._reached()
        self._frozen = {frozen for frozen in self._frozen if unit and frozen != unit}

    def frozen(self, unit: str) -> bool:
        """Whether a unit, or all of the host, is frozen."""
        return unit in self._frozen or "" in self._frozen

    def clock_offset(self) -> float:
        now = self.world.clock.now()
        return self.clock(now) - now

    def clock(self, moment: float) -> float:
        """What its clock showed, or will show, at a moment of ours."""
        since, ahead, drift = [setting for setting in self._settings if setting[0] <= moment][-1]
        return moment + ahead + drift * (moment - since)

    def set_clock(self, seconds: float, drift: float) -> None:
        """Set the clock ahead by `seconds`, gaining `drift` seconds a second from now."""
        self._settings.append((self.world.clock.now(), seconds, drift))

    def power_off(self) -> None:
        """Take everything that lives here away."""
        self.powered = False
        for process in tuple(self.processes.values()):
            process.vanish()
        self.processes.clear()

    def power_on(self) -> None:
        """Come back, empty."""
        self.files.clear()
        self.trees.clear()
        self._frozen.clear()
        self.powered = True

    def _reached(self) -> None:
        if not self.powered:
            raise lost(self.name)

    def _spawn(
        self,
        argv: Sequence[str],
        unit: str,
        limits: Limits | None,
        streams: Streams,
    ) -> FakeProcess:
        self._reached()
        process = FakeProcess(self, tuple(argv), unit, limits)
        self.processes[process.pid] = process
        process.begin(self.world.run(process, streams))
        if process.task.seconds == 0.0 and not process.held:
            process.end(process.task.finish())
        return process
