"""A study: what to compare, as the YAML file says it and after its defaults were filled in.

The classes ending in `Spec` are the grammar of the file; `Deployment` is one variant with
everything that the study says about it resolved.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from dunnage.model.conduct import Data as Data
from dunnage.model.conduct import Order as Order
from dunnage.model.conduct import Unavailable as Unavailable
from dunnage.model.level import Level as Level
from dunnage.model.level import Search as Search
from dunnage.model.value import Scalar, Value
from dunnage.units import SHARES, Bytes, Hertz, Seconds, Share, quantity

STUDY_VERSION = 1
"""1: first public grammar."""

CLIENT_GROUP = "client"
"""The group of hosts on which load is made. Every other group is there for members."""

QUOTA_PERIOD = 10_000
"""Period of a CPU quota in microseconds, the same natively and in containers. The kernel's default
of 100 ms would stop a throttled server for so long that the quota, not the platform, made its high
percentiles."""

PAUSE_PERIOD = 0.1
"""Seconds from one stop of a slowdown to the next. A stop costs more than its length, and that must
stay small beside it: with a period of 10 ms the throughput lost was 8.5 % where 5 % of the time was
declared."""

SETTLING = 0.05
"""Seconds at the beginning of a turn that do not count: caches and queues are still the other's."""

TURN_CONTROL = 0.005
"""Seconds for each part of the negative control after a turn."""

INSERTING = frozenset("DE")
"""Core workloads that insert: after them the database is not what the next run expects."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]
"""What a user may call a study, deployment, workload or question: safe in paths and shells."""


class Cores(StrEnum):
    """Who has which of a machine's processors in a lab."""

    APART = "apart"
    """Clients have processors of their own, so that they cannot slow the servers they measure."""
    SHARED = "shared"
    """All hosts have all processors: a client's work is then part of what is measured."""


class TestbedSpec(Value):
    """The hosts a study runs on."""

    __test__ = False  # not a test class, whatever pytest makes of its name

    kind: str = Field(description="Where hosts come from: `namespace` or `fake`.")
    hosts: Mapping[Name, Annotated[int, Field(ge=1, le=64)]] = Field(
        default={"db": 3, CLIENT_GROUP: 1}, description="Number of hosts in each group."
    )
    memory: Bytes | None = Field(
        default=None, description="Memory limit of each database host, for example `2GiB`."
    )
    cores: Cores = Field(
        default=Cores.APART,
        description="Whether clients and database hosts have processors of their own.",
    )
    steer: bool = Field(
        default=True,
        description="Steer received packets to the receiving host's own cores (RPS); without it "
        "a database host's receive path runs on the sender's cores and its cost is hidden.",
    )


class SubstrateSpec(Value):
    """What must live on the hosts before a platform can be used."""

    kind: str = Field(default="daemons", description="`daemons` (ours, one a host) or `existing`.")
    contexts: Mapping[str, str] = Field(
        default={},
        description="For `existing`: the Docker context that reaches each host's daemon.",
    )


class ConsistencySpec(Value):
    """How many copies must answer. What each value means is the database's to say."""

    read: str | int | None = None
    write: str | int | None = None


class DatabaseSpec(Value):
    """What is deployed."""

    kind: str = Field(description="Which database.")
    version: str | None = Field(default=None, description="Default: the one Dunnage knows best.")
    image: str | None = Field(
        default=None,
        description="An image to run in containers instead of the one made from the same tree as "
        "the native server. It is then listed as a difference.",
    )
    topology: str | None = Field(default=None, description="Default: the database's first.")
    members: Annotated[int, Field(ge=1, le=64)] = Field(
        default=1, description="Database processes, each on a host of its own."
    )
    replication: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Copies of each record, where the database lets you choose."
    )
    consistency: ConsistencySpec = ConsistencySpec()
    settings: Mapping[str, Scalar] = Field(
        default={}, description="Server settings, written into its configuration as they are."
    )


class Storage(StrEnum):
    """What a member's data lies on."""

    BIND = "bind"
    """A directory of the host; natively that directory itself."""
    VOLUME = "volume"
    """A local volume of the platform."""
    CONTAINER = "container"
    """The container's own file system (overlay2)."""
    TMPFS = "tmpfs"
    """Memory; gone with the member."""


class Peers(StrEnum):
    """Which address members use among themselves."""

    DIRECT = "direct"
    """Each other's own addresses."""
    ENDPOINT = "endpoint"
    """The addresses that clients use."""


class ClientPlace(StrEnum):
    """Where the generator runs, on the client's own host either way."""

    HOST = "host"
    """Directly on that host."""
    CONTAINER = "container"
    """In a container on that host."""


class Limits(Value):
    """Limits of one member's cgroup, the same natively and in a container."""

    memory: Bytes | None = None
    cpus: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="CPU quota in processors (CFS bandwidth, 10 ms period)."
    )
    pids: Annotated[int, Field(ge=1)] | None = None


class DeploymentSpec(Value):
    """One variant under study; anything left out is the study's own."""

    platform: str = Field(description="How database processes are run.")
    network: str | None = Field(
        default=None, description="Driver of the network: `host`, `bridge` or `user-defined`."
    )
    endpoint: str | None = Field(default=None, description="The kind of address a client uses.")
    storage: Storage = Storage.BIND
    peers: Peers = Peers.ENDPOINT
    client: ClientPlace = ClientPlace.HOST
    hosts: Name = Field(default="db", description="The group of hosts the members run on.")
    limits: Limits = Limits()
    slowdown: Annotated[Share, Field(ge=0, lt=1)] = Field(
        default=0.0,
        description="Stop the servers for this share of the time: a known effect, to test the "
        "instrument with.",
    )
    loss: Annotated[Share, Field(ge=0, le=0.5)] = Field(
        default=0.0,
        description="Lose this share of throughput: the slowdown that does it is found before "
        "block 1, and what it loses is measured again after the last block. A known effect, too, "
        "where a slowdown's own cost is not known.",
    )
    database: Mapping[str, object] = Field(
        default={}, description="Keys of `database` that differ from the study's."
    )


class Phase(StrEnum):
    """Which phase of a workload is measured."""

    LOAD = "load"
    """Putting the records in."""
    RUN = "run"
    """The workload's own mix of operations."""


class WorkloadSpec(Value):
    """A YCSB core workload, by letter or with something of its own."""

    name: Name
    core: Literal["A", "B", "C", "D", "E", "F"] = "A"
    phase: Phase = Phase.RUN
    records: Annotated[int, Field(ge=1)] | None = None


def _workload(value: object) -> object:
    """A bare letter stands for the core workload of that name."""
    return {"name": value, "core": value} if isinstance(value, str) else value


class Arrivals(StrEnum):
    """How the intended starts of an open load are spaced."""

    CONSTANT = "constant"
    """Evenly."""
    POISSON = "poisson"
    """At random, as many users who know nothing of one another would."""


class RateSpec(Value):
    """One rate of an open load: operations per second, or a share of the baseline's capacity."""

    number: Annotated[float, Field(gt=0)] | None = None
    share: Annotated[float, Field(gt=0, le=2)] | None = None


def _rate(value: object) -> object:
    """A number counts operations per second, `60%` is a share."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"number": value}
    if isinstance(value, str) and value.rstrip().endswith("%"):
        return {"share": quantity(value, SHARES, "share")}
    if isinstance(value, RateSpec):
        return value
    raise ValueError(
        "a rate is a number of operations per second, for example `2000`, or a share of the "
        "baseline's capacity, for example `60%`"
    )


Rate = Annotated[
    RateSpec,
    BeforeValidator(_rate),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": r"^\s*\d[\d_]*(\.\d+)?\s*%\s*$"},
            ],
            "description": "Operations per second, or a share of the baseline's capacity (`60%`).",
        }
    ),
]


class CalibrationSpec(Value):
    """How the capacity of the baseline is found where rates are shares of it."""

    threads: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        default=None,
        description="Threads of the closed loop; without it the largest of `threads`, or "
        "`connections`.",
    )
    runs: Annotated[int, Field(ge=1, le=9)] = Field(
        default=3, description="Runs of each workload; their median counts."
    )
    duration: Seconds = 3.0


class LoadSpec(Value):
    """How hard and how long each run drives the database.

    `threads` is a closed loop: each thread waits for its answer. `rate` is an open load: operations
    have intended starts, whatever the database does. `search` looks for the highest such rate.
    """

    threads: tuple[Annotated[int, Field(ge=1, le=4096)], ...] = ()
    rate: tuple[Rate, ...] = Field(
        default=(), description="Operations per second, or shares of the baseline's capacity."
    )
    search: Search | None = None
    calibration: CalibrationSpec = CalibrationSpec()
    connections: Annotated[int, Field(ge=1, le=4096)] = Field(
        default=64, description="Most operations in flight under an open load."
    )
    arrivals: Arrivals = Arrivals.CONSTANT
    turns: Seconds | None = Field(
        default=None,
        description="All deployments of a block live at once, each on hosts of its own, and take "
        "turns of this length: what the machine does over seconds then cancels. `duration` is what "
        "each is driven in all. Closed loops only; throughput and CPU time are compared.",
    )
    conditioning: Seconds = Field(
        default=0.0,
        description="Time for which every new deployment is driven by all workloads that insert "
        "nothing, in turn, before its first run: for servers that compile as they go.",
    )
    warmup: Seconds = Field(default=1.0, description="Time at the start of a run; not counted.")
    duration: Seconds | None = Field(default=None, description="Measured time of a run.")
    operations: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Stop after this many operations instead."
    )
    timeout: Seconds = Field(default=10.0, description="An operation without answer is an error.")


class SamplerSpec(Value):
    """How hosts are watched."""

    kind: str = "engine"
    rate: Annotated[Hertz, Field(gt=0, le=20)] = 1.0


class PrimarySpec(Value):
    """Which comparisons of a question decide it; what is left out means all."""

    against: tuple[Name, ...] = Field(default=(), description="Some of the question's `against`.")
    workloads: tuple[Name, ...] = Field(default=(), description="Names of workloads.")
    levels: tuple[str, ...] = Field(
        default=(), description="Levels by name: `t32` for 32 threads, `r2000` for 2000 op/s."
    )


class QuestionSpec(Value):
    """What the study shall answer: `against` compared with `baseline`."""

    baseline: Name = Field(description="The deployment that the others are compared with.")
    against: tuple[Name, ...] = Field(min_length=1, description="Those others.")
    metric: str = Field(default="throughput", description="See the reference of metrics.")
    tolerance: Annotated[Share, Field(gt=0, lt=1)] = Field(
        default=0.03, description="Differences up to this count as none."
    )
    primary: PrimarySpec = Field(
        default=PrimarySpec(),
        description="The comparisons that decide the question, where not all of them do: the fewer "
        "they are, the narrower are their intervals. The others are shown as secondary.",
    )


class Study(Value):
    """A study file."""

    dunnage: Literal[1] = Field(description="Version of this grammar.")
    name: Name = Field(description="Results go to `results/NAME/`.")
    testbed: TestbedSpec = Field(description="Where it runs.")
    substrate: SubstrateSpec = SubstrateSpec()
    database: DatabaseSpec = Field(description="What is deployed, the same in every variant.")
    deployments: Mapping[Name, DeploymentSpec] = Field(
        min_length=1, description="The variants to compare, by names of your own."
    )
    factors: Mapping[Name, tuple[Scalar, ...]] = Field(
        default={},
        description="Keys of a deployment, each with several values: every deployment is "
        "multiplied by every combination.",
    )
    workloads: tuple[Annotated[WorkloadSpec, BeforeValidator(_workload)], ...] = Field(
        min_length=1, description="YCSB's core workloads, by letter or with a name of your own."
    )
    records: Annotated[int, Field(ge=1)] = Field(
        default=10_000, description="Records of 1 kB that the database holds before a run."
    )
    data: Data = Data.LOAD
    load: LoadSpec = Field(description="How hard and how long each run drives the database.")
    time: Seconds | None = Field(
        default=None,
        description="How long the study may take: blocks and, unless `load` says it, the measured "
        "time of a run are chosen for that, by what earlier results of this machine showed. In "
        "place of `blocks`.",
    )
    blocks: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=6,
        description="Rounds; each deploys every variant once, in a balanced random order. Below "
        "six there is no interval.",
    )
    spare: Annotated[int, Field(ge=0, le=100)] = Field(
        default=0,
        description="Most further blocks that are measured in place of blocks in which a run is "
        "missing or was disturbed from outside. Spoilt blocks stay in the result.",
    )
    repeat: Annotated[int, Field(ge=1, le=10)] = Field(
        default=1, description="Runs of the same workload and level inside one stay."
    )
    twin: Name | None = Field(
        default=None, description="The deployment that is deployed twice in every block."
    )
    questions: Mapping[Name, QuestionSpec] = Field(
        default={}, description="What the report shall answer, by names of your own."
    )
    generator: str = Field(default="engine", description="Who makes the load.")
    sampler: SamplerSpec = SamplerSpec()
    order: Order = Order.RANDOM
    unavailable: Unavailable = Unavailable.REFUSE
    seed: int = Field(
        default=1, description="Of the random order and of the keys that are asked for."
    )
    patience: Seconds = Field(
        default=120.0,
        description="Time in all that may be spent on measuring again what was disturbed from "
        "outside (stolen processor time, other load). Every attempt is recorded.",
    )
    deadline: Seconds = Field(
        default=120.0, description="A member that is not ready after this time ends the stay."
    )


class Parts(Value):
    """What the parts of a deployment say of themselves: how they are called, how long they take.

    Nameless, and with usual times, where an older Dunnage made the plan: `study.matrix.named` fills
    them in.
    """

    platform: str = ""
    """`Docker`; empty where a sentence has nothing to say of it."""
    network: str = ""
    """`with a bridge network`."""
    database: str = ""
    """`Redis`."""
    up: float = 10.0
    """About how many seconds it takes to bring it up and down, its database's part too."""
    settling: float = 1.0
    """Seconds around every run: settling, samplers, reading back what they saw."""
    loading: float = 20_000.0
    """Records loaded per second."""


class Deployment(Value):
    """One variant under study, resolved: nothing is left to a default."""

    name: str
    title: str
    """Canonical name from the endpoint grammar, such as `HostDockerBridgeHostPort`."""
    twin_of: str | None = None
    platform: str
    network: str
    endpoint: str
    storage: Storage
    peers: Peers
    client: ClientPlace
    hosts: str
    limits: Limits
    slowdown: float
    loss: float = 0.0
    database: DatabaseSpec
    parts: Parts = Parts()

    @property
    def original(self) -> str:
        """The deployment that a twin is of; its own name where it is none."""
        return self.twin_of or self.name


class Workload(Value):
    """One workload, resolved."""

    name: str
    core: Literal["A", "B", "C", "D", "E", "F"]
    phase: Phase
    records: int
