"""What an API server's answers say of one node. Pure."""

from __future__ import annotations

from lightkube.resources.core_v1 import Node

_INNER = "InternalIP"


def name(node: Node) -> str:
    """A node's name."""
    return str(node.metadata.name) if node.metadata is not None else ""


def label(node: Node, key: str) -> str:
    """What a label of a node says; empty if it has none of this name."""
    labels = (node.metadata.labels if node.metadata is not None else None) or {}
    return str(labels.get(key, ""))


def addresses(node: Node) -> tuple[str, ...]:
    """Those by which other nodes reach it."""
    told = (node.status.addresses if node.status is not None else None) or ()
    return tuple(each.address for each in told if each.type == _INNER)


def address(node: Node) -> str:
    """The first of them that is an IPv4 address; empty if it tells none."""
    return next((each for each in addresses(node) if ":" not in each), "")


def boot(node: Node) -> str:
    """Id of the start of its kernel: nodes that have the same are one machine."""
    info = node.status.nodeInfo if node.status is not None else None
    return info.bootID if info is not None else ""


def machine(node: Node) -> str:
    """What tells the machine of a node; one that does not tell is taken for its own."""
    return boot(node) or name(node)


def why_unready(node: Node) -> str:
    """What keeps a node from being used, as the API server has it; empty for nothing."""
    conditions = node.status.conditions if node.status is not None else None
    for condition in conditions or ():
        if condition.type == "Ready" and condition.status != "True":
            return condition.message or condition.reason or f"Ready is {condition.status}"
        if condition.type == "Ready":
            return _tainted(node)
    return "not told of by its kubelet"


def is_ready(node: Node) -> bool:
    """Whether its kubelet tells that it is ready, be it tainted or not."""
    conditions = node.status.conditions if node.status is not None else None
    return any(each.type == "Ready" and each.status == "True" for each in conditions or ())


def _tainted(node: Node) -> str:
    taints = (node.spec.taints if node.spec is not None else None) or ()
    ours = [taint.key for taint in taints if taint.key.startswith("node.kubernetes.io/")]
    return f"tainted: {', '.join(ours)}" if ours else ""
