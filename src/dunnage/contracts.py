"""The protocols of the parts. Only `catalog.py` lists implementations.

A database says what runs, a platform how, and a host where. A generator makes load; a sampler reads
counters. The parts do not know each other; the runner connects them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

from dunnage.model.layout import (
    Layout,
    Reservation,
    Service,
    Snapshot,
    Software,
    Stage,
    Step,
    Target,
)
from dunnage.model.load import Command, LoadOrder, Samples, WatchOrder
from dunnage.model.offer import DatabaseOffer, PartOffer
from dunnage.model.path import NetworkPath
from dunnage.model.record import Measurement
from dunnage.model.study import DatabaseSpec, Limits
from dunnage.model.value import Scalar


@dataclass(frozen=True)
class Completed:
    """A command that ended. A non-zero `code` is a fact, not an exception."""

    code: int
    stdout: str
    stderr: str


class Clock(Protocol):
    """Time of the testbed; a fake clock can run faster than ours."""

    def now(self) -> float:
        """Unix time in seconds."""

    def sleep(self, seconds: float) -> None: ...


class Process(Protocol):
    """A process that a host started."""

    @property
    def pid(self) -> int:
        """Its process id as the host sees it."""

    def poll(self) -> int | None:
        """Exit code, or None while it lives. Raises HostLostError with its host."""

    def wait(self, timeout: float) -> int:
        """Exit code; raises TimeoutError after `timeout` seconds, HostLostError with its host."""

    def signal(self, name: str) -> None:
        """Send `TERM`, `KILL`, `STOP`, `CONT`, …; nothing happens if it has ended."""


class Host(Protocol):
    """A machine, or something that acts as one: the only place where processes start.

    Every process started here dies with the host, and with us unless the testbed was kept.
    """

    @property
    def name(self) -> str:
        """Its name in the testbed, such as `db-1`."""

    @property
    def group(self) -> str:
        """The group of the testbed it belongs to."""

    @property
    def address(self) -> str:
        """The IPv4 address by which the other hosts reach it."""

    @property
    def engine(self) -> str:
        """Path of `dunnage-engine` on this host."""

    @property
    def scratch(self) -> str:
        """Directory on a disk of this host for data, removed when the testbed is released."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        timeout: float = 60.0,
        unit: str = "command",
    ) -> Completed:
        """Run a command to its end inside the control group `unit` of this host.

        Raises HostLostError, and RunError when `timeout` seconds are over (it is killed then).
        """

    def start(
        self,
        argv: Sequence[str],
        *,
        unit: str,
        log: str,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> Process:
        """Start a process in the control group `unit`, its output going to the file `log`."""

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        """Write a file, making its directories; nobody may do more with it than `mode` says."""

    def get(self, path: str) -> bytes:
        """Read a file; raises FileNotFoundError."""

    def remove(self, path: str) -> None:
        """Remove a file or a directory with all in it; nothing happens if there is none."""

    def put_tree(self, source: Path, path: str) -> None:
        """Make a local directory visible at `path`, read-only."""

    def control_group(self, unit: str) -> str:
        """Name of a unit's control group below each hierarchy; the empty unit is the host."""

    def freeze(self, unit: str) -> None:
        """Stop every process of a unit until `thaw`."""

    def thaw(self, unit: str) -> None:
        """Continue the processes of a unit and of the units inside it."""

    def clock_offset(self) -> float:
        """Seconds that this host's clock is ahead of ours."""


class Router(Protocol):
    """What stands between hosts, and translates a floating address of each to its own and back."""

    @property
    def name(self) -> str:
        """What paths call it; no host has this name."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables under which its `iptables` runs."""

    def floating(self, host: str) -> str:
        """The floating IPv4 address of a host, which no interface has; KeyError if it has none."""

    def run(self, argv: Sequence[str], *, timeout: float) -> Completed:
        """Run a command in its network, with the errors of `Host.run`."""


@runtime_checkable
class HasRouter(Protocol):
    """A host before which a router may stand."""

    @property
    def router(self) -> Router | None:
        """None where nothing translates addresses for it."""


class Testbed(Protocol):
    """Hosts, claimed until the end of the `with` that opened them."""

    @property
    def hosts(self) -> tuple[Host, ...]:
        """All hosts, in the order of the study's groups."""

    @property
    def one_machine(self) -> bool:
        """Whether all hosts are one machine and see the same machine counters."""

    @property
    def clock(self) -> Clock: ...

    def group(self, name: str) -> tuple[Host, ...]: ...

    def lost(self) -> tuple[str, ...]:
        """Names of hosts that no longer answer."""

    def restore(self, name: str) -> None:
        """Bring a lost host back, empty."""

    def environment(self) -> Mapping[str, Scalar]:
        """Facts about the hardware, the kernel and how the hosts were made."""


@dataclass(frozen=True)
class OtherProcess:
    """A process of the machine that belongs to no host of the testbed."""

    name: str
    cpu: float
    """CPU seconds that it has used so far, with children that it has waited for."""


@runtime_checkable
class SeesOthers(Protocol):
    """A testbed that is one machine, and sees what else runs there."""

    def others(self) -> Mapping[tuple[int, int], OtherProcess]:
        """All processes that belong to no host. The key tells one from a later one of its id."""


@runtime_checkable
class Outweighs(Protocol):
    """A testbed whose hosts can come before all else that runs on their machine."""

    def outweighing(self) -> AbstractContextManager[None]:
        """Have them come first, our own orchestration behind them, while the `with` lasts."""


@runtime_checkable
class Translates(Protocol):
    """A testbed that can give floating addresses to its hosts."""

    def translate(self, tools: Mapping[str, str]) -> None:
        """From now on a router stands before each host, and before each that is restored.

        `tools` are variables under which `iptables` runs. Raises UnavailableError when it refuses.
        """


@dataclass(frozen=True)
class Tree:
    """A software tree on this machine and the place where every host and image has it."""

    software: Software
    source: Path
    """Its path on this machine."""
    prefix: str
    """Absolute path that its programs were made for, on every host and in every image."""
    archive: Path
    """The image made of that tree, as a root file system in a tar file."""
    tag: str
    """Name of the image after its import."""
    facts: Mapping[str, Scalar]
    """Where it came from: packages, versions, hashes."""


class SoftwareStore(Protocol):
    """How a database's software is obtained: one tree, and an image made of that tree."""

    def tree(self, software: Software) -> Tree:
        """Obtain a tree from the cache, or make it. Raises UnavailableError with the reason."""


@dataclass(frozen=True)
class DockerBinaries:
    """Docker's daemon as a program to start; `origin` says whose it is."""

    dockerd: Path
    """Path of the program, the same on every host."""
    environment: Mapping[str, str]
    """What is added to its environment, so that it finds its tools."""
    origin: str
    traces: tuple[str, ...] = ()
    """What dockerd and containerd make outside the directories they are told to use, first what is
    inside; none where they are installed, because it may be theirs."""


@dataclass(frozen=True)
class Certificates:
    """Files on this machine for TLS with a daemon."""

    authority: str
    certificate: str
    key: str
    verify: bool


@dataclass(frozen=True)
class Daemon:
    """A Docker daemon on a host, and where it answers."""

    host: str
    url: str
    certificates: Certificates | None = None
    """For a daemon reached by TLS."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables under which the daemon's own tools, such as iptables, run on its host."""
    ours: bool = True
    """Whether Dunnage started it. Only someone else's may run what its host does not see."""


@dataclass(frozen=True)
class KubernetesBinaries:
    """The programs of a Kubernetes, the same paths on every host."""

    binaries: Path
    """Directory of etcd, the control plane, kubelet, kube-proxy, containerd and others by name."""
    plugins: Path
    """Directory of CNI plugins."""
    sandbox: Path
    """Archive of the image whose container holds a pod's namespaces."""
    environment: Mapping[str, str]
    """What is added to their environment, so that they find each other and their tools."""
    version: str
    origin: str


@dataclass(frozen=True)
class ApiServer:
    """A Kubernetes' API server, and how it is reached from this machine."""

    kubeconfig: Path
    """File of who may do everything. It holds a key, so it belongs into no record."""
    socket: str | None = None
    """A file that leads to it where its address is of another network than this machine's."""
    context: str | None = None
    """Which context of the kubeconfig; None for its current one."""


@dataclass(frozen=True)
class ContainerRuntime:
    """The containerd of a node of ours."""

    ctr: tuple[str, ...]
    """What begins a `ctr` command on its host."""
    environment: Mapping[str, str]
    """Variables under which `ctr` and the node's own tools, such as iptables, run there."""


class Substrate(Protocol):
    """What runs on the hosts for platforms, until the end of its `with`.

    One may stand on another, as a Swarm does on Docker's daemons: what is done to it is done to
    what it stands on as well. What it gives to platforms is told by `HasDaemons` and `HasSwarm`.
    """

    def units(self, host: str) -> tuple[str, ...]:
        """Its units on a host, for the sampler; none where nothing of ours runs."""

    def wake(self) -> None:
        """Make it usable for a stay; returns when it is."""

    def freeze(self, hosts: Collection[str] | None = None) -> None:
        """Keep it from using any CPU during the stay of another platform, on all its hosts or on
        some; `wake` ends it.
        """

    def mend(self, host: str) -> None:
        """Start its part again on a host that was lost and restored empty."""

    def facts(self) -> Mapping[str, Scalar]:
        """Versions, storage driver and network settings, from the daemons."""


@runtime_checkable
class HasDaemons(Protocol):
    """A substrate with a Docker daemon on every host."""

    def daemon(self, host: str) -> Daemon:
        """The Docker daemon of a host; KeyError if there is none."""


@runtime_checkable
class HasSwarm(HasDaemons, Protocol):
    """A substrate whose daemons are the nodes of one Swarm."""

    @property
    def manager(self) -> Daemon:
        """The daemon that takes orders for services."""

    def node(self, host: str) -> str:
        """Id of a host's node in the Swarm; KeyError if it is none."""


@runtime_checkable
class HasKubernetes(Protocol):
    """A substrate whose hosts are the nodes of one Kubernetes."""

    @property
    def api(self) -> ApiServer:
        """Where it takes orders."""

    def node(self, host: str) -> str:
        """Name of a host's node; KeyError if it is none."""

    def runtime(self, host: str) -> ContainerRuntime | None:
        """The containerd of a host's node; None where it is not ours. KeyError as `node`."""


@runtime_checkable
class OwnsApiServer(Protocol):
    """A Kubernetes of our own, to whose API server a way from outside can be made."""

    @property
    def control(self) -> str:
        """Name of the control host."""

    @property
    def address(self) -> str:
        """Where the API server listens in the lab's network, as `host:port`."""

    def kubeconfig(self, server: str) -> bytes:
        """One for who may do everything and finds the API server at this URL."""


@dataclass(frozen=True)
class Seen:
    """A process that its host sees: under which id there, in which control group."""

    pid: int
    control_group: str


@dataclass(frozen=True)
class Unseen:
    """A process that its host does not see, as on someone else's cluster.

    It can be neither inspected, sampled nor held still.
    """

    reason: str
    """Why, as words that may follow a colon."""


@dataclass(frozen=True)
class RunningMember:
    """A member that runs, and its process as the member's host sees it."""

    member: str
    host: Host
    process: Seen | Unseen
    """Read back from the host, never concluded from an option."""


class Platform(Protocol):
    """How database processes are run: one deployment, from `reserve` to `down`.

    `down` is called exactly once, after any failure too. It removes everything of this stay from
    the hosts, except what it must keep.
    """

    def reserve(self, layout: Layout) -> Reservation:
        """Fix places and addresses before anything starts."""

    def up(self, services: Sequence[Service], deadline: float) -> None:
        """Start services and wait until each is ready.

        Raises StayError, with the last lines of the member's log, when one ends or is not ready
        within `deadline` seconds.
        """

    def run(self, member: str, argv: Sequence[str], *, stdin: str, timeout: float) -> Completed:
        """Run a command beside a member, in its container if it has one.

        One whose first word is `ENGINE` is for the host's engine, in the member's network only.
        Raises RunError when `timeout` seconds are over.
        """

    def late(self) -> Mapping[str, str]:
        """Member → its own address, of those that have started and whose address was late."""

    def running(self) -> tuple[RunningMember, ...]:
        """The members that run; raises StayError naming one that has died, with its log.

        That is known from what runs them, whether or not their hosts see their processes.
        """

    def client(self, host: Host) -> Host:
        """Where a generator runs on a client's host: that host, or a container on it."""

    def network(self) -> Mapping[str, str]:
        """The active network on the path to the members, read back."""

    def paths(self, client: Host) -> tuple[NetworkPath, ...]:
        """The way from a client, as `client` gave it, to each member, read back hop by hop."""

    def log(self, member: str, lines: int = 20) -> str:
        """The last lines that a member wrote."""

    def down(self) -> None:
        """Stop everything in reverse order and remove it."""


@runtime_checkable
class Crashable(Protocol):
    """A platform whose members can be made to fail on purpose."""

    def crash(self, member: str) -> None:
        """Kill a member's process without warning."""


@runtime_checkable
class KeepsData(Protocol):
    """A platform that can keep files of its members' data, and have members start with copies.

    `files` maps members to paths below their data directories, as a `Snapshot` does.
    """

    def keep(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        """Copy these files to the disks of the members' hosts, under the name of the snapshot.

        They take the place of what has that name already, and stay when the platform is down,
        until the host is lost or released. Raises StayError when one cannot be copied.
        """

    def restore(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        """Put copies of what was kept where the members will find it.

        It is called after `reserve` and before `up`. Raises StayError when a host does not hold it.
        """


class Database(Protocol):
    """What is deployed. Everything here is pure: data out, output parsed."""

    offer: ClassVar[DatabaseOffer]

    def layout(self, spec: DatabaseSpec) -> Layout: ...

    def stages(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Stage, ...]:
        """What to start and what to run when it is ready, in order."""

    def facts(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """How to ask the servers for version, topology, consistency and settings in force."""

    def reset(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """How to get back to an empty database."""

    def settle(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Step, ...]:
        """What must be over before a measured run: copies caught up, no background work.

        One step's facts hold `data_size`, the bytes of data in the database.
        """

    def target(self, spec: DatabaseSpec, reservation: Reservation) -> Target: ...


@runtime_checkable
class HasSnapshot(Protocol):
    """A database whose records lie in files that the members of another stay can start with."""

    def snapshot(self, spec: DatabaseSpec, reservation: Reservation) -> Snapshot:
        """Which files those are, and the steps that make them hold all records. Pure."""


class Generator(Protocol):
    """Makes load: a command to run on the client, and how to read its artefacts. Pure."""

    offer: ClassVar[PartOffer]

    def commands(
        self, order: LoadOrder, engine: str, directories: Sequence[str]
    ) -> tuple[Command, ...]:
        """One command for each part of the load; together they make the whole load.

        Each part has its own directory, on the client that it runs on.
        """

    def progress(self, log: bytes) -> int:
        """Operations that a part has had answered so far, by what it wrote; 0 before it tells.

        It tells at least every few seconds, even while nothing is answered.
        """

    def parse(self, artefacts: Sequence[Mapping[str, bytes]]) -> Measurement:
        """Add the parts' results. Raises RunError that says what failed, if one did."""


class Sampler(Protocol):
    """Reads counters: a command to run on each host, and how to read its artefacts. Pure.

    The process samples until TERM, and then ends.
    """

    offer: ClassVar[PartOffer]

    def command(self, order: WatchOrder, engine: str, directory: str) -> Command: ...

    def parse(self, artefacts: Mapping[str, bytes]) -> Samples:
        """Read its artefacts; raises RunError if they are not usable."""
