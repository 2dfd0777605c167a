"""What is in force on the way to pods: read from the kernels of their hosts."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dunnage.contracts.host import Host
from dunnage.contracts.platform import Seen
from dunnage.errors import StayError
from dunnage.model.agreement import agreed
from dunnage.platforms.link import link

_MARK = "@@dunnage"


@dataclass(frozen=True)
class Pod:
    """A member's pod, as far as its network goes."""

    host: Host
    process: Seen
    address: str
    variables: Mapping[str, str]
    """Those under which the tools of its node run."""


def in_force(pods: Sequence[Pod], *, host_network: bool) -> dict[str, str]:
    """Plugin, bridge, encapsulation, MTU, proxy and translations; hosts agree or are named."""
    ways: dict[str, dict[str, str]] = {}
    for pod in pods:
        if pod.host.name in ways:
            continue
        outside = link(pod.host)
        ways[pod.host.name] = (
            {"driver": "host", **outside}
            if host_network
            else {
                **_looked(pod, [each.address for each in pods if each.host is not pod.host]),
                "interface": outside["interface"],
                "host_mtu": outside["mtu"],
            }
        )
    return {name: str(value) for name, value in agreed(ways).items()}


def insist_asked_for(told: Mapping[str, str], wraps: str, proxy: str, where: str) -> None:
    """Raise StayError where a deployment's network is not the one in force.

    `wraps` is what its name says of encapsulation. What cannot be told is no contradiction.
    """
    for name, wanted in (("encapsulation", wraps), ("proxy", proxy)):
        found = told.get(name, wanted)
        if found != wanted and not found.startswith("unknown"):
            raise StayError(
                f"the {name} of its network should be `{wanted}` and is `{found}`",
                where=where,
                hint="dunnage schema study  # name the network that the cluster has",
            )


def _looked(pod: Pod, elsewhere: Iterable[str]) -> dict[str, str]:
    done = pod.host.run(["sh", "-c", script(pod.process.pid, tuple(elsewhere), pod.variables)])
    try:
        return told(done.stdout, pod.address)
    except (ValueError, KeyError, StopIteration) as error:
        raise StayError(
            f"the network cannot be read back: {done.stderr.strip() or error}",
            where=pod.host.name,
            hint="ip -details link",
        ) from error


def script(pid: int, elsewhere: Sequence[str], variables: Mapping[str, str]) -> str:
    """Print a host's links, a pod's, the routes to pods elsewhere, and what translates services."""
    exported = "".join(f"export {name}={shlex.quote(v)}; " for name, v in variables.items())
    routes = "\n".join(f"ip -json route get {each}" for each in elsewhere)
    return f"""
echo {_MARK} host; ip -json -details link show
echo {_MARK} pod; nsenter --target={pid} --net ip -json -details address show
echo {_MARK} routes
{routes}
{exported}
echo {_MARK} proxy
iptables -w -t nat -S KUBE-SERVICES >/dev/null 2>&1 && echo iptables
nft list table ip kube-proxy >/dev/null 2>&1 && echo nftables
echo {_MARK} without
for each in iptables nft; do command -v $each >/dev/null || echo $each; done
echo {_MARK} translations
iptables -w -t nat -S 2>/dev/null | grep -c -e '-j DNAT'
nft list table ip kube-proxy 2>/dev/null | grep -c 'dnat to'
echo {_MARK} end
"""


def told(printed: str, address: str) -> dict[str, str]:
    """What the script printed; `address` is the pod's. Raises ValueError or KeyError."""
    parts = dict(_parts(printed))
    links: list[dict[str, Any]] = json.loads(parts["host"])
    own = _holder(json.loads(parts["pod"]), address)
    kind = str((own.get("linkinfo") or {}).get("info_kind", ""))
    outer = _by_index(links, own.get("link_index")) if kind == "veth" else None
    found = {"driver": kind or "none", "mtu": str(own["mtu"])}
    if outer is not None and "master" in outer:
        hairpin = _hairpin(outer)
        found |= {"driver": "bridge", "bridge": str(outer["master"]), "hairpin": hairpin}
    return {
        **found,
        "encapsulation": _encapsulation(parts["routes"], links),
        **_proxied(parts),
    }


def _proxied(parts: Mapping[str, str]) -> dict[str, str]:
    """What leads addresses of services to pods; a host that lacks a tool does not know of none."""
    found, without = parts["proxy"].split(), parts["without"].split()
    if not found and without:
        unknown = f"unknown: this host has no {' and no '.join(without)}"
        return {"proxy": unknown, "translations": unknown}
    return {
        "proxy": " and ".join(found) or "none",
        "translations": str(sum(map(int, parts["translations"].split()))),
    }


def _parts(printed: str) -> Iterable[tuple[str, str]]:
    for part in printed.split(f"{_MARK} ")[1:]:
        name, _, text = part.partition("\n")
        yield name, text.strip()


def _holder(interfaces: list[dict[str, Any]], address: str) -> dict[str, Any]:
    for interface in interfaces:
        if any(each.get("local") == address for each in interface.get("addr_info", ())):
            return interface
    raise ValueError(f"no interface of the pod has its address {address}")


def _by_index(links: Iterable[dict[str, Any]], index: object) -> dict[str, Any] | None:
    return next((each for each in links if each["ifindex"] == index), None)


def _hairpin(port: Mapping[str, Any]) -> str:
    """Whether a bridge gives a port what came from it, as a pod needs that reaches itself."""
    told = ((port.get("linkinfo") or {}).get("info_slave_data") or {}).get("hairpin")
    return "unknown" if told is None else "on" if told else "off"


def _encapsulation(routes: str, links: Iterable[dict[str, Any]]) -> str:
    """By what device pods on other hosts are reached, where there are any."""
    kinds = {each["ifname"]: (each.get("linkinfo") or {}).get("info_kind", "") for each in links}
    devices = [route["dev"] for line in routes.splitlines() for route in json.loads(line)]
    wraps = {kinds.get(device, "") for device in devices} & _TUNNELS
    if not devices:
        return "unknown: all members are on one host"
    return " and ".join(sorted(wraps)) or "none"


_TUNNELS = frozenset({"vxlan", "geneve", "gre", "ipip", "sit", "wireguard", "tun"})
"""Kinds of devices that wrap packets into others."""
