"""A lab without a study: hosts, and what was asked for on them, left standing for its users."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from dunnage import catalog, lab_tool
from dunnage.contracts.docker import HasDaemons
from dunnage.contracts.kubernetes import HasKubernetes, OwnsApiServer
from dunnage.contracts.substrate import Substrate
from dunnage.hosts.namespace.testbed import NamespaceTestbed
from dunnage.model.study import CLIENT_GROUP, CONTROL_GROUP, TestbedSpec
from dunnage.runner.ending import ending
from dunnage.substrates.kubernetes.choices import Choices

MEMBERS_GROUP = "db"


@dataclass(frozen=True)
class Made:
    """What stands now."""

    lab: str
    contexts: Path | None = None
    """Directory of Docker contexts that lead to its daemons; None where none were asked for."""
    kubeconfig: Path | None = None
    """File that leads to its Kubernetes; None where none was asked for."""
    proxy: str | None = None
    """The mode of its kube-proxy, as a node tells it; None where there is no Kubernetes."""


def stand_up(
    hosts: int,
    wanted: Collection[str],
    *,
    choices: Choices,
    expose: bool,
    tell: Callable[[str], None],
) -> Made:
    """Make a lab of some hosts for members and one for a client, and leave it standing.

    `wanted` are families of substrates; one that has a part for all hosts gets a host more.
    `choices` are those for a Kubernetes. `tell` is told of every step. Where one fails, nothing is
    left. Raises UnavailableError, before any host is made where this machine lacks room for it.
    """
    families = lab_tool.standing_families(wanted)
    groups = {MEMBERS_GROUP: hosts, CLIENT_GROUP: 1}
    if lab_tool.needs_control(families):
        groups[CONTROL_GROUP] = 1
    for family in families:
        catalog.insist_on_machine(family, {}, sum(groups.values()), choices)
    for family in families:
        catalog.obtain(family, {}, tell)
    with ExitStack() as failed:
        with ExitStack() as stack:
            testbed = stack.enter_context(
                lab_tool.open_lab(TestbedSpec(kind="namespace", hosts=groups))
            )
            failed.push(ending(partial(_take_down, testbed.name)))
            tell(f"{len(testbed.hosts)} hosts")
            opened: dict[str, Substrate] = {}
            for family in families:
                below = catalog.OFFER.substrate(family, {})[1].below
                opened[family] = stack.enter_context(
                    catalog.open_substrate(
                        family,
                        {},
                        testbed,
                        testbed.hosts,
                        opened[below] if below is not None else None,
                        keep=True,
                        choices=choices,
                        tell=tell,
                    )
                )
                tell(family)
            made = _exposed(testbed, opened, tell) if expose else Made(testbed.name)
            made = replace(made, proxy=_proxy(testbed, opened))
        failed.pop_all()  # it stands
        return made


def _take_down(lab: str) -> None:
    lab_tool.take_down_lab(lab_tool.chosen_lab(lab))


def _proxy(testbed: NamespaceTestbed, opened: dict[str, Substrate]) -> str | None:
    """The mode of kube-proxy that is in force; None without a Kubernetes."""
    found = (each for each in opened.values() if isinstance(each, HasKubernetes))
    return next((lab_tool.proxy_of(testbed, each) for each in found), None)


def _exposed(
    testbed: NamespaceTestbed, opened: dict[str, Substrate], tell: Callable[[str], None]
) -> Made:
    """Write down for this machine's own programs how to reach what stands."""
    contexts = kubeconfig = None
    for substrate in opened.values():
        if isinstance(substrate, HasDaemons) and contexts is None:
            daemons = {host.name: substrate.daemon(host.name) for host in testbed.hosts}
            contexts = lab_tool.expose(testbed.name, daemons)
            tell("contexts")
        if isinstance(substrate, OwnsApiServer):
            kubeconfig = lab_tool.expose_kubernetes(testbed, substrate)
            tell("kubeconfig")
    return Made(testbed.name, contexts, kubeconfig)
