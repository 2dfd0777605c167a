"""What a Kubernetes of someone else's tells of itself, before anything is done there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from lightkube import ApiError, Client
from lightkube.resources.authentication_v1 import SelfSubjectReview
from lightkube.resources.core_v1 import ConfigMap, Node
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from dunnage.clusters.context import Context
from dunnage.clusters.node_network import NodeNetwork, network_of
from dunnage.clusters.nodes import addresses, name, why_unready
from dunnage.clusters.rights import PURPOSES, Right, allowed
from dunnage.contracts.cluster import ClusterSeen, Machine, NodeSeen, RightSeen
from dunnage.kubernetes_api import UNAUTHORIZED, address, connect, session, status_of, version
from dunnage.substrates.kubernetes.objects import SYSTEM

_PROXY, _PROXY_FILE = "kube-proxy", "config.conf"
"""ConfigMap that kubeadm makes for kube-proxy, and the file in it."""
_FIRST_MODE = "iptables"
"""kube-proxy's mode on Linux where none is named."""


def look(name: str, kubeconfig: Path | None, known: Mapping[Machine, str]) -> ClusterSeen:
    """Ask the cluster of a context what may be done there; `known` names machines that are hosts.

    Nothing is made there. Raises UnavailableError with one reason why it cannot be asked: the
    kubeconfig, a certificate, a refusal, or that nobody answers.
    """
    context = Context(name, kubeconfig)
    api = context.api
    with context.spoken(), closing(connect(api)) as client, closing(session(api)) as asked:
        release = version(asked)
        user, groups = _whoami(client)
        rights = tuple(
            _right(each, purpose, user, name, held=allowed(client, each))
            for purpose, rights_of in PURPOSES.items()
            for each in rights_of
        )
        nodes, unread = _nodes(client)
        return ClusterSeen(
            context=name,
            server=address(api),
            version=release,
            user=user,
            groups=groups,
            rights=rights,
            nodes=tuple(_node(each, known) for each in nodes),
            nodes_unread=unread,
            network=joined_by(nodes),
            proxy=_proxy(client),
        )


def _whoami(client: Client) -> tuple[str, tuple[str, ...]]:
    """Who the cluster takes us for; it tells since Kubernetes 1.28."""
    try:
        told = client.create(SelfSubjectReview()).status
    except ApiError as refusal:
        if status_of(refusal) == UNAUTHORIZED:
            raise
        return "", ()
    info = told.userInfo if told is not None else None
    if info is None:
        return "", ()
    return str(info.username or ""), tuple(info.groups or ())


def _right(right: Right, purpose: str, user: str, context: str, *, held: bool) -> RightSeen:
    how = "" if held else granting(right, user or "USER", context)
    return RightSeen(str(right), purpose, held, how)


def granting(right: Right, user: str, context: str) -> str:
    """Commands for who may give rights, that give one to a user in the cluster of a context."""
    role = re.sub(r"[^a-z]+", "-", f"dunnage {right}")
    rule = [f"--verb={right.verb}", f"--resource={right.kind}"]
    bound = [f"--clusterrole={role}", f"--user={user}"]
    whose = f"{role}-{sha256(user.encode()).hexdigest()[:8]}"
    made = (("clusterrole", role, *rule), ("clusterrolebinding", whose, *bound))
    return " && ".join(_kept(context, *words) for words in made)


def _kept(context: str, *words: str) -> str:
    """A command that makes something, or leaves it where another user needed it before."""
    there = ("kubectl", "--context", context)
    made = shlex.join([*there, "create", *words, "--dry-run=client", "--output=yaml"])
    return f"{made} | {shlex.join([*there, 'apply', '-f', '-'])}"


def _nodes(client: Client) -> tuple[list[Node], str]:
    try:
        return list(client.list(Node)), ""
    except ApiError as refusal:
        return [], str(refusal)


def _node(node: Node, known: Mapping[Machine, str]) -> NodeSeen:
    info = node.status.nodeInfo if node.status is not None else None
    told = {}
    if info is not None:
        told = {
            "kubelet": info.kubeletVersion,
            "runtime": info.containerRuntimeVersion,
            "kernel": info.kernelVersion,
        }
    if inner := addresses(node):
        told["address"] = ", ".join(inner)
    machine = (info.machineID, info.bootID) if info is not None else ("", "")
    return NodeSeen(name(node), known.get(machine, ""), why_unready(node), told)


def joined_by(nodes: Iterable[Node]) -> str:
    """What joins the pods of these nodes, as plugins write it to them."""
    found = {_phrase(network_of(node)) for node in nodes}
    told = sorted(each for each in found if each)
    if not told:
        return "unknown: no node tells of it"
    return " and ".join(told) + ("; some nodes tell nothing" if "" in found else "")


def _phrase(network: NodeNetwork | None) -> str:
    if network is None:
        return ""
    perhaps = len(network.wraps) > 1
    return f"{network.name} (perhaps not between all nodes)" if perhaps else network.name


def _proxy(client: Client) -> str:
    try:
        files = client.get(ConfigMap, _PROXY, namespace=SYSTEM).data or {}
    except ApiError as refusal:
        return f"unknown: {refusal}"
    return mode_in(files.get(_PROXY_FILE, ""))


def mode_in(configuration: str) -> str:
    """kube-proxy's mode in its configuration."""
    try:
        told = YAML(typ="safe", pure=True).load(configuration)
    except YAMLError:
        told = None
    if not isinstance(told, dict):
        return f"unknown: `{_PROXY}` of `{SYSTEM}` has no `{_PROXY_FILE}` that can be read"
    return str(told.get("mode") or _FIRST_MODE)
