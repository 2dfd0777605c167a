"""Which node of a cluster each host of a study is. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from lightkube.resources.core_v1 import Node

from dunnage.clusters.nodes import address, machine, name, why_unready
from dunnage.contracts.cluster import OF_A_GROUP
from dunnage.errors import UnavailableError
from dunnage.model.study import TestbedSpec

_WHERE = "kubernetes"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""What `uname -m` says → what Kubernetes calls that."""


def chosen(
    spec: TestbedSpec, nodes: Sequence[Node], asking: Callable[[str], str]
) -> Mapping[str, Node]:
    """Host → its node: those that the study names, else those that their labels put into a group.

    `asking` makes a `kubectl` command about the cluster. Raises UnavailableError where there are
    too few, or where one is not there, not ready or without an address.
    """
    listing = asking(f"get nodes -L {OF_A_GROUP}")
    known = {name(node): node for node in nodes}
    found: dict[str, Node] = {}
    for group, size in spec.hosts.items():
        named = spec.nodes.get(group)
        own = _named(named, known, listing) if named else _labelled(group, nodes)
        fit = own if named else [node for node in own if not _unfit(node)]
        if len(fit) < size:
            raise _too_few(group, size, own, asking)
        for number, node in enumerate(fit[:size], 1):
            found[f"{group}-{number}"] = node
    for host, node in found.items():
        if why := _unfit(node):
            raise _refused(f"its node `{name(node)}` cannot be used: {why}", listing, host)
    twice = [each for each, count in Counter(map(name, found.values())).items() if count > 1]
    if twice:
        raise _refused(f"node `{twice[0]}` cannot be two hosts: each is a node of its own", listing)
    return found


def one_machine(nodes: Mapping[str, Node]) -> bool:
    """Whether all nodes are one machine, as those of `kind` are, and of a lab: they share the start
    of their kernel.

    Raises UnavailableError where only some do: what one host uses would be counted as another's.
    """
    shared = Counter(map(machine, nodes.values()))
    if len(nodes) > 1 and 1 < max(shared.values()) < len(nodes):
        together = [name(node) for node in nodes.values() if shared[machine(node)] > 1]
        raise UnavailableError(
            f"nodes {', '.join(together)} share a machine, and others do not: all hosts must be on "
            "one machine, or each on its own",
            where=_WHERE,
            hint="dunnage schema study  # the key `nodes` of `testbed`",
        )
    return len(shared) < len(nodes)


def insist_on_architecture(nodes: Mapping[str, Node], built_for: str) -> None:
    """Raise UnavailableError where a node runs no programs for that, as `uname -m` has it."""
    wanted = _ARCHITECTURES.get(built_for, built_for)
    for host, node in nodes.items():
        info = node.status.nodeInfo if node.status is not None else None
        own = info.architecture if info is not None else ""
        if own and own != wanted:
            raise UnavailableError(
                f"its node `{name(node)}` is {own}, and the engine was built for {wanted}",
                where=host,
                hint="export DUNNAGE_ENGINE=PATH  # of an engine that was built for it",
            )


def _named(names: Sequence[str], known: Mapping[str, Node], listing: str) -> list[Node]:
    for each in names:
        if each not in known:
            raise _refused(f"the cluster has no node `{each}`", listing)
    return [known[each] for each in names]


def _labelled(group: str, nodes: Sequence[Node]) -> list[Node]:
    own = [node for node in nodes if _labels(node).get(OF_A_GROUP) == group]
    return sorted(own, key=name)


def _labels(node: Node) -> Mapping[str, str]:
    return (node.metadata.labels if node.metadata is not None else None) or {}


def _unfit(node: Node) -> str:
    if why := why_unready(node):
        return f"it is not ready: {why}"
    return "" if address(node) else "it tells no IPv4 address"


def _too_few(
    group: str, size: int, own: Sequence[Node], asking: Callable[[str], str]
) -> UnavailableError:
    unfit = [f"{name(node)}: {why}" for node in own if (why := _unfit(node))]
    told = f" ({'; '.join(unfit)})" if unfit else ""
    ready = len(own) - len(unfit)
    label = asking(f"label node NODE {OF_A_GROUP}={group}")
    listing = asking(f"get nodes -L {OF_A_GROUP}")
    return UnavailableError(
        f"group `{group}` needs {size} nodes, and {ready} with the label `{OF_A_GROUP}={group}` "
        f"can be used{told}",
        where=_WHERE,
        hint=f"{label}  # for each; to see them: {listing}",
    )


def _refused(what: str, listing: str, where: str = _WHERE) -> UnavailableError:
    return UnavailableError(what, where=where, hint=listing)
