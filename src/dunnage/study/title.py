"""The canonical name of a deployment: what kind of place, and what kind of address.

The grammar, after the first published study (`VM_HostNameHostPort`, `K8ServiceIP_flannel`):

    title    = hosts "_" endpoint                          natively
             | hosts platform [network] endpoint           an address that the hosts provide
             | hosts platform endpoint "_" network         an address that the cluster provides
    hosts    = "Host" | "VM" | "Metal" | "Fake"            what the hosts really were
    platform = "Docker" | "DockerOnly" | "Swarm" | "K8"    `DockerOnly`: the host's own network
    endpoint = "HostPort" | "ServiceIP" | "ContainerDNSName" | "HostNameNodePort" | …

The network stands in the middle only where the platform leaves a choice behind its host ports,
which orchestrators do not.
"""

from __future__ import annotations

import re

_PLATFORMS = {"native": "", "docker": "Docker", "swarm": "Swarm", "kubernetes": "K8"}
_ORCHESTRATORS = ("swarm", "kubernetes")
_CLUSTER_PROVISIONED = ("service-ip", "container-dns")
_ENDPOINTS = {
    "host-port": "HostPort",
    "floating-ip": "FloatingIPHostPort",
    "host-name": "HostNameHostPort",
    "node-port": "HostNameNodePort",
    "service-ip": "ServiceIP",
    "container-dns": "ContainerDNSName",
}


def title(hosts: str, platform: str, network: str, endpoint: str) -> str:
    """Return the canonical name; `hosts` is the word for what the testbed's hosts are."""
    where = _PLATFORMS.get(platform, _camel(platform))
    address = _ENDPOINTS.get(endpoint, _camel(endpoint))
    if not where:
        return f"{hosts}_{address}"
    if where == hosts:
        where = ""
    if endpoint in _CLUSTER_PROVISIONED:
        return f"{hosts}{where}{address}_{network}"
    if platform == "docker" and network == "host":
        return f"{hosts}DockerOnly{address}"
    middle = "" if platform in _ORCHESTRATORS else _camel(network)
    return f"{hosts}{where}{middle}{address}"


def _camel(words: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", words))
