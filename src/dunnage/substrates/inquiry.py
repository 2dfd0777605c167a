"""What a Docker daemon tells of itself."""

from __future__ import annotations

from collections.abc import Mapping

import docker

from dunnage.contracts.host import Host
from dunnage.model.value import Scalar


def daemon_facts(
    client: docker.DockerClient, host: Host, environment: Mapping[str, str]
) -> dict[str, Scalar]:
    """Versions, storage, control groups, security and the default bridge, from the daemon itself.

    Only the version of iptables comes from the program, as the daemon finds it.
    """
    info = client.info()
    security = (str(option).split(",")[0] for option in info.get("SecurityOptions") or ())
    return {
        "server_version": info["ServerVersion"],
        "storage_driver": info["Driver"],
        "cgroup_driver": info["CgroupDriver"],
        "cgroup_version": info.get("CgroupVersion", "1"),
        "runtime": info["DefaultRuntime"],
        "runc_version": _component(client, "runc"),
        "containerd_version": _component(client, "containerd"),
        "security_options": ", ".join(sorted(each.removeprefix("name=") for each in security)),
        "live_restore": bool(info.get("LiveRestoreEnabled")),
        **_default_bridge(client),
        "iptables": _iptables(host, environment),
    }


def _component(client: docker.DockerClient, name: str) -> str:
    for component in client.version().get("Components") or ():
        if component["Name"] == name:
            return str(component["Version"])
    return "unknown"


def _default_bridge(client: docker.DockerClient) -> dict[str, Scalar]:
    for network in client.networks.list(names=["bridge"]):
        network.reload()
        options = network.attrs.get("Options") or {}
        ranges: list[dict[str, str]] = (network.attrs.get("IPAM") or {}).get("Config") or [{}]
        return {
            "bridge_mtu": options.get("com.docker.network.driver.mtu"),
            "bridge_subnet": ranges[0].get("Subnet"),
        }
    return {"bridge_mtu": None, "bridge_subnet": None}


def _iptables(host: Host, environment: Mapping[str, str]) -> str:
    variables = [f"{name}={value}" for name, value in environment.items()]
    version = host.run(["env", *variables, "iptables", "--version"])
    return version.stdout.strip() if version.code == 0 else "not found on the host"
