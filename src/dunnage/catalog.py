"""All implementations of the parts, one line each.

Only the runner and the command line use these names.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

from dunnage import on_demand
from dunnage.contracts.cluster import ClusterSeen, LeftSeen
from dunnage.contracts.database import Database
from dunnage.contracts.generator import Generator
from dunnage.contracts.host import Host
from dunnage.contracts.platform import Platform
from dunnage.contracts.sampler import Sampler
from dunnage.contracts.software import SoftwareStore
from dunnage.contracts.substrate import Substrate
from dunnage.contracts.testbed import Testbed, Translates
from dunnage.databases.cassandra.database import Cassandra
from dunnage.databases.fake import FakeDatabase
from dunnage.databases.redis.database import Redis
from dunnage.errors import UnavailableError
from dunnage.generators.engine import EngineGenerator
from dunnage.generators.fake import FakeGenerator
from dunnage.hosts.beside import Kind, announced, disturbed
from dunnage.hosts.fake.testbed import open_fake
from dunnage.hosts.lab import SCRATCH
from dunnage.hosts.machine_lock import measuring as measuring_alone
from dunnage.hosts.machines import machines
from dunnage.hosts.namespace import supports as kernel
from dunnage.hosts.namespace.testbed import open_namespace
from dunnage.hosts.nodes.owner import in_use
from dunnage.model.choices import Storage
from dunnage.model.deployment import Deployment
from dunnage.model.offer import (
    FLOATING,
    Offer,
    PlatformOffer,
    SubstrateOffer,
    TestbedOffer,
)
from dunnage.model.study import CONTROL_GROUP, Study, SubstrateSpec, TestbedSpec
from dunnage.platforms.fake import FakePlatform
from dunnage.platforms.native import Native
from dunnage.samplers.engine import EngineSampler
from dunnage.samplers.fake import FakeSampler
from dunnage.software.engine import engine_path
from dunnage.software.fake import FakeTrees
from dunnage.software.named import NamedImages
from dunnage.software.trees import DebianSoftware
from dunnage.study.room import Room
from dunnage.substrates.fake import open_fake_substrate
from dunnage.substrates.kubernetes.choices import Choices, chosen
from dunnage.substrates.kubernetes.kernel import insist_on_kernel


class PlatformKind(Protocol):
    """A class of platforms: what it offers, and how one is made for a stay."""

    @property
    def offer(self) -> PlatformOffer:
        """What it can be asked for."""

    def __call__(
        self,
        deployment: Deployment,
        hosts: tuple[Host, ...],
        substrate: Substrate | None,
        trees: SoftwareStore,
        stay: str,
    ) -> Platform:
        """Make the platform of one deployment for one stay."""


PLATFORMS: Mapping[str, PlatformKind] = {
    "native": Native,
    "docker": on_demand.DOCKER,
    "swarm": on_demand.SWARM,
    "kubernetes": on_demand.KUBERNETES,
    "fake": FakePlatform,
}
DATABASES: Mapping[str, type[Database]] = {
    "redis": Redis,
    "cassandra": Cassandra,
    "fake": FakeDatabase,
}
"""`dunnage init` uses the first that is not a fake."""
GENERATORS: Mapping[str, type[Generator]] = {"engine": EngineGenerator, "fake": FakeGenerator}
SAMPLERS: Mapping[str, type[Sampler]] = {"engine": EngineSampler, "fake": FakeSampler}

OFFER = Offer(
    testbeds={
        "namespace": TestbedOffer(
            title="Host",
            meaning="hosts made of Linux namespaces on this machine",
            networks=True,
        ),
        "nodes": TestbedOffer(
            title="Node",
            meaning="nodes of a Kubernetes that exists already",
            here=False,
            brings={"kubernetes": "nodes"},
        ),
        "fake": TestbedOffer(
            title="Fake", meaning="hosts that exist in memory only", fake=True, networks=True
        ),
    },
    substrates={
        "docker": {
            "daemons": SubstrateOffer(),
            "existing": SubstrateOffer(contexts=True),
        },
        "swarm": {
            "own": SubstrateOffer(below="docker", control=True),
            "existing": SubstrateOffer(contexts=True, beside=(CONTROL_GROUP,)),
        },
        "kubernetes": {
            "own": SubstrateOffer(control=True),
            "nodes": SubstrateOffer(of_testbed=True),
        },
        "fake": {"fake": SubstrateOffer()},
    },
    platforms={name: platform.offer for name, platform in PLATFORMS.items()},
    databases={name: database.offer for name, database in DATABASES.items()},
    generators={name: generator.offer for name, generator in GENERATORS.items()},
    samplers={name: sampler.offer for name, sampler in SAMPLERS.items()},
)


def on_theirs(study: Study, deployment: Deployment) -> bool:
    """Whether a deployment stands on something that exists already."""
    chosen = (OFFER.substrate(each, study.substrate)[1] for each in layers(study, deployment))
    return any(each.theirs for each in chosen)


def open_testbed(
    spec: TestbedSpec,
    name: str,
    *,
    keep: bool,
    storages: Collection[Storage] = (),
    tell: Callable[[str], None] = lambda _: None,
) -> AbstractContextManager[Testbed]:
    """Claim the hosts of a study.

    `storages` are what members' data will lie on: where hosts are nodes of a cluster, what it must
    allow depends on that. `tell` is told which of those is waited for, and what was left there.
    """
    if OFFER.testbeds[spec.kind].fake:
        return open_fake(spec, name=name)
    if not OFFER.testbeds[spec.kind].here:
        return on_demand.open_nodes(spec, name, engine_path(), storages, keep=keep, tell=tell)
    return open_namespace(spec, name=name, engine=engine_path(), keep=keep)


def translate(testbed: Testbed, deployments: Iterable[Deployment]) -> None:
    """Give hosts their floating addresses if a deployment is reached by them, else do nothing.

    Raises UnavailableError when this testbed has none, or they cannot be translated.
    """
    platforms = OFFER.platforms
    needed = (
        platforms[each.platform].needs_of(each.network, each.endpoint) for each in deployments
    )
    if not any(FLOATING in needs for needs in needed):
        return
    if not isinstance(testbed, Translates):
        raise UnavailableError(
            "nothing translates floating addresses to the hosts of this testbed",
            hint="dunnage schema study  # name another endpoint, such as host-port",
        )
    testbed.translate(DebianSoftware().dockerd().environment)


@contextmanager
def measuring(study: Study, on_other: Callable[[str], None]) -> Iterator[None]:
    """Lock the machine while real runs are measured on it; others need no lock.

    Nodes of a cluster are asked whether one is this machine. Who may not lock it can have hosts
    there all the same. `on_other` is told of another study: that this one waits for it, that it
    does not wait for this one, or that one disturbs the other.
    """
    hosts = OFFER.testbeds[study.testbed.kind]
    if not hosts.here and not on_demand.nodes_are_here(study.testbed):
        yield
        return
    with ExitStack() as stack:
        kind = Kind.FAKE if hosts.fake else Kind.ALONE
        if kind is Kind.ALONE:
            try:
                stack.enter_context(measuring_alone(study.name, on_other))
            except UnavailableError as error:
                if hosts.here:
                    raise
                kind = Kind.UNLOCKED
                on_other(f"this machine is a node, and no other study waits for this one: {error}")
                on_other(f"  try: {error.hint}")
        stack.enter_context(announced(study.name, kind))
        for other in disturbed(kind):
            on_other(other)
        yield


def software(testbed: str) -> SoftwareStore:
    """Where trees for the hosts of a kind of testbed come from."""
    hosts = OFFER.testbeds[testbed]
    if not hosts.here:
        return NamedImages()
    return FakeTrees() if hosts.fake else DebianSoftware()


def family(deployment: Deployment) -> str | None:
    """Family of substrate that a deployment's platform needs."""
    return OFFER.platforms[deployment.platform].substrate


def layers(study: Study, deployment: Deployment) -> tuple[str, ...]:
    """Families that a deployment needs in a study, each after that on which it stands."""
    name = family(deployment)
    return OFFER.layers(name, study.substrate) if name is not None else ()


def families(study: Study, deployments: Iterable[Deployment]) -> tuple[str, ...]:
    """All families that deployments need in a study, each once and after that below it."""
    return tuple(dict.fromkeys(each for one in deployments for each in layers(study, one)))


def insist_on_machine(
    name: str, specs: Mapping[str, SubstrateSpec], hosts: int, choices: Choices | None = None
) -> None:
    """Raise UnavailableError where this machine has no room, or lacks something else, for the
    substrate of a family on so many hosts; it can be asked before there are any."""
    if (name, OFFER.substrate(name, specs)[0]) == ("kubernetes", "own"):
        insist_on_kernel(kernel, hosts, choices or Choices())


def obtain(name: str, specs: Mapping[str, SubstrateSpec], tell: Callable[[str], None]) -> None:
    """Have what the substrate of a family is made of in the cache, before there are any hosts.

    `tell` hears of what has to be built first, which takes minutes. Raises UnavailableError where
    it cannot be had.
    """
    match name, OFFER.substrate(name, specs)[0]:
        case "docker", "daemons":
            DebianSoftware().dockerd()
        case "kubernetes", "own":
            DebianSoftware().kubernetes(tell)


def open_substrate(
    name: str,
    specs: Mapping[str, SubstrateSpec],
    testbed: Testbed,
    hosts: tuple[Host, ...],
    below: Substrate | None = None,
    *,
    keep: bool,
    choices: Choices | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> AbstractContextManager[Substrate]:
    """Start the substrate of a family on some hosts; `keep` leaves ours running.

    `below` is the open substrate that it stands on, where it stands on one; `choices` are those for
    a Kubernetes of ours. `tell` hears of software that has to be built, where it was not obtained
    before.
    """
    contexts = specs.get(name, SubstrateSpec()).contexts
    insist_on_machine(name, specs, len(hosts), choices)
    match name, OFFER.substrate(name, specs)[0]:
        case "docker", "daemons":
            return on_demand.open_daemons(testbed, DebianSoftware().dockerd(), hosts, keep=keep)
        case "docker", "existing":
            return on_demand.open_existing(contexts, hosts)
        case "swarm", "own":
            return on_demand.open_swarm(testbed, below, hosts, keep=keep)
        case "swarm", "existing":
            return on_demand.open_existing_swarm(contexts, hosts)
        case "kubernetes", "own":
            binaries = DebianSoftware().kubernetes(tell)
            wanted = choices or Choices()
            return on_demand.open_kubernetes(testbed, binaries, hosts, wanted, keep=keep)
        case "kubernetes", "nodes":
            return on_demand.open_kubernetes_of(testbed, hosts)
        case "fake", "fake":
            return open_fake_substrate(testbed, hosts)
        case _, kind:
            raise UnavailableError(
                f"nothing opens a substrate `{name}` of the kind `{kind}`",
                hint="dunnage schema study  # the key `substrate`",
            )


def groups_of(deployment: Deployment) -> set[str]:
    """Groups of hosts on which a deployment needs its substrate."""
    return OFFER.platforms[deployment.platform].groups_of(deployment)


def choices(deployments: Iterable[Deployment]) -> Choices:
    """What a Kubernetes of ours must have for deployments, of which those on others ask nothing."""
    return chosen(each for each in deployments if family(each) == "kubernetes")


def platform(
    deployment: Deployment,
    testbed: Testbed,
    substrate: Substrate | None,
    trees: SoftwareStore,
    stay: str,
) -> Platform:
    """The platform of one deployment, for one stay."""
    hosts = testbed.group(deployment.hosts)
    return PLATFORMS[deployment.platform](deployment, hosts, substrate, trees, stay)


def room() -> Room:
    """What this machine has for the records of all hosts."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    place = next(path for path in (SCRATCH, *SCRATCH.parents) if path.exists())
    return Room(memory, shutil.disk_usage(place).free)


def cluster(context: str, kubeconfig: Path | None = None) -> ClusterSeen:
    """What a Kubernetes that exists already tells of itself, by a context of a kubeconfig.

    Raises UnavailableError with the reason why it cannot be asked.
    """
    return on_demand.look_at_cluster(context, kubeconfig, machines())


def left_in_cluster(context: str, kubeconfig: Path | None = None) -> LeftSeen:
    """What Dunnage has in a Kubernetes that exists already, whoever uses it.

    Raises UnavailableError with the reason why it cannot be asked.
    """
    return on_demand.left_in_cluster(context, kubeconfig)


def clean_cluster(context: str, kubeconfig: Path | None = None) -> tuple[LeftSeen, LeftSeen]:
    """Remove what nobody uses of that; returns what that was, and what is left.

    Raises UnavailableError as `left_in_cluster` does, and where something does not go.
    """
    return on_demand.clean_cluster(context, kubeconfig, in_use)
