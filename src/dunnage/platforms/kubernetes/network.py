"""What is in force on the way to pods: read from the kernels of their hosts."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dunnage.contracts.host import Host
from dunnage.contracts.platform import Seen
from dunnage.errors import StayError
from dunnage.model.agreement import agreed
from dunnage.model.unknown import UNKNOWN, UNREAD, is_unknown, reason
from dunnage.platforms.kubernetes import ebpf, proxies, routing, tracking
from dunnage.platforms.kubernetes.asking import ASK, answers
from dunnage.platforms.link import PAIRS, link
from dunnage.platforms.paths.script import MARK as _MARK

ONE_HOST = "none: one host"
"""What is to be told of ways to other hosts where all members and their clients are on one."""


@dataclass(frozen=True)
class Pod:
    """A member's pod, as far as its network goes."""

    host: Host
    process: Seen
    address: str
    variables: Mapping[str, str]
    """Those under which the tools of its node run."""


@dataclass(frozen=True)
class ClientNode:
    """The host of a client that is a node: what leads it to pods is in its own kernel."""

    host: Host
    variables: Mapping[str, str]
    """Those under which its tools run."""


def in_force(
    pods: Sequence[Pod], clients: Sequence[ClientNode], *, host_network: bool
) -> dict[str, dict[str, str]]:
    """Host → driver, bridge, encapsulation, routing, MTU, proxy, tracking and eBPF there, and of
    the host of a client what leads it to pods.

    Of members with their host's network only what sees their packets is to be told.
    """
    ways: dict[str, dict[str, str]] = {}
    for pod in pods:
        if pod.host.name in ways:
            continue
        outside = link(pod.host)
        elsewhere = [each.address for each in pods if each.host is not pod.host]
        if host_network:
            found = {"driver": "host", **outside, **_looked(pod, elsewhere, seen)}
        else:
            found = _looked(pod, elsewhere, partial(told, address=pod.address))
            found |= {"interface": outside["interface"], "host_mtu": outside["mtu"]}
        ways[pod.host.name] = found
    if host_network or not ways:
        return ways
    # No route of another host matters to pods that are on the wire.
    routed = [pod.address for pod in pods if ways[pod.host.name].get("routing") != _ON_THE_WIRE]
    for client in clients:
        if client.host.name not in ways:
            ways[client.host.name] = before_pods(client.host, client.variables, routed)
    if len(ways) == 1:
        alone = dict.fromkeys(("encapsulation", "routing"), ONE_HOST)
        return {host: {**alone, **found} for host, found in ways.items()}
    return ways


def merged(ways: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """What is in force on all hosts that tell of it; where they differ, each is named."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(name for told in ways.values() for name in told):
        by_host = {host: {name: told[name]} for host, told in ways.items() if name in told}
        found |= {name: str(value) for name, value in agreed(by_host).items()}
    return found


def insist_asked_for(
    ways: Mapping[str, Mapping[str, str]], asked: Mapping[str, str], where: str
) -> None:
    """Raise StayError where a deployment's network is not the one in force on a host.

    `asked` is what its name and its options say. What a host cannot tell is no contradiction, and
    no more are ways to other hosts where there are none.
    """
    for host, told in ways.items():
        for name, wanted in asked.items():
            found = told.get(name, wanted)
            if found not in (wanted, ONE_HOST) and not is_unknown(found):
                raise StayError(
                    f"the {name} of its network should be `{wanted}` and is `{found}` on {host}",
                    where=where,
                    hint="dunnage schema study  # name the network of the cluster, or `existing`",
                )


def before_pods(
    host: Host, variables: Mapping[str, str], pods: Sequence[str] = ()
) -> dict[str, str]:
    """On a host that need not have a pod, what leads addresses of services to pods, as
    `proxies.told`, and the way to these pods of other hosts.

    `variables` are those under which the tools of its node run. Raises StayError.
    """

    def read(printed: str) -> dict[str, str]:
        parts = dict(_parts(printed))
        links = json.loads(parts["host"])
        return {**_routed(parts, links), **proxies.told(answers(parts["asked"]), links)}

    return _read(host, _before(variables, pods), read)


def unread(ways: Mapping[str, Mapping[str, str]], asked: Mapping[str, str]) -> dict[str, str]:
    """The fact that says what of a network that was `asked` for no host could tell, and why; none
    where all of it was told."""
    lacking = [
        (name, reason(told[name]))
        for name in asked
        for told in ways.values()
        if is_unknown(told.get(name, ""))
    ]
    if not lacking:
        return {}
    names, reasons = (dict.fromkeys(each) for each in zip(*lacking, strict=True))
    return {UNREAD: f"{', '.join(names)}: {' and '.join(reasons)}"}


def _looked(
    pod: Pod, elsewhere: Iterable[str], read: Callable[[str], dict[str, str]]
) -> dict[str, str]:
    return _read(pod.host, script(pod, tuple(elsewhere)), read)


def _read(host: Host, script: str, read: Callable[[str], dict[str, str]]) -> dict[str, str]:
    done = host.run(["sh", "-c", script])
    try:
        return read(done.stdout)
    except (ValueError, KeyError, StopIteration) as error:
        raise StayError(
            f"the network cannot be read back: {done.stderr.strip() or error}",
            where=host.name,
            hint=f"command -v ip nsenter  # on `{host.name}`, which needs both",
        ) from error


def _before(variables: Mapping[str, str], pods: Sequence[str]) -> str:
    """Print a host's links, the routes to these pods, and what translates services."""
    return f"""
echo {_MARK} host; ip -json -details link show
{_routes(pods)}
{ASK}
echo {_MARK} asked
{_exported(variables)}
{proxies.SCRIPT}
"""


def script(pod: Pod, elsewhere: Sequence[str]) -> str:
    """Print a host's links, those of a pod, the routes to pods elsewhere, what sees the pod's
    packets, and what translates services."""
    pid = pod.process.pid
    return f"""
echo {_MARK} host; ip -json -details link show
echo {_MARK} pod; nsenter --target={pid} --net ip -json -details address show
{_routes(elsewhere)}
{ASK}
echo {_MARK} asked
{ebpf.script(pid)}
{_exported(pod.variables)}
{tracking.SCRIPT}
{proxies.SCRIPT}
echo {_MARK} end
"""


def _routes(pods: Sequence[str]) -> str:
    """Print the routes to pods of other hosts; nothing where there are none."""
    if not pods:
        return ""
    routes = "\n".join(f"ip -json route get {each}" for each in pods)
    return f"""
echo {_MARK} routes
{routes}
echo {_MARK} routing
{routing.script(pods)}
"""


def _exported(variables: Mapping[str, str]) -> str:
    return "".join(f"export {name}={shlex.quote(v)}; " for name, v in variables.items())


def told(printed: str, address: str) -> dict[str, str]:
    """What the script printed; `address` is the pod's. Raises ValueError or KeyError."""
    parts = dict(_parts(printed))
    links: list[dict[str, Any]] = json.loads(parts["host"])
    own = _holder(json.loads(parts["pod"]), address)
    kind = _kind(own)
    outer = _by_index(links, own.get("link_index"))
    found = {"driver": kind or "none", "mtu": str(own["mtu"])}
    if kind == "veth" and outer is not None and "master" in outer:
        hairpin = _hairpin(outer)
        found |= {"driver": "bridge", "bridge": str(outer["master"]), "hairpin": hairpin}
    routed = kind in PAIRS or _by_its_parent(own)
    way = _routed(parts, links) if routed else _on_the_wire(own, outer)
    unseen = "" if routed else _unseen(way["encapsulation"])
    proxied = proxies.told(answers(parts["asked"]), links)
    return {**found, **way, **proxied, **seen(printed, unseen)}


def seen(printed: str, unseen: str = "") -> dict[str, str]:
    """What of the host sees packets, by what the script printed; `unseen` is what is to be told
    where it does not see them itself. Raises ValueError or KeyError."""
    parts = dict(_parts(printed))
    asked = answers(parts["asked"])
    return {**tracking.told(asked, unseen), **ebpf.told(asked, json.loads(parts["host"]))}


def _unseen(encapsulation: str) -> str:
    """What is to be told of tracking where a pod's interface is on the wire: of a tunnel, its host
    sees the packets."""
    if encapsulation == _UNWRAPPED:
        return tracking.NOT_TRACKED
    return encapsulation if is_unknown(encapsulation) else ""


def _routed(parts: Mapping[str, str], links: Iterable[dict[str, Any]]) -> dict[str, str]:
    """The way that a host routes packets to pods of others; nothing where there are none."""
    if "routes" not in parts:
        return {}
    return {
        "encapsulation": _encapsulation(parts["routes"], links),
        "routing": routing.told(parts["routing"]),
    }


def _by_its_parent(own: Mapping[str, Any]) -> bool:
    """Whether an interface leaves the way to its host's routes, as `ipvlan` does on layer 3."""
    mode = ((own.get("linkinfo") or {}).get("info_data") or {}).get("mode", "")
    return _kind(own) == "ipvlan" and str(mode).startswith("l3")


def _on_the_wire(own: Mapping[str, Any], parent: Mapping[str, Any] | None) -> dict[str, str]:
    """The way of a pod whose interface shares one of its host's, or was one, so that no route of
    the host matters."""
    if "link_index" in own and parent is None:
        unknown = f"{UNKNOWN}: the interface below the pod's is not the host's"
        return {"encapsulation": unknown, "routing": unknown}
    wraps = _kind(parent or own)
    return {"encapsulation": wraps if wraps in _TUNNELS else _UNWRAPPED, "routing": _ON_THE_WIRE}


def _parts(printed: str) -> Iterable[tuple[str, str]]:
    for part in printed.split(f"{_MARK} ")[1:]:
        name, _, text = part.partition("\n")
        yield name, text.strip()


def _holder(interfaces: list[dict[str, Any]], address: str) -> dict[str, Any]:
    for interface in interfaces:
        if any(each.get("local") == address for each in interface.get("addr_info", ())):
            return interface
    raise ValueError(f"no interface of the pod has its address {address}")


def _kind(interface: Mapping[str, Any]) -> str:
    """`veth`, `bridge`, …; empty for hardware."""
    return str((interface.get("linkinfo") or {}).get("info_kind", ""))


def _by_index(links: Iterable[dict[str, Any]], index: object) -> dict[str, Any] | None:
    return next((each for each in links if each["ifindex"] == index), None)


def _hairpin(port: Mapping[str, Any]) -> str:
    """Whether a bridge gives a port what came from it, as a pod needs that reaches itself."""
    told = ((port.get("linkinfo") or {}).get("info_slave_data") or {}).get("hairpin")
    return UNKNOWN if told is None else "on" if told else "off"


def _encapsulation(routes: str, links: Iterable[dict[str, Any]]) -> str:
    """In what the devices wrap packets by which pods on other hosts are reached."""
    kinds = {each["ifname"]: _kind(each) for each in links}
    devices = [route["dev"] for line in routes.splitlines() for route in json.loads(line)]
    wraps = {kinds.get(device, "") for device in devices} & _TUNNELS
    if not devices:
        return f"{UNKNOWN}: `ip route get` tells no route"
    return " and ".join(sorted(wraps)) or _UNWRAPPED


_UNWRAPPED = "none"
_ON_THE_WIRE = "none"
"""The routing of pods that share an interface of their host, which routes nothing of theirs."""
_TUNNELS = frozenset({"vxlan", "geneve", "gre", "ipip", "sit", "wireguard", "tun"})
"""Kinds of devices that wrap packets into others."""
