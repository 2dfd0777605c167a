"""What nodes tell of the network of their pods, and what a stay says of one that nobody read."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node

from dunnage.clusters.node_network import network_of
from dunnage.contracts.kubernetes import ApiServer, TellsEncapsulation
from dunnage.errors import StayError
from dunnage.platforms.kubernetes.network import insist_asked_for, unread
from dunnage.substrates.existing_kubernetes import ExistingKubernetes

FLANNEL = "flannel.alpha.coreos.com/backend-type"


def node(annotations: Mapping[str, str] | None) -> Node:
    told = dict(annotations) if annotations is not None else None
    return Node(metadata=ObjectMeta(name="n", annotations=told))


def told(annotations: Mapping[str, str] | None) -> str:
    """What a cluster says of what packets are wrapped in."""
    known = ExistingKubernetes(ApiServer("nowhere"), {"db-1": node(annotations)}, "v1", {})  # type: ignore[arg-type]
    assert isinstance(known, TellsEncapsulation)
    return known.encapsulation("db-1")


@pytest.mark.parametrize(
    ("annotations", "encapsulation"),
    [
        ({FLANNEL: "vxlan"}, "vxlan"),
        ({FLANNEL: "host-gw"}, "none"),
        ({FLANNEL: "extension"}, "unknown: flannel, extension"),
        ({"projectcalico.org/IPv4IPIPTunnelAddr": "10.1.0.1"}, "ipip"),
        ({"projectcalico.org/IPv4Address": "10.0.0.1/24"}, "none"),
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
    assert (found.plugin, found.way, found.wraps) == ("flannel", "extension", None)
    assert network_of(node({})) is None


ASKED = {"encapsulation": "none", "proxy": "nftables"}
UNSEEN = "unknown: no rights"


def test_a_network_that_the_cluster_tells_to_be_another_is_refused() -> None:
    ways = {"db-1": {"encapsulation": told({FLANNEL: "vxlan"}), "proxy": UNSEEN}}
    with pytest.raises(StayError, match="should be `none` and is `vxlan` on db-1"):
        insist_asked_for(ways, ASKED, "d")


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
