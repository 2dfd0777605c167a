"""What fake hosts share: programs, who listens where, what was done, and the faults of a test."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from signal import SIGKILL
from typing import Any

from dunnage.hosts.fake.clock import VirtualClock
from dunnage.hosts.fake.host import FakeHost, FakeProcess, Streams, Task

ELECTION_SECONDS = 0.2
"""Time between the initiation of a replica set and its having a primary."""


@dataclass
class Call:
    """One program as it was called: its surroundings and its output."""

    world: World
    """What it shares with the programs of other hosts."""
    process: FakeProcess
    argv: tuple[str, ...]
    streams: Streams
    root: str = ""
    """Directory of the host that this program takes for `/`."""

    @property
    def host(self) -> FakeHost:
        """Where it runs."""
        return self.process.host

    def read(self, path: str) -> str:
        """Read a file; raises FileNotFoundError."""
        return self.host.get(self.root + path).decode()

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        self.host.put(self.root + path, text.encode())

    def option(self, name: str, default: str = "") -> str:
        """The last value given to an option."""
        return (self.options(name) or (default,))[-1]

    def options(self, name: str) -> tuple[str, ...]:
        """Every value given to an option that may be repeated."""
        pairs = zip(self.argv, self.argv[1:], strict=False)
        return tuple(value for key, value in pairs if key == name)

    def fail(self, sentence: str, code: int = 1) -> Task:
        """Complain and end."""
        self.streams.complain(sentence + "\n")
        return Task(finish=lambda: code)


@dataclass
class Server:
    """A server that listens."""

    member: str
    process: FakeProcess
    config: Mapping[str, Any]
    network: str
    ready: bool
    replica_set: str | None = None
    formed: float = 0.0
    """When it was initiated."""
    shards: dict[str, tuple[str, ...]] = field(default_factory=dict)
    records: int = 0

    @property
    def state(self) -> str:
        """Where its formation stands."""
        if self.replica_set is None:
            return "uninitiated"
        elapsed = self.process.host.world.clock.now() - self.formed
        return "electing" if elapsed < ELECTION_SECONDS else "primary"


@dataclass
class MadeLoad:
    """Load that was made: the samplers' counters follow from it."""

    began: float
    ended: float
    rate: float
    """Operations per second."""
    cost: dict[tuple[str, str], float] = field(default_factory=dict)
    """(host, control group) → CPU seconds per operation."""

    def operations(self, until: float) -> float:
        """Operations that were made until a time."""
        return self.rate * max(0.0, min(until, self.ended) - self.began)


@dataclass
class Pause:
    """Processes of one host held still for a share of the time."""

    host: str
    pids: frozenset[int]
    share: float
    period: float
    begin: float
    rest: int | None = None
    """Periods with a stop, and then as many without; None: every period has one."""
    alive: bool = True

    def holds(self, host: str, pid: int) -> bool:
        """Whether a process is among them."""
        return self.alive and host == self.host and pid in self.pids

    @property
    def average(self) -> float:
        """Share of the time, over periods with and without a stop."""
        return self.share if self.rest is None else self.share / 2

    def stopped(self, until: float) -> float:
        """Seconds of all stops until a time; each stop begins with its period."""
        passed = max(0.0, until - self.begin)
        whole = math.floor(passed / self.period + 1e-9)
        stops, stopping = whole, True
        if self.rest is not None:
            rounds, place = divmod(whole, 2 * self.rest)
            stops, stopping = rounds * self.rest + min(place, self.rest), place < self.rest
        length = self.share * self.period
        last = min(max(0.0, passed - whole * self.period), length) if stopping else 0.0
        return stops * length + last


@dataclass(frozen=True)
class Other:
    """A process that belongs to no host, and keeps processors of the machine busy."""

    name: str
    processors: float
    began: float

    def cpu(self, until: float) -> float:
        """CPU seconds used until a time."""
        return self.processors * max(0.0, until - self.began)


class World:
    """The shared state of all fake hosts of one testbed, and the switchboard of its faults."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.hosts: dict[str, FakeHost] = {}
        self.programs: dict[str, Callable[[Call], Task]] = {}
        self.servers: dict[str, Server] = {}
        """`host:port` that a server listens on → the server."""
        self.published: dict[str, str] = {}
        """`host:port` that clients use → the one that it is translated to."""
        self.loads: list[MadeLoad] = []
        self.pauses: list[Pause] = []
        self.others: list[Other] = []
        self.runs = 0
        """Loads of the run phase that were made."""
        self.unready: set[str] = set()
        self.uncounted = ""
        """Why soft interrupts are not counted; empty where they are."""
        self.threaded = False
        """Whether threads take packets in, and no soft interrupts."""
        self.unread: set[str] = set()
        """Hosts whose network namespaces cannot be read."""
        self.further: list[str] = []
        """Hosts on which another network began, once for each."""
        self.full: set[str] = set()
        """Hosts whose disks have no room left."""
        self._doomed: list[tuple[int, Callable[[], None]]] = []
        self._numbers = itertools.count(1)
        self._pids = itertools.count(101)

    def pid(self) -> int:
        """A process id that no other process of this testbed has had."""
        return next(self._pids)

    def run(self, process: FakeProcess, streams: Streams) -> Task:
        """Find the program that a process was started as, and say what it does."""
        call = Call(self, process, process.argv, streams)
        program = self.programs.get(PurePosixPath(call.argv[0]).name)
        return program(call) if program else call.fail(f"{call.argv[0]}: command not found", 127)

    def late_address(self) -> str:
        """An address as a pod would get it: unknown before its member starts (TEST-NET-2)."""
        return f"198.51.100.{next(self._numbers) % 254 + 1}"

    def addresses(self, name: str) -> list[str]:
        """What a name stands for: the addresses that ports published under it are translated to."""
        there = [inner for outer, inner in self.published.items() if outer.startswith(f"{name}:")]
        return sorted({inner.rpartition(":")[0] for inner in there})

    def reached(self, address: str) -> str:
        """The `host:port` that a client's connection to an address goes to, names resolved."""
        host, _, port = address.rpartition(":")
        numbers = self.addresses(host) if any(letter.isalpha() for letter in host) else []
        return f"{numbers[0]}:{port}" if numbers else address

    def connect(self, address: str) -> Server:
        """The living server behind `host:port`; ConnectionRefusedError, TimeoutError if none."""
        server = self.servers.get(self.published.get(address, address))
        if server is None or not server.process.alive:
            raise ConnectionRefusedError(f"{address}: connection refused")
        if server.process.held:
            raise TimeoutError(f"{address}: no answer")
        return server

    def lose(self, host: str, after: int | None = None) -> None:
        """Cut a host's power: now, or in the middle of the run that follows `after` runs."""
        self._fault(self.hosts[host].power_off, after)

    def die(self, member: str, after: int | None = None) -> None:
        """Kill a member: now, or in the middle of the run that follows `after` runs."""
        self._fault(lambda: self._kill(member), after)

    def fill(self, host: str, after: int | None = None) -> None:
        """Leave no room on the disk of a host: now, or in the middle of the run that follows
        `after` runs.
        """
        self._fault(lambda: self.full.add(host), after)

    def kill(self, host: str, unit: str, after: int | None = None) -> None:
        """Kill the programs in a unit of a host: now, or in the middle of the run that follows
        `after` runs. What restarts a program is not killed.
        """
        self._fault(lambda: _kill_programs(self.hosts[host], unit), after)

    def disturb(self, name: str, processors: float, after: int | None = None) -> None:
        """Let a process of nobody's keep processors busy: from now on, or from the middle of the
        run that follows `after` runs.
        """
        self._fault(lambda: self.others.append(Other(name, processors, self.clock.now())), after)

    def begin_network(self, host: str, after: int | None = None) -> None:
        """Make a further network on a host: now, or in the middle of the run that follows `after`
        runs.
        """
        self._fault(lambda: self.further.append(host), after)

    def never_ready(self, member: str) -> None:
        """Let a member start and listen, but never say that it is ready."""
        self.unready.add(member)

    def ahead(
        self, host: str, seconds: float, drift: float = 0.0, after: int | None = None
    ) -> None:
        """Set a host's clock ahead of ours, from then on gaining `drift` seconds a second.

        Now, or in the middle of the run that follows `after` runs; `seconds` below zero set it
        back.
        """
        self._fault(lambda: self.hosts[host].set_clock(seconds, drift), after)

    def begin_run(self, middle: float) -> None:
        """Schedule the faults that wait for this run, for the time `middle`."""
        due = [fault for after, fault in self._doomed if after <= self.runs]
        self._doomed = [entry for entry in self._doomed if entry[0] > self.runs]
        self.runs += 1
        for fault in due:
            self.clock.at(middle, fault)

    def _fault(self, fault: Callable[[], None], after: int | None) -> None:
        if after is None:
            fault()
        else:
            self._doomed.append((after, fault))

    def _kill(self, member: str) -> None:
        for server in tuple(self.servers.values()):
            if server.member == member:
                server.process.end(-9)


def _kill_programs(host: FakeHost, unit: str) -> None:
    for process in tuple(host.processes.values()):
        if process.unit == unit and process.task.restart is not None:
            process.task.restart(SIGKILL)
        elif process.unit == unit:
            process.signal("KILL")
