"""The grammar of a study file: what to compare, where, and which questions to answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from dunnage.model.choices import (
    ClientPlace,
    Cores,
    Data,
    Order,
    Peers,
    Phase,
    Storage,
    Unavailable,
)
from dunnage.model.load_spec import LoadSpec
from dunnage.model.value import KeysOf, Option, Scalar, Spec
from dunnage.units import Bytes, Hertz, Seconds, Share, bounded_by_hand

STUDY_VERSION = 1
"""1: first public grammar."""


def _whole(version: object) -> object:
    """Refuse what Python takes for 1."""
    if isinstance(version, bool | float):
        raise ValueError("it is the whole number 1, the version of the grammar")
    return version


CLIENT_GROUP = "client"
"""The group of hosts for the load generator."""
CONTROL_GROUP = "control"
"""The group of the host for what directs an orchestrator's nodes; it is added where needed."""
NO_MEMBERS = frozenset({CLIENT_GROUP, CONTROL_GROUP})
"""Groups of hosts on which no members run. Every other group is for them."""

LEAST_MEMORY = 6 * 2**20
"""Bytes, Docker's own minimum: no database starts in less."""
Memory = Annotated[Bytes, bounded_by_hand(ge=LEAST_MEMORY), Field(gt=0)]
"""A memory limit."""
INSERTING = frozenset("DE")
"""Core workloads that insert: after them the database is not what the next run expects."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]
"""What a user may call a study, deployment, workload or question: safe in paths and shells."""


class TestbedSpec(Spec):
    """The hosts a study runs on."""

    __test__ = False  # pytest would take it for a test class by its name

    kind: str = Field(examples=["namespace"])
    """How the hosts are made."""
    hosts: Mapping[Name, Annotated[int, Field(ge=1, le=64)]] = Field(
        default={"db": 3, CLIENT_GROUP: 1}, examples=[{"db": 3, CLIENT_GROUP: 1}]
    )
    """Number of hosts in each group."""
    memory: Memory | None = Field(default=None, examples=["1GiB"])
    """Memory limit of each database host."""
    cores: Cores = Field(default=Cores.APART, examples=["shared"])
    """Whether clients and database hosts have processors of their own."""
    steer: bool = Field(default=True, examples=[True])
    """Process received packets on the receiving host's own cores (RPS). Otherwise they are
    processed on the sender's cores, and this cost of the database is hidden."""
    context: str | None = Field(default=None, examples=["my-cluster"])
    """For hosts of kind `nodes`: the context of your kubeconfig. The hosts are nodes of that
    Kubernetes, which exists already."""
    nodes: Mapping[Name, Annotated[tuple[str, ...], Field(min_length=1)]] = Field(
        default={}, examples=[{"db": ["node-1", "node-2", "node-3"], CLIENT_GROUP: ["node-4"]}]
    )
    """For hosts of kind `nodes`: the nodes of each group. Default: the nodes with the label
    `dunnage/group=GROUP`, in the order of their names."""
    image: str | None = Field(default=None, examples=["redis:7.0"])
    """For hosts of kind `nodes`: an image with a shell, in whose container our engine runs on each
    node. Default: the database's `image`."""
    labels: Mapping[str, str] = Field(
        default={}, examples=[{"pod-security.kubernetes.io/enforce": "privileged"}]
    )
    """For hosts of kind `nodes`: labels of every namespace that is made in the cluster."""


def hosts_of(groups: Mapping[str, int]) -> tuple[str, ...]:
    """Names of all hosts of groups of these sizes, group by group."""
    return tuple(f"{group}-{i}" for group, size in groups.items() for i in range(1, size + 1))


class SubstrateSpec(Spec):
    """One family of what must run on the hosts before a platform can be used."""

    kind: str | None = Field(default=None, examples=["existing"])
    """Whether it is made for the study, or exists already. Default: the family's first kind."""
    contexts: Mapping[str, str] = Field(default={}, examples=[{"db-1": "my-docker-context"}])
    """The Docker context of each host, for what exists already. In a Swarm, one of them must lead
    to a manager, or a further one named `control` does."""


class ConsistencySpec(Spec):
    """How many copies must answer. The database defines what each value means."""

    read: str | int | None = Field(default=None, examples=["QUORUM"])
    """Copies that must answer a read."""
    write: str | int | None = Field(default=None, examples=[1])
    """Copies that must answer a write."""


class DatabaseSpec(Spec):
    """What is deployed."""

    kind: str = Field(examples=["redis"])
    """Which database."""
    version: str | None = Field(default=None, examples=["7.0"])
    """Default: the database's first version."""
    image: str | None = Field(default=None, examples=["redis:7.0"])
    """An image to run in containers. Default: an image with the same files as the native server.
    Another image is listed as a difference."""
    topology: str | None = Field(default=None, examples=["replicas"])
    """How members are arranged. Default: the database's first."""
    members: int = Field(default=1, ge=1, le=64, examples=[3])
    """Database processes, each on a host of its own."""
    replication: int | None = Field(default=None, ge=1, examples=[3])
    """Copies of each record, where the database lets you choose."""
    consistency: ConsistencySpec = Field(default=ConsistencySpec(), examples=[{"write": 1}])
    settings: Mapping[str, Scalar] = Field(default={}, examples=[{"maxclients": 1000}])
    """Server settings, copied unchanged into its configuration."""


class Limits(Spec):
    """Limits of one member's cgroup, the same with and without a container."""

    memory: Memory | None = Field(default=None, examples=["512MiB"])
    """Memory, page cache included."""
    cpus: float | None = Field(default=None, gt=0, examples=[1.5])
    """CPU quota in processors (CFS bandwidth, 10 ms period)."""
    pids: int | None = Field(default=None, ge=1, examples=[200])
    """Processes and threads."""


class DeploymentSpec(Spec):
    """One variant under study."""

    platform: str = Field(examples=["native"])
    """How database processes are run."""
    network: str | None = Field(default=None, examples=["bridge"])
    """Network driver. Default: the platform's first."""
    network_options: Mapping[str, Option] = Field(
        default={}, examples=[{"com.docker.network.driver.mtu": 1400}]
    )
    """Options of the network's driver, given to it unchanged, where the network is made for the
    deployment. `driver` names another driver of the Docker daemon, such as a plugin. In a
    Kubernetes, `proxy` is the mode of kube-proxy, and `configuration` is the CNI configuration of
    the network `cni`, which may have placeholders."""
    endpoint: str | None = Field(default=None, examples=["host-port"])
    """The kind of address a client uses."""
    storage: Storage = Field(default=Storage.BIND, examples=["volume"])
    peers: Peers = Field(default=Peers.ENDPOINT, examples=["direct"])
    client: ClientPlace = Field(default=ClientPlace.HOST, examples=["container"])
    hosts: Name = Field(default="db", examples=["db"])
    """The group of hosts the members run on."""
    limits: Limits = Field(default=Limits(), examples=[{"memory": "512MiB"}])
    slowdown: Annotated[Share, bounded_by_hand(le=0.95), Field(ge=0, lt=1)] = Field(
        default=0.0, examples=["5%"]
    )
    """Stop the servers for this share of the time: a known effect to test the instrument."""
    loss: Share = Field(default=0.0, ge=0, le=0.5, examples=["5%"])
    """Lose this share of throughput: a known effect to test the instrument. The slowdown that
    causes it is found before block 1. The loss is measured again after the last block."""
    database: Annotated[Mapping[str, object], KeysOf(DatabaseSpec)] = Field(
        default={}, examples=[{"members": 3}]
    )
    """Keys of `database` that differ from the study's."""


class WorkloadSpec(Spec):
    """A YCSB core workload with a name and options of your own."""

    name: Name = Field(examples=["A-again"])
    """A name of your own."""
    core: Literal["A", "B", "C", "D", "E", "F"] = Field(default="A", examples=["A"])
    """The core workload to use."""
    phase: Phase = Field(default=Phase.RUN, examples=["load"])
    records: int | None = Field(default=None, ge=1, examples=[10_000])
    """Default: the study's own `records`."""


def spelled_out(workload: object) -> object:
    """A bare letter is the core workload of that name."""
    return {"name": workload, "core": workload} if isinstance(workload, str) else workload


class SamplerSpec(Spec):
    """How the counters of the hosts are read."""

    kind: str = Field(default="engine", examples=["engine"])
    """The sampler that reads the counters."""
    rate: Hertz = Field(default=1.0, gt=0, le=20, examples=["5Hz"])
    """How often they are read."""


class PrimarySpec(Spec):
    """Which comparisons decide a question. A key left out means all."""

    against: tuple[Name, ...] = Field(default=(), examples=[["docker"]])
    """Some of the question's `against`."""
    workloads: tuple[Name, ...] = Field(default=(), examples=[["A"]])
    """Names of workloads."""
    levels: tuple[str, ...] = Field(default=(), examples=[["t32"]])
    """Levels by name: `t32` for 32 threads, `r2000` for 2000 op/s."""


class QuestionSpec(Spec):
    """A question for the study: how does `against` differ from `baseline`?"""

    baseline: Name = Field(examples=["native"])
    """The deployment to compare the others with."""
    against: tuple[Name, ...] = Field(min_length=1, examples=[["docker"]])
    """The deployments that are compared with the baseline."""
    metric: str = Field(default="throughput", examples=["throughput"])
    """The metric to compare; see the reference of metrics."""
    tolerance: Share = Field(default=0.03, gt=0, lt=1, examples=["3%"])
    """A difference up to this size counts as none."""
    primary: PrimarySpec = Field(default=PrimarySpec(), examples=[{"workloads": ["A"]}])
    """The comparisons that decide the question. Fewer of them give narrower intervals. The others
    are shown as secondary. Default: all."""


class Study(Spec):
    """A study file."""

    dunnage: Annotated[Literal[1], BeforeValidator(_whole)] = Field(examples=[STUDY_VERSION])
    """Version of this grammar."""
    name: Name = Field(examples=["my-study"])
    """Results go to `results/NAME/`."""
    testbed: TestbedSpec = Field(
        examples=[{"kind": "namespace", "hosts": {"db": 3, CLIENT_GROUP: 1}}]
    )
    """The hosts on which the study runs."""
    substrate: Mapping[Name, SubstrateSpec] = Field(
        default={}, examples=[{"docker": {"kind": "existing", "contexts": {"db-1": "my-context"}}}]
    )
    """What must run on the hosts before a platform can be used, by family: `docker`, `swarm`,
    `kubernetes`. Default: the first kind of each."""
    database: DatabaseSpec = Field(examples=[{"kind": "redis", "members": 3}])
    """What is deployed, the same in every variant."""
    deployments: Mapping[Name, DeploymentSpec] = Field(
        min_length=1, examples=[{"native": {"platform": "native"}}]
    )
    """The variants to compare, by names of your own."""
    factors: Mapping[Name, tuple[Scalar, ...]] = Field(
        default={}, examples=[{"storage": ["bind", "volume"]}]
    )
    """Keys of a deployment, each with several values. Every deployment is repeated with every
    combination."""
    workloads: tuple[Annotated[WorkloadSpec, BeforeValidator(spelled_out)], ...] = Field(
        min_length=1, examples=[["A", "C"], ["A", {"name": "loading", "phase": "load"}]]
    )
    """YCSB's core workloads, by letter or with a name of your own."""
    records: int = Field(default=10_000, ge=1, examples=[10_000])
    """Records of 1 kB that the database holds before a run."""
    data: Data = Field(default=Data.LOAD, examples=["restore"])
    load: LoadSpec = Field(examples=[{"threads": [32], "duration": "10s"}])
    """How hard and how long each run drives the database."""
    time: Annotated[Seconds, Field(gt=0)] | None = Field(default=None, examples=["6min"])
    """How long the study may take. It replaces `blocks`: the number of blocks is chosen from
    earlier results on this machine. So is the length of a run, unless `load` gives it."""
    blocks: int = Field(default=6, ge=1, le=1000, examples=[6])
    """Number of blocks. Each block deploys every variant once, in a balanced random order. With
    fewer than six there is no interval."""
    spare: int = Field(default=0, ge=0, le=100, examples=[2])
    """Most extra blocks. They replace blocks with a missing run or one disturbed from outside. The
    replaced blocks stay in the result."""
    repeat: int = Field(default=1, ge=1, le=10, examples=[1])
    """Runs of the same workload and level inside one stay."""
    twin: Name | None = Field(default=None, examples=["native"])
    """The deployment that is deployed twice in every block."""
    questions: Mapping[Name, QuestionSpec] = Field(
        default={}, examples=[{"Q1": {"baseline": "native", "against": ["docker"]}}]
    )
    """What the report answers, by names of your own."""
    generator: str = Field(default="engine", examples=["engine"])
    """What makes the load."""
    sampler: SamplerSpec = Field(default=SamplerSpec(), examples=[{"rate": "5Hz"}])
    order: Order = Field(default=Order.RANDOM, examples=["published"])
    unavailable: Unavailable = Field(default=Unavailable.REFUSE, examples=["skip"])
    seed: int = Field(default=1, examples=[1])
    """Seed of the random order and of the requested keys."""
    patience: Annotated[Seconds, bounded_by_hand(ge=0)] = Field(default=120.0, examples=["120s"])
    """Total time to repeat runs that were disturbed from outside (stolen processor time, other
    load). Every attempt is recorded."""
    deadline: Seconds = Field(default=120.0, gt=0, examples=["120s"])
    """A stay ends if a member, with its storage, is not ready in this time."""
