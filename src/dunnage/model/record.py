"""The records of one run and one stay."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import field_validator, model_validator

from dunnage.model.check import CheckResult, Status
from dunnage.model.choices import ClientKind
from dunnage.model.deployment import Workload
from dunnage.model.level import Level
from dunnage.model.open_load import Refusal
from dunnage.model.path import NetworkPath
from dunnage.model.port import PortNumbers, ports_from_earlier
from dunnage.model.process import ProcessFacts, UnseenProcess
from dunnage.model.record_versions import RECORD_VERSION, probe_from_earlier
from dunnage.model.soft_interrupts import SoftInterrupts
from dunnage.model.value import Scalar, Value


class Turn(Value):
    """Time in which one deployment got load while the others that ran got none."""

    name: str
    """The deployment."""
    began: float
    """Unix time by the clock of the client's host."""
    ended: float
    control: Mapping[str, float] | None = None
    """The negative control after the turn, in 1/s; None if not measured."""


class Latency(Value):
    """Quantiles of one histogram, in seconds. `quantiles` maps `p50`, `p99.9`, … to seconds."""

    count: int
    mean: float
    minimum: float
    maximum: float
    quantiles: Mapping[str, float]


class OperationStats(Value):
    """One operation type (`read`, `update`, …, or `all`) in the measured window.

    `service` counts from the actual start of an operation, `response` from its intended start; a
    closed loop has no intended starts and so no `response`.
    """

    count: int
    errors: Mapping[str, int]
    """By kind: `timeout`, `connection`, `server`, `not_found`, `protocol`, `unavailable`,
    `mismatch`."""
    service: Latency | None
    response: Latency | None
    late: int = 0
    """Those of an open load that started more than a millisecond after their intended start."""
    unsent: int = 0
    """Those that were never started, because every connection was busy until all was given up. In
    `errors` they are of the kind `timeout`."""
    dropped: int = 0
    """Those that were left out because every connection was busy at their intended start."""
    unfinished: int = 0
    """Those of a closed loop that were under way when the window ended, and were answered after it.
    0 in records before version 13, which do not know them."""


class Window(Value):
    """One interval of the time line, in seconds since the start of the measured window.

    Negative starts belong to the warm-up.
    """

    start: float
    length: float
    operations: int
    errors: int


class Measurement(Value):
    """What the generator saw, over all its parts."""

    began: float
    """Unix time of the start of the measured window, in seconds, by the client's clock."""
    seconds: float
    """Length of the measured window."""
    operations: Mapping[str, OperationStats]
    windows: tuple[Window, ...]
    remotes: tuple[str, ...]
    """Every `address:port` connected to."""
    client_cpu: float
    """User and system CPU seconds of the generator in the measured window."""
    client_busy: float
    """CPU time of the busiest generator thread, as a share of the window. At 1 the thread is the
    limit."""
    client_limited: float | None = None
    """Share of the window for which a generator was at its limit, as it saw itself, the largest of
    its parts: working without a pause, or kept from working. None: not known."""
    offered: float | None
    """Operations per second that were intended; None in a closed loop."""
    backlog: int
    """Operations intended inside the window but not answered at its end."""
    parts: int
    """Number of engines whose results are added here."""
    starts: tuple[float, ...] = ()
    """Unix time at which each engine began, warm-up included, by the clock of its host. Empty in
    records before version 12."""
    shape: str = ""
    """How a record was kept, such as `hash` or `string`, as the generator tells. Empty where it
    does not, and in records before version 13, as in the next four."""
    consistency: Mapping[str, str] = {}
    """How many members had to answer, by `read` and `write`, in the words of the database."""
    encryption: tuple[str, ...] = ()
    """How connections were encrypted, as it was negotiated, each way once."""
    saturated: bool | None = None
    """Whether a generator says that it may have been the limit."""
    verified: int | None = None
    """Records that were compared with what was written and were the same; None if none was
    compared."""
    spread: float | None = None
    """Seconds from the first of these starts to the last, clocks taken into account. None for a
    single engine."""


class Usage(Value):
    """Resources that one host or member used in the measured window. None: not attributed here."""

    cpu_user: float | None = None
    """CPU seconds."""
    cpu_system: float | None = None
    cpu: float | None = None
    """CPU seconds, user and system, by the kernel's precise clock where it has one."""
    throttled: float | None = None
    """Seconds in which a quota held tasks back."""
    memory_resident: float | None = None
    """Largest anonymous memory, in bytes."""
    memory_cache: float | None = None
    """Largest page cache charged, in bytes."""
    swap: float | None = None
    disk_read: float | None = None
    """Bytes that disks read for it."""
    disk_written: float | None = None
    """Bytes that disks wrote for it; under control groups version 1, bytes that its processes gave
    to be written."""
    received: float | None = None
    """Bytes at the host's uplink; in records before version 3 at every interface but loopback."""
    sent: float | None = None
    packets_received: float | None = None
    packets_sent: float | None = None
    inner_received: float | None = None
    """Bytes at all devices behind the uplink, such as a bridge and virtual Ethernet devices. A byte
    is counted at each."""
    inner_sent: float | None = None
    inner_packets_received: float | None = None
    inner_packets_sent: float | None = None


class MachineUsage(Value):
    """Use of the whole machine, as shares of its CPU time or of time (pressure)."""

    processors: float | None = None
    """Number of processors in the kernel's counters."""
    busy: float | None = None
    softirq: float | None = None
    iowait: float | None = None
    steal: float | None = None
    pressure_cpu: float | None = None
    pressure_memory: float | None = None
    pressure_io: float | None = None
    swap_total: float | None = None
    """Bytes of swap space, the largest in the window."""
    speed: float | None = None
    """Speed of the host's own processors: repetitions of a fixed calculation per second of CPU
    time. Neighbours of a virtual machine can reduce it without stolen time."""
    speed_change: float | None = None
    """Speed in the last third of the window over speed in the first third, minus one."""


class HostUsage(Value):
    """One host and its units: members, the daemon, the sampler, the generator."""

    host: str
    group: str
    whole: Usage
    units: Mapping[str, Usage]
    machine: MachineUsage
    samples: int
    expected_samples: int
    sampler_cpu: float | None
    """CPU seconds of the sampler in the window."""
    absent: Mapping[str, str] = {}
    """What could not be attributed on this host, with the reason."""
    unseen: Mapping[str, str] = {}
    """Member of this host → why its counters do not show what the member uses. Nothing of the host
    is charged to the database then. The empty name is the host itself, where its machine does not
    let it see more than one pod."""
    clock_offset: float = 0.0
    """Seconds by which its clock was ahead of ours."""

    def why(self, counter: str) -> str:
        """Why a counter of the host, or of the machine, is not there; empty where nothing says."""
        place = "host" if counter in Usage.model_fields else "machine"
        return self.absent.get(counter) or self.absent.get(f"{place}.{counter}", "")


class Restart(Value):
    """A program of a lab's Kubernetes that ended, and was restarted."""

    host: str
    program: str
    """Such as `kube-apiserver`."""
    code: int
    """Its exit code; below zero where a signal ended it, such as -9 for signal 9."""
    time: float
    """Unix time of its end, in seconds."""


class Attempt(Value):
    """A measurement that was disturbed from outside and repeated."""

    started: float
    """Unix time, in seconds."""
    ended: float
    throughput: float
    """Operations per second, for the record only: no estimate uses it."""
    checks: tuple[CheckResult, ...]
    """The gates that it did not pass."""


class Probe(Value):
    """One load of a search, and whether the deployment sustained it."""

    rate: float
    """Operations per second that were asked for."""
    offered: float
    """Operations per second that were intended."""
    achieved: float
    """Share of the offered operations that had finished when the window ended."""
    p99: float | None
    """Response time, in seconds."""
    client_busy: float
    client: bool = False
    """Whether the client could not keep the schedule."""
    sustained: bool
    refusals: tuple[Refusal, ...] = ()
    """Why the rate was not sustained."""

    @model_validator(mode="before")
    @classmethod
    def _from_earlier(cls, given: Any) -> Any:
        return probe_from_earlier(given)


class Ending(StrEnum):
    """How a search ended."""

    FOUND = "found"
    """A sustained rate is within the precision below a rate that was not sustained."""
    USED_UP = "used up"
    """All probes were made before the two were near enough."""
    NEVER_SUSTAINED = "never sustained"
    """Not even one operation per second."""


class Searched(Value):
    """A search for the highest rate that a deployment sustains."""

    rate: float | None
    """Highest sustained rate, in operations per second; None if no rate was sustained."""
    ended: Ending
    probes: tuple[Probe, ...]


class Record(Value):
    """One finished run. Written last and atomically; a run without a record does not count."""

    version: int = RECORD_VERSION
    run: str
    stay: str
    block: int
    deployment: str
    workload: Workload
    level: Level
    repeat: int
    position: int
    started: float
    """Unix time, in seconds."""
    ended: float
    status: Status
    checks: tuple[CheckResult, ...]
    measurement: Measurement | None
    usage: tuple[HostUsage, ...]
    data_size: float | None = None
    """Bytes of data in the database before the run."""
    settled: float | None = None
    """Seconds that the run waited until the database had nothing left to do. None in records before
    version 10."""
    earlier: tuple[Attempt, ...] = ()
    """Disturbed attempts before this one, in order."""
    one_machine: bool = False
    """Whether all hosts are one machine and report the same machine counters."""
    paused: float | None = None
    """Share of the measured time in which a declared slowdown really stopped the servers."""
    over_capacity: bool = False
    """Whether the deployment could not keep up with an open load. Its throughput counts. Its
    latencies do not, because they grow with the length of the run."""
    turns: tuple[Turn, ...] = ()
    """The deployment's own turns, for load in turns. Throughput and CPU time are from these turns;
    there are no latencies."""
    search: Searched | None = None
    """The search, at the level of a search. `measurement` and other values are then from the
    highest sustained probe, or from the last probe if none was sustained."""
    restarts: tuple[Restart, ...] | None = None
    """Programs of a lab's Kubernetes that were restarted from the start of the stay to the end of
    the run; None if nothing, or not every host, tells of them."""
    soft_interrupts: SoftInterrupts | None = None
    """Soft interrupts of the machine in the measured window; None if the study asks for none."""
    artefacts: tuple[str, ...] = ()
    """Files beside the record."""


class StayRecord(Value):
    """One stay: facts from its servers and processes."""

    version: int = RECORD_VERSION
    stay: str
    block: int
    deployment: str
    started: float
    ready: float
    """Unix time at which the database was ready."""
    stages: Mapping[str, float]
    """Seconds of each stage of starting the database."""
    facts: Mapping[str, Scalar]
    """Facts from the servers, read after the start."""
    processes: tuple[ProcessFacts, ...]
    unseen: tuple[UnseenProcess, ...] = ()
    """Members in place of whose facts there is a reason."""
    endpoint: tuple[str, ...]
    """Every address that clients may use."""
    names: Mapping[str, tuple[str, ...]] = {}
    """Name in the endpoint → its addresses, as a client resolved it."""
    late: Mapping[str, str] = {}
    """Member → its own address, where that was known only when it had started."""
    ports: Mapping[str, Mapping[str, PortNumbers]] = {}
    """Member → name of a port → its numbers. A cluster may choose them anew for each stay. Empty in
    records before version 17."""
    paths: tuple[NetworkPath, ...] = ()
    """The way from the first client to each member, read back."""
    substrates: Mapping[str, str] = {}
    """Family of substrate → `awake` or `frozen` during the stay."""
    rules: Mapping[str, int] = {}
    """Host of a member or client → rules for packets in force in its network, whoever made them;
    without hosts of which no substrate tells it."""
    client: ClientKind | None = None
    """What the load generator is, seen from the first client's host. None in records before version
    15."""
    network: Mapping[str, str]
    """The active network: driver, MTU, proxy processes, address translation. On a Kubernetes also
    the class of service (QoS) of members' pods, as `quality`."""
    restored_from: str | None = None
    """The stay that made the snapshot of its members; None if the stay loaded the records."""
    control: Mapping[str, float] = {}
    """Negative control on the first client's host, before the deployment started: `arithmetic`
    (calculations) and `loopback` (exchanges), in 1/s. Empty in records before version 3."""

    @field_validator("ports", mode="before")
    @classmethod
    def _from_earlier(cls, given: Any) -> Any:
        return ports_from_earlier(given)
