"""What speaks to Docker and to Kubernetes, loaded with the first part that needs it.

Their clients, and what signs certificates, take as long to load as nearly all of Dunnage, and most
commands need none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dunnage.contracts.cluster import ClusterSeen, LeftSeen, Machine, TestbedSeen
from dunnage.contracts.docker import DockerBinaries
from dunnage.contracts.host import Host
from dunnage.contracts.kubernetes import KubernetesBinaries
from dunnage.contracts.platform import Platform
from dunnage.contracts.software import SoftwareStore
from dunnage.contracts.substrate import Substrate
from dunnage.contracts.testbed import Testbed
from dunnage.errors import UnavailableError
from dunnage.model.choices import Storage
from dunnage.model.deployment import Deployment
from dunnage.model.offer import PlatformOffer
from dunnage.model.study import TestbedSpec
from dunnage.platforms import docker_offer, swarm_offer
from dunnage.platforms.kubernetes import offer as kubernetes_offer
from dunnage.substrates.kubernetes.choices import Choices


class _Make(Protocol):
    """The class of a platform."""

    def __call__(
        self,
        deployment: Deployment,
        hosts: tuple[Host, ...],
        substrate: Substrate | None,
        trees: SoftwareStore,
        stay: str,
    ) -> Platform: ...


@dataclass(frozen=True)
class PlatformOnDemand:
    """A kind of platform whose class is loaded when the first one is made."""

    offer: PlatformOffer
    load: Callable[[], _Make]

    def __call__(
        self,
        deployment: Deployment,
        hosts: tuple[Host, ...],
        substrate: Substrate | None,
        trees: SoftwareStore,
        stay: str,
    ) -> Platform:
        """Make the platform of one deployment for one stay."""
        return self.load()(deployment, hosts, substrate, trees, stay)


def _docker() -> _Make:
    from dunnage.platforms.docker import Docker

    return Docker


def _swarm() -> _Make:
    from dunnage.platforms.swarm import Swarm

    return Swarm


def _kubernetes() -> _Make:
    from dunnage.platforms.kubernetes.platform import Kubernetes

    return Kubernetes


DOCKER = PlatformOnDemand(docker_offer.OFFER, _docker)
SWARM = PlatformOnDemand(swarm_offer.OFFER, _swarm)
KUBERNETES = PlatformOnDemand(kubernetes_offer.OFFER, _kubernetes)


def open_daemons(
    testbed: Testbed, binaries: DockerBinaries, hosts: Sequence[Host], *, keep: bool
) -> AbstractContextManager[Substrate]:
    """As `dunnage.substrates.daemons` has it."""
    from dunnage.substrates.daemons import open_daemons as opened

    return opened(testbed, binaries, hosts, keep=keep)


def open_existing(
    contexts: Mapping[str, str], hosts: Sequence[Host]
) -> AbstractContextManager[Substrate]:
    """As `dunnage.substrates.existing` has it."""
    from dunnage.substrates.existing import open_existing as opened

    return opened(contexts, hosts)


def open_swarm(
    testbed: Testbed, below: Substrate | None, hosts: Sequence[Host], *, keep: bool
) -> AbstractContextManager[Substrate]:
    """As `dunnage.substrates.swarm` has it; UnavailableError on all but daemons of ours."""
    from dunnage.substrates.daemons import Daemons
    from dunnage.substrates.swarm import open_swarm as opened

    if not isinstance(below, Daemons):
        raise UnavailableError(
            "a Swarm of ours needs Docker daemons of ours below it",
            where="swarm",
            hint="dunnage schema study",
        )
    return opened(testbed, below, hosts, keep=keep)


def open_existing_swarm(
    contexts: Mapping[str, str], hosts: Sequence[Host]
) -> AbstractContextManager[Substrate]:
    """As `dunnage.substrates.existing_swarm` has it."""
    from dunnage.substrates.existing_swarm import open_existing_swarm as opened

    return opened(contexts, hosts)


def open_kubernetes(
    testbed: Testbed,
    binaries: KubernetesBinaries,
    hosts: Sequence[Host],
    choices: Choices,
    *,
    keep: bool,
) -> AbstractContextManager[Substrate]:
    """As `dunnage.substrates.kubernetes.own` has it."""
    from dunnage.substrates.kubernetes.own import open_kubernetes as opened

    return opened(testbed, binaries, hosts, choices, keep=keep)


def look_at_cluster(
    context: str, kubeconfig: Path | None, known: Mapping[Machine, str]
) -> ClusterSeen:
    """As `dunnage.substrates.cluster_seen` has it."""
    from dunnage.substrates.cluster_seen import look

    return look(context, kubeconfig, known)


def left_in_cluster(context: str, kubeconfig: Path | None) -> LeftSeen:
    """As `dunnage.clusters.left` has it."""
    from dunnage.clusters.left import left

    return left(context, kubeconfig)


def clean_cluster(
    context: str, kubeconfig: Path | None, used: Callable[[TestbedSeen], bool]
) -> tuple[LeftSeen, LeftSeen]:
    """As `remove` of `dunnage.clusters.left` has it."""
    from dunnage.clusters.left import remove

    return remove(context, kubeconfig, used)


def nodes_are_here(spec: TestbedSpec) -> bool:
    """As `are_here` of `dunnage.hosts.nodes.opening` has it."""
    from dunnage.hosts.nodes.opening import are_here

    return are_here(spec)


def open_nodes(
    spec: TestbedSpec,
    name: str,
    engine: Path,
    storages: Collection[Storage],
    *,
    keep: bool,
    tell: Callable[[str], None],
) -> AbstractContextManager[Testbed]:
    """As `dunnage.hosts.nodes.opening` has it."""
    from dunnage.hosts.nodes.opening import open_nodes as opened

    return opened(spec, name=name, engine=engine, storages=storages, keep=keep, tell=tell)


def open_kubernetes_of(
    testbed: Testbed, hosts: Sequence[Host]
) -> AbstractContextManager[Substrate]:
    """As `dunnage.substrates.existing_kubernetes` has it."""
    from dunnage.substrates.existing_kubernetes import open_kubernetes_of as opened

    return opened(testbed, hosts)
