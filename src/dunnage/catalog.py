"""All implementations of the parts, one line each.

Only the runner and the command line use these names.
"""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Protocol

from dunnage import on_demand
from dunnage.contracts.cluster import ClusterSeen, StaySeen
from dunnage.contracts.database import Database
from dunnage.contracts.docker import Daemon
from dunnage.contracts.generator import Generator
from dunnage.contracts.host import Host
from dunnage.contracts.kubernetes import OwnsApiServer
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
from dunnage.hosts import clean as labs
from dunnage.hosts import standing
from dunnage.hosts.beside import announced, disturbed
from dunnage.hosts.fake.testbed import open_fake
from dunnage.hosts.lab import SCRATCH
from dunnage.hosts.machine_lock import forget_measuring
from dunnage.hosts.machine_lock import measuring as measuring_alone
from dunnage.hosts.machines import machines
from dunnage.hosts.namespace import supports as kernel
from dunnage.hosts.namespace.environment import machine_facts
from dunnage.hosts.namespace.planned import planned_hosts
from dunnage.hosts.namespace.supports import CGROUPS, IPVS, NAMESPACES, ROOT, VXLAN
from dunnage.hosts.namespace.testbed import NamespaceTestbed, open_namespace
from dunnage.model.deployment import Deployment
from dunnage.model.offer import (
    FLOATING,
    Capability,
    Offer,
    PlatformOffer,
    SubstrateOffer,
    Support,
    TestbedOffer,
)
from dunnage.model.plan import Skipped, StayPlan
from dunnage.model.study import CLIENT_GROUP, CONTROL_GROUP, Study, SubstrateSpec, TestbedSpec
from dunnage.model.value import Scalar
from dunnage.platforms.fake import FakePlatform
from dunnage.platforms.kubernetes.foreseen import ForeseenObject, Ground, foreseen
from dunnage.platforms.kubernetes.manifests import Manifests
from dunnage.platforms.kubernetes.offer import KUBERNETES
from dunnage.platforms.native import Native
from dunnage.platforms.offered import DOCKER
from dunnage.platforms.stay_names import StayNames
from dunnage.samplers.engine import EngineSampler
from dunnage.samplers.fake import FakeSampler
from dunnage.software import docker
from dunnage.software.engine import ENGINE, engine_path, engine_support
from dunnage.software.fake import FakeTrees
from dunnage.software.foreseen import ForeseenTrees
from dunnage.software.trees import DebianSoftware
from dunnage.study.room import Room
from dunnage.substrates.contexts import write_contexts
from dunnage.substrates.fake import open_fake_substrate
from dunnage.substrates.kubernetes.choices import Choices, chosen
from dunnage.substrates.kubernetes.kernel import insist_on_kernel
from dunnage.substrates.kubernetes.kubeconfigs import write_kubeconfig


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
            title="Host", meaning="hosts made of Linux namespaces on this machine"
        ),
        "fake": TestbedOffer(title="Fake", meaning="hosts that exist in memory only", fake=True),
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
            "existing": SubstrateOffer(contexts=True, contexts_of="Kubernetes"),
        },
        "fake": {"fake": SubstrateOffer()},
    },
    platforms={name: platform.offer for name, platform in PLATFORMS.items()},
    databases={name: database.offer for name, database in DATABASES.items()},
    generators={name: generator.offer for name, generator in GENERATORS.items()},
    samplers={name: sampler.offer for name, sampler in SAMPLERS.items()},
)

_OF_DAEMONS = frozenset({DOCKER, KUBERNETES, VXLAN, IPVS})
"""What Docker daemons and the programs of a Kubernetes need of the machine that they run on: those
that exist already are there, and may run elsewhere."""
_LAB_NEEDS = (ROOT, NAMESPACES, CGROUPS, ENGINE)
_NOT_OURS = Support(
    met=False,
    reason="floating addresses are translated by the switch of a lab, and what exists already does "
    "not stand behind it",
    hint="dunnage schema study  # leave out `contexts`, or name another endpoint",
)
_NO_NODES = Support(
    met=False,
    reason="the hosts of a lab are nodes of no Kubernetes that exists already",
    hint="dunnage schema study  # leave out `kind: existing`: then the lab has a Kubernetes",
)
STAY_NUMBER = "00000000"
"""Stands for what tells a stay's names from those of others, which is drawn when it begins."""
QUICKSTART_NEEDS = (*_LAB_NEEDS, *on_demand.DOCKER.offer.needs, *Redis.offer.needs)
"""What a machine needs for the quickstart."""


def supports(testbed: str) -> Mapping[Capability, Support]:
    """What hosts of a kind of testbed can do here, without opening it. Fakes can do everything."""
    if OFFER.testbeds[testbed].fake:
        return defaultdict(lambda: Support(met=True))
    debian = DebianSoftware()
    lab = kernel.supports()
    machine = {
        **lab,
        ENGINE: engine_support(),
        DOCKER: debian.docker_support(),
        KUBERNETES: debian.kubernetes_support(),
        FLOATING: debian.translation_support() if lab[ROOT].met else lab[NAMESPACES],
    }
    trees: dict[Capability, Support] = {}
    for name, database in OFFER.databases.items():
        for need in database.needs:
            if need not in trees or trees[need].met:
                trees[need] = debian.software_support(name)
    return {**trees, **machine}


def here(testbed: str) -> Mapping[str, Scalar]:
    """Facts of this machine before a testbed opens on it, as in its environment.

    A machine bears on hosts made of namespaces only: others are elsewhere, or nowhere.
    """
    return machine_facts() if testbed == "namespace" else {}


def available(
    study: Study, deployments: Sequence[Deployment]
) -> tuple[tuple[Deployment, ...], tuple[Skipped, ...]]:
    """Separate deployments that can run here from those that cannot, with the reason.

    Docker is obtained first where its iptables is to translate floating addresses. Raises
    UnavailableError naming every reason when the study does not say `unavailable: skip`, or when
    nothing is left.
    """
    found = lacking(study, deployments)
    found += _untranslated(study, deployments, {each.deployment for each, _ in found})
    skipped = tuple(each for each, _ in found)
    names = {each.deployment for each in skipped}
    left = tuple(deployment for deployment in deployments if deployment.name not in names)
    if skipped and (study.unavailable == "refuse" or not left):
        alike: dict[str, list[str]] = {}
        for each in skipped:
            alike.setdefault(each.reason, []).append(f"`{each.deployment}`")
        reasons = "; ".join(f"{', '.join(who)}: {reason}" for reason, who in alike.items())
        raise UnavailableError(f"cannot run here: {reasons}", where=study.name, hint=found[0][1])
    return left, skipped


@dataclass(frozen=True)
class Reach:
    """One endpoint of a platform, and what keeps it from running here."""

    platform: str
    network: str
    endpoint: str
    lacks: tuple[Capability, ...]
    """Capabilities that are missing for it, whose reasons `supports` tells; none if it can run."""


def reachable(testbed: str) -> tuple[Reach, ...]:
    """Every endpoint of every platform for a kind of testbed, with what is missing for it."""
    here = supports(testbed)
    lab = () if OFFER.testbeds[testbed].fake else _LAB_NEEDS
    return tuple(
        _reach(here, (name, network, endpoint), (*lab, *platform.needs_of(network, endpoint)))
        for name, platform in OFFER.platforms.items()
        if platform.fake is OFFER.testbeds[testbed].fake
        for network, chosen in platform.networks.items()
        for endpoint in chosen.endpoints
    )


def _reach(
    here: Mapping[Capability, Support], names: tuple[str, str, str], needs: Sequence[Capability]
) -> Reach:
    found = missing(here, needs)
    return Reach(*names, tuple(need for need in dict.fromkeys(needs) if here[need] in found))


def missing(here: Mapping[Capability, Support], needs: Iterable[Capability]) -> list[Support]:
    """What is missing of `needs`, each once, without what only follows from another."""
    lacking = [here[need] for need in needs if not here[need].met]
    first = [each for each in lacking if each.follows is None or here[each.follows].met]
    return list(dict.fromkeys(first))


def lacking(study: Study, deployments: Sequence[Deployment]) -> tuple[tuple[Skipped, str], ...]:
    """Every deployment that cannot run here, with the reason and a command that may help."""
    here = supports(study.testbed.kind)
    found = []
    for deployment in deployments:
        needs = tuple(_needs(study, deployment))
        unmet = missing(here, needs)
        if FLOATING in needs and _on_theirs(study, deployment):
            unmet.append(_NOT_OURS)
        if _on_their_nodes(study, deployment):
            unmet.append(_NO_NODES)
        if unmet:
            reason = "; ".join(support.reason for support in unmet)
            hint = next((support.hint for support in unmet if support.hint), "dunnage doctor")
            found.append((Skipped(deployment=deployment.name, reason=reason), hint))
    return tuple(found)


def _untranslated(
    study: Study, deployments: Sequence[Deployment], lacking: Container[str]
) -> tuple[tuple[Skipped, str], ...]:
    """Of deployments that seem to lack nothing those whose floating addresses nothing translates.

    `lacking` are the names of the others.
    """
    able = (each for each in deployments if each.name not in lacking)
    floating = [each for each in able if FLOATING in _needs(study, each)]
    if not floating or OFFER.testbeds[study.testbed.kind].fake:
        return ()
    tried = DebianSoftware().translation_tried()
    if tried.met:
        return ()
    return tuple(
        (Skipped(deployment=each.name, reason=tried.reason), tried.hint) for each in floating
    )


def _needs(study: Study, deployment: Deployment) -> Iterator[Capability]:
    if not OFFER.testbeds[study.testbed.kind].fake:
        yield from _LAB_NEEDS
        yield from OFFER.databases[deployment.database.kind].needs
    platform = OFFER.platforms[deployment.platform]
    theirs = _on_theirs(study, deployment)
    for need in platform.needs_of(deployment.network, deployment.endpoint):
        if not (theirs and need in _OF_DAEMONS):
            yield need


def _on_theirs(study: Study, deployment: Deployment) -> bool:
    """Whether a deployment stands on something that exists already."""
    chosen = (OFFER.substrate(each, study.substrate)[1] for each in layers(study, deployment))
    return any(each.contexts for each in chosen)


def _on_their_nodes(study: Study, deployment: Deployment) -> bool:
    """Whether hosts would have to be nodes of a Kubernetes that is not theirs."""
    theirs = "kubernetes" in layers(study, deployment) and _on_theirs(study, deployment)
    return theirs and not OFFER.testbeds[study.testbed.kind].fake


def open_testbed(spec: TestbedSpec, name: str, *, keep: bool) -> AbstractContextManager[Testbed]:
    """Claim the hosts of a study."""
    if OFFER.testbeds[spec.kind].fake:
        return open_fake(spec, name=name)
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
    """Lock the machine while real runs are measured; fakes need no lock.

    `on_other` is told of another study: that this one waits for it, or that one disturbs the other.
    """
    fake = OFFER.testbeds[study.testbed.kind].fake
    alone = nullcontext() if fake else measuring_alone(study.name, on_other)
    with alone, announced(study.name, fake=fake):
        for other in disturbed(fake=fake):
            on_other(other)
        yield


def software(testbed: str) -> SoftwareStore:
    """Where trees for the hosts of a kind of testbed come from."""
    return FakeTrees() if OFFER.testbeds[testbed].fake else DebianSoftware()


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


def open_substrate(
    name: str,
    specs: Mapping[str, SubstrateSpec],
    testbed: Testbed,
    hosts: tuple[Host, ...],
    below: Substrate | None = None,
    *,
    keep: bool,
    choices: Choices | None = None,
    tell: Callable[[str], None] | None = None,
) -> AbstractContextManager[Substrate]:
    """Start the substrate of a family on some hosts; `keep` leaves ours running.

    `below` is the open substrate that it stands on, where it stands on one; `choices` are those for
    a Kubernetes of ours. `tell` hears of software that has to be built first, which takes minutes.
    """
    contexts = specs.get(name, SubstrateSpec()).contexts
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
            choices = choices or Choices()
            insist_on_kernel(kernel, len(hosts), choices)
            binaries = DebianSoftware().kubernetes(tell or _heard)
            return on_demand.open_kubernetes(testbed, binaries, hosts, choices, keep=keep)
        case "kubernetes", "existing":
            return on_demand.open_existing_kubernetes(contexts, hosts)
        case "fake", "fake":
            return open_fake_substrate(testbed, hosts)
        case _, kind:
            raise UnavailableError(f"nothing opens a substrate `{name}` of the kind `{kind}`")


def _heard(_: str) -> None:
    """Nobody asked to be told."""


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


def foreseen_objects(
    study: Study, deployment: Deployment, hosts: TestbedSpec, stay: StayPlan
) -> tuple[ForeseenObject, ...]:
    """All objects that a stay of a deployment on Kubernetes will create, in their order.

    Nothing is asked or obtained for that. Raises UnavailableError where it could not be carried out
    on a cluster that exists already.
    """
    planned = planned_hosts(hosts)
    ours = not _on_theirs(study, deployment)
    database = DATABASES[deployment.database.kind]()
    floating = {host.name: host.floating for host in planned}
    ground = Ground(
        hosts=[host for host in planned if host.group == (stay.hosts or deployment.hosts)],
        clients=[host for host in planned if host.group == CLIENT_GROUP],
        trees=ForeseenTrees(),
        nodes={host.name: host.name if ours else f"node-of-{host.name}" for host in planned},
        ours=ours,
        floating=lambda host: floating[host.name],
    )
    return foreseen(
        Manifests(deployment, StayNames.of(stay.id.lower(), STAY_NUMBER)),
        database.layout(deployment.database),
        lambda now: database.stages(deployment.database, now),
        ground,
    )


def room() -> Room:
    """What this machine has for the records of all hosts."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    place = next(path for path in (SCRATCH, *SCRATCH.parents) if path.exists())
    return Room(memory, shutil.disk_usage(place).free)


def open_lab(spec: TestbedSpec) -> AbstractContextManager[NamespaceTestbed]:
    """A lab without a study, which is left standing."""
    return open_namespace(spec, name="lab up", engine=engine_path(), keep=True)


def standing_families(wanted: Iterable[str]) -> tuple[str, ...]:
    """The families of substrate that are asked for, each after that on which it stands."""
    return tuple(dict.fromkeys(each for name in wanted for each in OFFER.layers(name, {})))


def needs_control(families: Iterable[str]) -> bool:
    """Whether a family has a part on a host of its own."""
    return any(OFFER.substrate(name, {})[1].control for name in families)


def expose(lab: str, daemons: Mapping[str, Daemon]) -> Path:
    """Write Docker contexts that lead to a lab's daemons; returns their directory."""
    directory = standing.chosen(lab).directory / "docker"
    write_contexts(directory, daemons)
    return directory


def expose_kubernetes(testbed: NamespaceTestbed, kubernetes: OwnsApiServer) -> Path:
    """Open a port of this machine's loopback that leads to a lab's API server, and write a
    kubeconfig for it; returns that."""
    port = testbed.host(kubernetes.control).listen_outside(kubernetes.address)
    file = standing.chosen(testbed.name).directory / "kubernetes" / "kubeconfig"
    write_kubeconfig(file, kubernetes.kubeconfig(f"https://127.0.0.1:{port}"))
    return file


def standing_labs() -> tuple[standing.StandingLab, ...]:
    """The labs on this machine."""
    return standing.standing()


def cluster(context: str, kubeconfig: Path | None = None) -> ClusterSeen:
    """What a Kubernetes that exists already tells of itself, by a context of a kubeconfig.

    Raises UnavailableError with the reason why it cannot be asked.
    """
    return on_demand.look_at_cluster(context, kubeconfig, machines())


def stays_left(context: str, kubeconfig: Path | None = None) -> tuple[StaySeen, ...]:
    """What stays have in a Kubernetes that exists already, whoever carries them out.

    Raises UnavailableError with the reason why it cannot be asked.
    """
    return on_demand.stays_in_cluster(context, kubeconfig)


def chosen_lab(name: str | None) -> standing.StandingLab:
    """The lab of a name, or the only one."""
    return standing.chosen(name)


def enter_lab(
    lab: standing.StandingLab, host: standing.StandingHost, argv: Sequence[str]
) -> NoReturn:
    """Become a program inside a host of a lab."""
    standing.enter(lab, host, argv)


def take_down_lab(lab: standing.StandingLab) -> None:
    """End a kept lab and remove all of it."""
    standing.take_down(lab)
    docker.remove_traces()


def clean(*, kept: bool) -> tuple[labs.Leftover, ...]:
    """Remove what no running process owns; return what was removed."""
    removed = labs.clean(kept=kept)
    docker.remove_traces()
    forget_measuring()
    return removed
