"""What nodes tell of the network of their pods, and what a stay says of one that nobody read."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node

from dunnage.clusters.node_network import network_of
from dunnage.contracts.kubernetes import ApiServer, TellsNetwork
from dunnage.errors import StayError
from dunnage.platforms.kubernetes.network import insist_asked_for, unread
from dunnage.substrates.existing_kubernetes import ExistingKubernetes

FLANNEL = "flannel.alpha.coreos.com/backend-type"
CALICO = "projectcalico.org/IPv4Address"
TUNNEL = "projectcalico.org/IPv4IPIPTunnelAddr"
KEYED = "projectcalico.org/IPv4WireguardInterfaceAddr"


def node(annotations: Mapping[str, str] | None) -> Node:
    told = dict(annotations) if annotations is not None else None
    return Node(metadata=ObjectMeta(name="n", annotations=told))


def written(annotations: Mapping[str, str] | None) -> Mapping[str, str]:
    """What a cluster says of the network of a node."""
    known = ExistingKubernetes(ApiServer("nowhere"), {"db-1": node(annotations)}, "v1", {})  # type: ignore[arg-type]
    assert isinstance(known, TellsNetwork)
    return known.network("db-1")


def told(annotations: Mapping[str, str] | None) -> str:
    """What it says of what packets are wrapped in."""
    return written(annotations)["encapsulation"]


@pytest.mark.parametrize(
    ("annotations", "encapsulation"),
    [
        ({FLANNEL: "vxlan"}, "unknown: flannel, vxlan or none"),
        ({FLANNEL: "wireguard"}, "wireguard"),
        ({FLANNEL: "host-gw"}, "none"),
        ({FLANNEL: "extension"}, "unknown: flannel, extension"),
        ({CALICO: "10.0.0.1/24"}, "none"),
        ({CALICO: "10.0.0.1/24", TUNNEL: "10.1.0.1"}, "unknown: Calico, ipip or none"),
        ({TUNNEL: "10.1.0.1", KEYED: "10.1.0.2"}, "unknown: Calico, ipip or wireguard or none"),
        ({"someones": "own"}, "unknown: its node tells of no plugin"),
        (None, "unknown: its node tells of no plugin"),
    ],
)
def test_in_what_packets_are_wrapped_is_known_as_far_as_a_plugin_writes_it_to_its_node(
    annotations: Mapping[str, str] | None, encapsulation: str
) -> None:
    assert told(annotations) == encapsulation


def test_what_a_plugin_tells_of_a_node_is_its_own_word() -> None:
    found = network_of(node({FLANNEL: "extension"}))
    assert found is not None
    assert (found.plugin, found.way, found.wraps) == ("flannel", "extension", ())
    assert network_of(node({})) is None
    assert written({FLANNEL: "host-gw"})["plugin"] == "flannel, host-gw"
    assert written({CALICO: "10.0.0.1/24"})["plugin"] == "Calico, no encapsulation"
    assert written({})["plugin"] == "unknown: its node tells of no plugin"


ASKED = {"encapsulation": "none", "proxy": "nftables"}
UNSEEN = "unknown: no rights"


def test_a_network_that_the_cluster_tells_to_be_another_is_refused() -> None:
    ways = {"db-1": {"encapsulation": told({FLANNEL: "wireguard"}), "proxy": UNSEEN}}
    with pytest.raises(StayError, match="should be `none` and is `wireguard` on db-1"):
        insist_asked_for(ways, ASKED, "d")


def test_a_tunnel_that_is_only_configured_is_not_told_as_in_force() -> None:
    """Packets between nodes of one subnet may be wrapped in none: neither name is contradicted."""
    ways = {"db-1": {"encapsulation": told({FLANNEL: "vxlan"})}}
    for encapsulation in ("vxlan", "none"):
        asked = {"encapsulation": encapsulation}
        insist_asked_for(ways, asked, "d")
        assert unread(ways, asked) == {"unread": "encapsulation: flannel, vxlan or none"}


def test_what_of_a_network_nobody_read_is_named_once_with_every_reason() -> None:
    ways = {
        "db-1": {"driver": UNSEEN, "encapsulation": told(None), "proxy": UNSEEN},
        "db-2": {"driver": UNSEEN, "encapsulation": "none", "proxy": UNSEEN},
    }
    insist_asked_for(ways, ASKED, "d")
    assert unread(ways, ASKED) == {
        "unread": "encapsulation, proxy: its node tells of no plugin and no rights"
    }
    assert unread(ways, {}) == {}, "nothing is asked of a host's own network"
    read = {"db-1": {"driver": UNSEEN, "encapsulation": "none", "proxy": "nftables"}}
    assert unread(read, ASKED) == {}
