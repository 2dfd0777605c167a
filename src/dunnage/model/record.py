"""What one run and one stay leave behind."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import model_validator

from dunnage.model.check import CheckResult, Status
from dunnage.model.deployment import Workload
from dunnage.model.level import Level
from dunnage.model.open_load import Refusal
from dunnage.model.value import Scalar, Value

RECORD_VERSION = 5
"""1: first. 2: over capacity, and searches. 3: the network at the uplink, inner devices
apart; a negative control of each stay. 4: gates keep readings and no sentences. 5: a negative
control after each turn; probes keep no sentences; a reading has a member beside its host."""


class Turn(Value):
    """A piece of time in which one deployment was driven while others that lived stood by."""

    name: str
    """The deployment."""
    began: float
    """Unix time by the clock of the client's host."""
    ended: float
    control: Mapping[str, float] | None = None
    """The negative control after it, in 1/s; None where it was not measured."""


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
    """By kind: `timeout`, `connection`, `server`, `not_found`, `protocol`, `unavailable`."""
    service: Latency | None
    response: Latency | None


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
    """Unix time at which the measured window began, in seconds, by the client's clock."""
    seconds: float
    """Length of the measured window."""
    operations: Mapping[str, OperationStats]
    windows: tuple[Window, ...]
    remotes: tuple[str, ...]
    """Every `address:port` connected to."""
    client_cpu: float
    """User and system CPU seconds of the generator in the measured window."""
    client_busy: float
    """Busiest generator thread: its CPU time as a share of the window. At 1 it is the limit."""
    offered: float | None
    """Operations per second that were intended; None in a closed loop."""
    backlog: int
    """Operations intended inside the window but not answered at its end."""
    parts: int
    """Number of engines whose results are added here."""


class Usage(Value):
    """What one host or member used in the measured window. None: could not be attributed here."""

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
    """Bytes."""
    disk_written: float | None = None
    received: float | None = None
    """Bytes at the host's uplink; in records before version 3 at every interface but loopback."""
    sent: float | None = None
    packets_received: float | None = None
    packets_sent: float | None = None
    inner_received: float | None = None
    """Bytes at all devices behind the uplink, such as a bridge and the ends of containers' cables:
    one byte is counted at each."""
    inner_sent: float | None = None
    inner_packets_received: float | None = None
    inner_packets_sent: float | None = None


class MachineUsage(Value):
    """What belongs to the whole machine, as shares of its CPU time or of time (pressure)."""

    processors: float | None = None
    """Processors that the kernel accounted for."""
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
    """How fast the host's own processors were: pieces of a fixed piece of arithmetic in a second of
    CPU time. Neighbours of a virtual machine slow it down without any stolen time."""
    speed_change: float | None = None
    """That in the last third of the window over that in the first, minus one."""


class HostUsage(Value):
    """One host: all of it, each unit on it (a member, the daemon, the sampler, the generator)."""

    host: str
    group: str
    whole: Usage
    units: Mapping[str, Usage]
    machine: MachineUsage
    samples: int
    expected_samples: int
    sampler_cpu: float | None
    """CPU seconds that the sampler itself used in the window."""
    absent: Mapping[str, str] = {}
    """What could not be attributed on this host, with the reason."""
    clock_offset: float = 0.0
    """Seconds that its clock was ahead of ours."""


class Attempt(Value):
    """A measurement that was disturbed from outside and therefore made again."""

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
    """Share of them that was over when the window ended."""
    backlog_slope: float
    """Seconds that the backlog grew by in each second."""
    p99: float | None
    """Response time, in seconds."""
    client_busy: float
    client: bool = False
    """Whether it was the client that could not keep the schedule."""
    sustained: bool
    refusals: tuple[Refusal, ...] = ()
    """Why it was not."""

    @model_validator(mode="before")
    @classmethod
    def _from_sentence(cls, given: Any) -> Any:
        """Records before version 5 hold a sentence in `why_not`."""
        if not isinstance(given, Mapping) or "why_not" not in given:
            return given
        known = dict(given)
        sentence = known.pop("why_not")
        return {**known, "refusals": [Refusal(what="sentence", value=sentence)] * bool(sentence)}


class Ending(StrEnum):
    """How a search ended."""

    FOUND = "found"
    """A rate that was sustained lies within the precision below one that was not."""
    USED_UP = "used up"
    """All probes were made before the two were near enough."""
    NEVER_SUSTAINED = "never sustained"
    """Not even one operation per second."""


class Searched(Value):
    """A search for the highest rate that a deployment sustains."""

    rate: float | None
    """The highest that was sustained; None where none was."""
    ended: Ending
    probes: tuple[Probe, ...]


class Record(Value):
    """One finished run. Written last and atomically: a run without it did not happen."""

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
    earlier: tuple[Attempt, ...] = ()
    """Disturbed attempts before this one, in order."""
    one_machine: bool = False
    """Whether all hosts are one machine, whose counters each of them reports."""
    paused: float | None = None
    """Share of the measured time in which a declared slowdown really held the servers."""
    over_capacity: bool = False
    """Whether the deployment could not keep up with an open load. That is a finding, no fault of
    the instrument: throughput counts, but latencies that grow with the run's length do not."""
    turns: tuple[Turn, ...] = ()
    """The deployment's own turns, where load came in turns: throughput and CPU time are of them,
    and there are no latencies."""
    search: Searched | None = None
    """At the level of a search. `measurement` and all that is made of it are then those of the
    highest sustained probe, or of the last one where none was."""
    artefacts: tuple[str, ...] = ()
    """Files beside the record."""


class ProcessFacts(Value):
    """What the kernel says of one member's running process: the material of parity.

    Secrets are masked before it is written, so two that differ in a secret alone are the same.
    """

    member: str
    role: str
    executable: str
    executable_sha256: str
    mapped: Mapping[str, str]
    """Every file mapped executable with its SHA-256; of a Java virtual machine also every
    class-data archive in use, its own classes, every jar and every file of arguments."""
    argv: tuple[str, ...]
    files: Mapping[str, str]
    """The member's configuration files, as the process itself finds them."""
    limits: Mapping[str, str]
    """Effective resource limits, cgroup limits, weights and CPU set."""
    data: Mapping[str, str]
    """File system and mount options of the data directory."""
    kernel: Mapping[str, str]
    """Kernel release and the system settings that matter to a database."""
    user: str
    environment: Mapping[str, str] = {}
    """The variables that it was started with."""
    runtime: Mapping[str, str] = {}
    """What a Java virtual machine says of itself: flags in force, heap, collector, processors."""
    absent: Mapping[str, str] = {}
    """What could not be read, with the reason: `virtual machine`, `environment`, or the path of a
    file. It is unknown, and never the same as anything."""


class StayRecord(Value):
    """One living deployment: what its servers and processes said of themselves."""

    version: int = RECORD_VERSION
    stay: str
    block: int
    deployment: str
    started: float
    ready: float
    """Unix time at which the database could be used."""
    stages: Mapping[str, float]
    """Seconds that each stage of the formation took."""
    facts: Mapping[str, Scalar]
    """What the servers say of themselves, read back after formation."""
    processes: tuple[ProcessFacts, ...]
    endpoint: tuple[str, ...]
    """Every address that clients are told."""
    network: Mapping[str, str]
    """What is really in force: driver, MTU, proxy processes, address translation."""
    restored_from: str | None = None
    """The stay that made the snapshot which its members started with; None where records were put
    in."""
    control: Mapping[str, float] = {}
    """What no deployment can change, measured on the first client's host before it was there:
    `arithmetic` (pieces) and `loopback` (exchanges), in 1/s. Empty in records before version 3."""
