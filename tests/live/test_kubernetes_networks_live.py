"""Redis on a Kubernetes of a lab with every other network and kind of proxy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from driving import driven
from insisted import insisted
from kubernetes_lab import Lab, deployed_as, formed, opened

from dunnage.model.cni import text_of
from dunnage.model.proxy import ProxyMode
from dunnage.substrates.kubernetes.choices import Choices, Network

pytestmark = [pytest.mark.live, pytest.mark.proof, pytest.mark.timeout(300)]

TRACKED = "/proc/net/nf_conntrack"
POD = "=10.67."
"""How an address of a pod begins among these connections, where hosts route to pods."""

PTP: Mapping[str, Any] = {
    "cniVersion": "1.0.0",
    "name": "ptp",
    "plugins": [
        {
            "type": "ptp",
            "ipam": {
                "type": "host-local",
                "ranges": [[{"subnet": "$SUBNET"}]],
                "routes": [{"dst": "0.0.0.0/0"}],
            },
        },
        {"type": "portmap", "capabilities": {"portMappings": True}},
    ],
}
"""A pair of interfaces for each pod, and its host as the router."""

MACVLAN: Mapping[str, Any] = {
    "cniVersion": "1.0.0",
    "name": "macvlan",
    "plugins": [
        {
            "type": "macvlan",
            "master": "eth0",
            "mode": "bridge",
            "ipam": {
                "type": "host-local",
                "ranges": [
                    [
                        {
                            "subnet": "10.77.0.0/24",
                            "rangeStart": "10.77.0.1${NUMBER}1",
                            "rangeEnd": "10.77.0.1${NUMBER}9",
                        }
                    ]
                ],
                "routes": [{"dst": "$SERVICES", "gw": "10.77.0.3"}],
            },
        }
    ],
}
"""Pods beside the hosts on the wire of the lab. A pod cannot reach its own host, so that services
are reached by way of a host without pods, 10.77.0.3."""


def insist_every_way_is_known(
    lab: Lab, asked: Any, passed: set[str], missed: set[str]
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What is in force for a deployment that is driven by its endpoint, whose paths pass some kinds
    of hops and miss others, and the connections that each host tracks."""
    with formed(lab, asked) as (platform, target, may):
        remotes = driven(lab.client, target)
        assert remotes
        assert remotes <= may
        paths = platform.paths(lab.client)
        assert [path.unknown for path in paths] == ["", ""]
        for path in paths:
            kinds = {str(hop.kind) for hop in path.hops}
            assert kinds >= passed
            assert not kinds & missed
        every = {each.name: insisted(each, "cat", TRACKED) for each in lab.testbed.hosts}
        return platform.network(), every


@pytest.mark.parametrize(
    ("network", "proxy"),
    [
        (Network.FLANNEL_VXLAN, ProxyMode.NFTABLES),
        (Network.FLANNEL_HOST_GW, ProxyMode.IPTABLES),
        (Network.BRIDGE, ProxyMode.NFTABLES),
    ],
)
def test_what_is_in_force_is_read_back_and_every_way_is_known(
    network: Network, proxy: ProxyMode
) -> None:
    wraps = network is Network.FLANNEL_VXLAN
    with opened(Choices(network, proxy), members=2) as lab:
        options = {"proxy": str(proxy)}
        for endpoint in ("service-ip", "node-port", "host-port"):
            asked = deployed_as(endpoint, network=str(network), network_options=options)
            tunnel = {"tunnel"} if wraps and endpoint == "service-ip" else set()
            passed = {"translation", *tunnel}
            told, tracked = insist_every_way_is_known(lab, asked, passed, {"tunnel"} - tunnel)
            assert told["encapsulation"] == ("vxlan" if wraps else "none")
            assert told["routing"] == ("static" if network is Network.BRIDGE else "flannel")
            assert (told["proxy"], told["driver"]) == (str(proxy), "bridge")
            assert (told["conntrack"], told["notrack"]) == ("tracked", "none")
            assert POD in tracked["db-1"]
            assert told["hairpin"] == "on"
            assert told["iptables"].startswith("v1.")
            assert told["ebpf_xdp"] == "0"
            assert told["mtu"] == ("1450" if wraps else "1500")


def test_pods_behind_their_hosts_as_a_configuration_says() -> None:
    options = {"proxy": "nftables", "configuration": PTP}
    with opened(Choices(Network.CNI, ProxyMode.NFTABLES, text_of(PTP)), members=2) as lab:
        for endpoint in ("service-ip", "node-port", "host-port"):
            asked = deployed_as(endpoint, network="cni", network_options=options)
            passed = {"translation", "veth"}
            told, tracked = insist_every_way_is_known(lab, asked, passed, {"bridge", "tunnel"})
            assert (told["driver"], told["mtu"], told["proxy"]) == ("veth", "1500", "nftables")
            assert (told["encapsulation"], told["routing"]) == ("none", "static")
            assert told["conntrack"] == "tracked"
            assert POD in tracked["db-1"]
            assert "bridge" not in told


def test_pods_on_the_wire_as_a_configuration_says() -> None:
    options = {"configuration": MACVLAN}
    with opened(Choices(Network.CNI, configuration=text_of(MACVLAN)), members=3) as lab:
        *_, gateway = lab.members
        assert gateway.address == "10.77.0.3"
        asked = deployed_as("service-ip", network="cni", network_options=options)
        missed = {"bridge", "veth", "tunnel"}
        told, tracked = insist_every_way_is_known(lab, asked, {"translation"}, missed)
        assert (told["driver"], told["mtu"], told["proxy"]) == ("macvlan", "1500", "iptables")
        assert (told["encapsulation"], told["routing"]) == ("none", "none")
        assert told["conntrack"] == "not tracked"
        assert "=10.77.0.11" not in tracked["db-1"]
        assert "=10.77.0.12" not in tracked["db-2"]
        assert "=10.77.0.11" in tracked[gateway.name]
