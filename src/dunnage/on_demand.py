"""The parts of Kubernetes, loaded with the first that is made.

Its client and what signs its certificates take as long to load as nearly all of Dunnage, and most
commands need neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar

from dunnage.contracts.cluster import ClusterSeen, Machine, StaySeen
from dunnage.contracts.host import Host
from dunnage.contracts.kubernetes import KubernetesBinaries
from dunnage.contracts.platform import Platform
from dunnage.contracts.software import SoftwareStore
from dunnage.contracts.substrate import Substrate
from dunnage.contracts.testbed import Testbed
from dunnage.model.deployment import Deployment
from dunnage.model.offer import PlatformOffer
from dunnage.platforms.kubernetes.offer import OFFER
from dunnage.substrates.kubernetes.choices import Choices


class KubernetesPlatform:
    """The kind of platform whose members run in pods."""

    offer: ClassVar[PlatformOffer] = OFFER

    def __call__(
        self,
        deployment: Deployment,
        hosts: tuple[Host, ...],
        substrate: Substrate | None,
        trees: SoftwareStore,
        stay: str,
    ) -> Platform:
        """Make the platform of one deployment for one stay."""
        from dunnage.platforms.kubernetes.platform import Kubernetes

        return Kubernetes(deployment, hosts, substrate, trees, stay)


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


def stays_in_cluster(context: str, kubeconfig: Path | None) -> tuple[StaySeen, ...]:
    """As `dunnage.substrates.cluster_leftovers` has it."""
    from dunnage.substrates.cluster_leftovers import stays

    return stays(context, kubeconfig)


def open_existing_kubernetes(
    contexts: Mapping[str, str], hosts: Sequence[Host]
) -> AbstractContextManager[Substrate]:
    """As `dunnage.substrates.existing_kubernetes` has it."""
    from dunnage.substrates.existing_kubernetes import open_existing_kubernetes as opened

    return opened(contexts, hosts)
