"""What is in force on the way to a container: read from the daemon, the kernel and its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docker import DockerClient

from dunnage.contracts.docker import Daemon
from dunnage.contracts.host import Host
from dunnage.contracts.platform import Seen, Unseen
from dunnage.platforms.link import addresses, link
from dunnage.platforms.stay_names import OWN

_VXLAN = "com.docker.network.driver.overlay.vxlanid_list"
"""Option in which Docker keeps the numbers that it chose, other ones in every stay."""


def way_in(
    client: DockerClient,
    daemon: Daemon,
    host: Host,
    container: Mapping[str, Any],
    process: Seen | Unseen,
) -> dict[str, str]:
    """Driver, bridge or overlay, MTU, proxies and translations; `container` is its inspection.

    Of a container whose process its host does not see, only what the daemon tells.
    """
    joined: Mapping[str, Any] = next(iter(container["NetworkSettings"]["Networks"].values()))
    network = client.networks.get(joined["NetworkID"])
    driver = str(network.attrs["Driver"])
    own = _overlay(network.attrs) if driver == "overlay" else {}
    own |= {"bridge": _bridge(network.attrs)} if driver == "bridge" else {}
    told = {"driver": driver, **own, **_given(network.attrs)}
    if isinstance(process, Unseen):
        return {**told, "interface": f"not known: {process.reason}"}
    outside = link(host)
    if driver == "host":
        return {"driver": driver, **outside}
    inside = addresses(host, ["nsenter", f"--target={process.pid}", "--net"])
    return {
        **told,
        "interface": outside["interface"],
        "mtu": _mtu(inside, joined["IPAddress"]),
        "host_mtu": outside["mtu"],
        "proxies": str(_proxies(host)),
        "translations": _translations(host, daemon.environment),
    }


def _given(network: Mapping[str, Any]) -> dict[str, str]:
    """Options that a network of the stay's own was made with, as its daemon has them."""
    options: Mapping[str, Any] = network.get("Options") or {}
    if not str(network["Name"]).startswith(OWN):
        return {}
    return {f"option.{key}": str(value) for key, value in sorted(options.items()) if key != _VXLAN}


def _overlay(network: Mapping[str, Any]) -> dict[str, str]:
    """Whether an overlay encrypts. Its VXLAN's number is another one in every stay."""
    options = network.get("Options") or {}
    return {"encrypted": str("encrypted" in options).lower()}


def _bridge(network: Mapping[str, Any]) -> str:
    options = network.get("Options") or {}
    return str(options.get("com.docker.network.bridge.name") or f"br-{network['Id'][:12]}")


def _mtu(interfaces: list[dict[str, Any]], address: str) -> str:
    for interface in interfaces:
        if any(entry.get("local") == address for entry in interface.get("addr_info", ())):
            return str(interface["mtu"])
    return "unknown"


def _proxies(host: Host) -> int:
    """Number of docker-proxy processes; a process that ends meanwhile is not counted."""
    names = host.run(["sh", "-c", "cat /proc/[0-9]*/comm 2>/dev/null"]).stdout
    return names.split("\n").count("docker-proxy")


def _translations(host: Host, environment: Mapping[str, str]) -> str:
    """Number of rules that translate a destination, from the daemon's own iptables."""
    variables = [f"{name}={value}" for name, value in environment.items()]
    rules = host.run(["env", *variables, "iptables", "--table", "nat", "--list-rules"])
    if rules.code != 0:
        return f"unknown: {rules.stderr.strip() or 'iptables failed'}"
    return str(sum("-j DNAT" in rule for rule in rules.stdout.splitlines()))
