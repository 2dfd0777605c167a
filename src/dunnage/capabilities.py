"""What this machine is capable of, and what keeps deployments from being carried out on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

from dunnage import catalog
from dunnage.errors import UnavailableError
from dunnage.hosts.machine_facts import machine_facts
from dunnage.hosts.namespace import supports as kernel
from dunnage.hosts.namespace.supports import CGROUPS, NAMESPACES, ROOT
from dunnage.model.cni import configuration_of
from dunnage.model.deployment import Deployment
from dunnage.model.metrics import CHARGED
from dunnage.model.offer import FLOATING, IP_SETS, IPVS, VXLAN, Capability, Support
from dunnage.model.plan import Skipped
from dunnage.model.proxy import ProxyMode, proxy_of
from dunnage.model.study import CONTROL_GROUP, Study
from dunnage.model.value import Scalar
from dunnage.platforms.kubernetes.offer import KUBERNETES
from dunnage.platforms.offered import DOCKER
from dunnage.software.engine import (
    ENGINE,
    SOFT_INTERRUPTS,
    engine_support,
    soft_interrupts_support,
)
from dunnage.software.trees import DebianSoftware
from dunnage.study.slots import with_slots
from dunnage.substrates.kubernetes.kernel import INOTIFY, interfaces

_OF_DAEMONS = frozenset({DOCKER, KUBERNETES, VXLAN, IPVS, IP_SETS})
"""What Docker daemons and the programs of a Kubernetes need of the machine that they run on: those
that exist already are there, and may run elsewhere."""
INSTANCES = Capability("inotify")
"""There is room for the Kubernetes that `dunnage lab up --kubernetes` makes."""
_HOSTS = 5
"""Hosts of that: three for members, one for the client and one for the control plane."""
_LAB_NEEDS = (ROOT, NAMESPACES, CGROUPS, ENGINE)
_NOT_OURS = Support(
    met=False,
    reason="floating addresses are translated by the switch of a lab, and what exists already does "
    "not stand behind it",
    hint="dunnage schema study  # leave out `contexts`, or name another endpoint",
)
QUICKSTART_NEEDS = (
    *_LAB_NEEDS,
    *catalog.OFFER.platforms["docker"].needs,
    *catalog.OFFER.databases["redis"].needs,
)
"""What a machine needs for the quickstart."""


def supports(testbed: str) -> Mapping[Capability, Support]:
    """What hosts of a kind of testbed can do here, without opening it. Fakes can do everything."""
    if catalog.OFFER.testbeds[testbed].fake:
        return defaultdict(lambda: Support(met=True))
    if not catalog.OFFER.testbeds[testbed].here:
        return {ENGINE: engine_support(), FLOATING: _NOT_OURS}
    debian = DebianSoftware()
    lab = kernel.supports()
    machine = {
        **lab,
        ENGINE: engine_support(),
        DOCKER: debian.docker_support(),
        KUBERNETES: debian.kubernetes_support(),
        INSTANCES: kernel.inotify_room(INOTIFY * _HOSTS),
        FLOATING: debian.translation_support() if lab[ROOT].met else lab[NAMESPACES],
        SOFT_INTERRUPTS: soft_interrupts_support() if lab[ROOT].met else lab[NAMESPACES],
    }
    trees: dict[Capability, Support] = {}
    for name, database in catalog.OFFER.databases.items():
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
    lab = () if catalog.OFFER.testbeds[testbed].fake else _LAB_NEEDS
    return tuple(
        _reach(here, (name, network, endpoint), (*lab, *platform.needs_of(network, endpoint)))
        for name, platform in catalog.OFFER.platforms.items()
        if platform.fake is catalog.OFFER.testbeds[testbed].fake
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
    tried = cache(partial(interfaces, kernel))
    room = cache(partial(_room, study, deployments))
    found = []
    for deployment in deployments:
        needs = tuple(_needs(study, deployment))
        unmet = missing(here, needs)
        if FLOATING in needs and catalog.on_theirs(study, deployment):
            unmet.append(_NOT_OURS)
        if not unmet and catalog.family(deployment) == "kubernetes":
            needed = tried(configuration_of(deployment))
            unmet = [support for support in (*needed, *room()) if not support.met]
        if unmet:
            reason = "; ".join(support.reason for support in unmet)
            hint = next((support.hint for support in unmet if support.hint), "dunnage doctor")
            found.append((Skipped(deployment=deployment.name, reason=reason), hint))
    return tuple(found)


def _room(study: Study, deployments: Sequence[Deployment]) -> tuple[Support, ...]:
    """Whether this machine has room for a Kubernetes of ours, on the study's hosts, those of each
    place in turns, and the one for its control plane. Hosts that are elsewhere ask nothing of it.
    """
    if not catalog.OFFER.testbeds[study.testbed.kind].here:
        return ()
    hosts = {**with_slots(study, deployments).hosts, CONTROL_GROUP: 1}
    return (kernel.inotify_room(INOTIFY * sum(hosts.values())),)


def _untranslated(
    study: Study, deployments: Sequence[Deployment], lacking: Container[str]
) -> tuple[tuple[Skipped, str], ...]:
    """Of deployments that seem to lack nothing those whose floating addresses nothing translates.

    `lacking` are the names of the others.
    """
    able = (each for each in deployments if each.name not in lacking)
    floating = [each for each in able if FLOATING in _needs(study, each)]
    hosts = catalog.OFFER.testbeds[study.testbed.kind]
    if not floating or hosts.fake or not hosts.here:
        return ()
    tried = DebianSoftware().translation_tried()
    if tried.met:
        return ()
    return tuple(
        (Skipped(deployment=each.name, reason=tried.reason), tried.hint) for each in floating
    )


def _needs(study: Study, deployment: Deployment) -> Iterator[Capability]:
    hosts = catalog.OFFER.testbeds[study.testbed.kind]
    if not hosts.here:
        yield ENGINE
    elif not hosts.fake:
        yield from _LAB_NEEDS
        yield from catalog.OFFER.databases[deployment.database.kind].needs
        if any(question.metric in CHARGED for question in study.questions.values()):
            yield SOFT_INTERRUPTS
    platform = catalog.OFFER.platforms[deployment.platform]
    theirs = catalog.on_theirs(study, deployment)
    needs = platform.needs_of(deployment.network, deployment.endpoint)
    if catalog.family(deployment) == "kubernetes" and proxy_of(deployment) is ProxyMode.IPVS:
        needs += (IPVS, IP_SETS)
    for need in needs:
        if not (theirs and need in _OF_DAEMONS):
            yield need
