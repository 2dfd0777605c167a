"""What every Swarm must be: its nodes are the hosts. One of ours is mended, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cases import SubstrateCase, lose_and_mend, unique
from real_cases import CONTROLLED, swarm

from dunnage.contracts.docker import HasSwarm
from dunnage.docker_api import connect
from dunnage.model.study import CONTROL_GROUP
from dunnage.substrates.contexts import write_contexts
from dunnage.substrates.existing_swarm import open_existing_swarm
from dunnage.substrates.swarm import Swarm

if TYPE_CHECKING:  # at run time pytest would take it for a class of tests
    from dunnage.contracts.testbed import Testbed

pytestmark = pytest.mark.live

OWN = SubstrateCase(CONTROLLED, swarm)


@pytest.fixture(scope="module")
def laid() -> Iterator[tuple[Testbed, Swarm]]:
    with CONTROLLED.open(unique()) as testbed, swarm(testbed) as opened:
        yield testbed, opened


@pytest.fixture(params=["own", "existing"])
def either(
    laid: tuple[Testbed, Swarm],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[HasSwarm]:
    """The Swarm of ours, and the same one as whoever has Docker contexts sees it."""
    testbed, own = laid
    if request.param == "own":
        yield own
        return
    names = {host.name: f"context-of-{host.name}" for host in testbed.hosts}
    write_contexts(tmp_path, {name: own.daemon(host) for host, name in names.items()})
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    members = [host for host in testbed.hosts if host.group != CONTROL_GROUP]
    contexts = {**names, CONTROL_GROUP: names[own.manager.host]}
    with open_existing_swarm(contexts, members) as existing:
        yield existing


def nodes(swarm: HasSwarm) -> Mapping[str, Mapping[str, Any]]:
    """Node id → what the manager says of it."""
    with closing(connect(swarm.manager)) as client:
        return {node["ID"]: node for node in client.api.nodes()}


class TestSwarm:
    def test_every_host_is_a_ready_node_by_its_own_name_and_address(
        self, laid: tuple[Testbed, Swarm], either: HasSwarm
    ) -> None:
        known = nodes(either)
        assert len(known) == len(laid[0].hosts)
        for host in laid[0].hosts:
            if host.group == CONTROL_GROUP:
                continue
            node = known[either.node(host.name)]
            assert node["Status"]["State"] == "ready"
            assert node["Status"]["Addr"] == host.address
            assert node["Description"]["Hostname"] == host.name

    def test_a_host_that_it_does_not_know_is_no_node(self, either: HasSwarm) -> None:
        with pytest.raises(KeyError):
            either.node("nowhere")
        with pytest.raises(KeyError):
            either.daemon("nowhere")

    def test_its_manager_takes_orders_and_tells_how_it_is_set_up(
        self, laid: tuple[Testbed, Swarm], either: HasSwarm
    ) -> None:
        (control,) = laid[0].group(CONTROL_GROUP)
        managing = [node for node, told in nodes(either).items() if "ManagerStatus" in told]
        assert managing == [laid[1].node(control.name)]
        assert either.manager.url == laid[1].manager.url
        facts = laid[1].facts()
        assert (facts["nodes"], facts["managers"]) == (len(laid[0].hosts), 1)
        assert (facts["subnet_size"], facts["default_pool"]) == (24, "10.66.0.0/16")


class TestSwarmOfOurs:
    def test_a_restored_host_is_a_new_node_and_the_lost_one_is_gone(
        self, laid: tuple[Testbed, Swarm]
    ) -> None:
        testbed, own = laid
        before = own.node("db-1")
        lose_and_mend(OWN, testbed, own, "db-1")
        known = nodes(own)
        assert before not in known
        assert known[own.node("db-1")]["Status"]["State"] == "ready"
        assert len(known) == len(testbed.hosts)

    def test_it_is_formed_anew_where_its_manager_was_lost(
        self, laid: tuple[Testbed, Swarm]
    ) -> None:
        testbed, own = laid
        (control,) = testbed.group(CONTROL_GROUP)
        lose_and_mend(OWN, testbed, own, "db-3", control.name)
        assert {own.node(host.name) for host in testbed.hosts} == nodes(own).keys()

    def test_services_are_gone_before_its_daemons_end(self, laid: tuple[Testbed, Swarm]) -> None:
        own = laid[1]
        with closing(connect(own.manager)) as client:
            services: Any = client.services  # the SDK has not typed it
            services.create("sha256:" + 64 * "0", constraints=["node.id==nowhere"])
            assert services.list()
            own.dismiss()
            assert services.list() == []
