"""What every substrate must do: a daemon on each host, while it is awake, and anew once mended.

Of a Swarm, too: each daemon is a ready node of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from cases import SubstrateCase, unique

from dunnage.contracts import Daemon, HasDaemons, HasSwarm, Substrate
from dunnage.docker_api import connect
from dunnage.model.study import CONTROL_GROUP

if TYPE_CHECKING:  # at run time pytest would take it for a class of tests
    from dunnage.contracts import Testbed


@pytest.fixture(scope="module")
def laid(substrate_case: SubstrateCase) -> Iterator[tuple[Testbed, Substrate]]:
    # Daemons take seconds to start; every test leaves them awake.
    with (
        substrate_case.testbed.open(unique()) as testbed,
        substrate_case.open(testbed) as substrate,
    ):
        yield testbed, substrate


def daemon(substrate: Substrate, host: str) -> Daemon:
    assert isinstance(substrate, HasDaemons)
    return substrate.daemon(host)


def lose(case: SubstrateCase, testbed: Testbed, substrate: Substrate, *names: str) -> None:
    """Cut the power of hosts, restore them, and have the substrate mended on each."""
    for host in testbed.hosts:
        if host.name in names:
            case.testbed.lose(testbed, host)
    assert set(testbed.lost()) == set(names)
    for name in testbed.lost():
        testbed.restore(name)
        substrate.mend(name)
    assert testbed.lost() == ()


class TestSubstrate:
    def test_every_host_has_a_daemon_whose_processes_are_in_units_of_the_host(
        self, laid: tuple[Testbed, Substrate]
    ) -> None:
        testbed, substrate = laid
        daemons = [daemon(substrate, host.name) for host in testbed.hosts]
        assert [each.host for each in daemons] == [host.name for host in testbed.hosts]
        assert len({each.url for each in daemons}) == len(daemons)
        assert all(substrate.units(host.name) for host in testbed.hosts)

    def test_a_host_that_it_does_not_know_has_nothing_of_it(
        self, laid: tuple[Testbed, Substrate]
    ) -> None:
        with pytest.raises(KeyError):
            daemon(laid[1], "nowhere")
        assert laid[1].units("nowhere") == ()

    def test_it_says_what_it_is(self, laid: tuple[Testbed, Substrate]) -> None:
        facts = laid[1].facts()
        assert "storage_driver" in facts
        assert all(str(value) for value in facts.values())

    def test_once_frozen_and_awake_again_it_is_what_it_was(
        self, laid: tuple[Testbed, Substrate]
    ) -> None:
        testbed, substrate = laid
        before = [daemon(substrate, host.name) for host in testbed.hosts]
        substrate.freeze()
        substrate.freeze([testbed.hosts[0].name])
        substrate.wake()
        assert [daemon(substrate, host.name) for host in testbed.hosts] == before

    def test_a_host_that_was_lost_and_restored_gets_its_daemon_back(
        self, substrate_case: SubstrateCase, laid: tuple[Testbed, Substrate]
    ) -> None:
        testbed, substrate = laid
        host = testbed.group("db")[1].name
        lose(substrate_case, testbed, substrate, host)
        assert daemon(substrate, host).host == host
        substrate.mend(host)  # what stands on it mends it as well

    def test_others_can_be_mended_while_it_is_frozen(
        self, substrate_case: SubstrateCase, laid: tuple[Testbed, Substrate]
    ) -> None:
        testbed, substrate = laid
        substrate.freeze()
        lose(substrate_case, testbed, substrate, testbed.group("db")[2].name)
        substrate.wake()


@pytest.fixture
def swarm(laid: tuple[Testbed, Substrate]) -> HasSwarm:
    if not isinstance(laid[1], HasSwarm):
        pytest.skip("it is no Swarm")
    return laid[1]


def members(swarm: HasSwarm) -> Mapping[str, Mapping[str, Any]]:
    """Node id → what the manager says of it."""
    with closing(connect(swarm.manager)) as client:
        return {node["ID"]: node for node in client.api.nodes()}


class TestSwarm:
    def test_every_host_is_a_ready_node_by_its_own_name_and_address(
        self, laid: tuple[Testbed, Substrate], swarm: HasSwarm
    ) -> None:
        known = members(swarm)
        assert len(known) == len(laid[0].hosts)
        for host in laid[0].hosts:
            node = known[swarm.node(host.name)]
            assert node["Status"]["State"] == "ready"
            assert node["Status"]["Addr"] == host.address
            assert node["Description"]["Hostname"] == host.name

    def test_a_host_that_it_does_not_know_is_no_node(self, swarm: HasSwarm) -> None:
        with pytest.raises(KeyError):
            swarm.node("nowhere")

    def test_its_only_manager_is_on_the_control_host(
        self, laid: tuple[Testbed, Substrate], swarm: HasSwarm
    ) -> None:
        (control,) = laid[0].group(CONTROL_GROUP)
        assert swarm.manager.host == control.name
        managing = [node for node, told in members(swarm).items() if "ManagerStatus" in told]
        assert managing == [swarm.node(control.name)]

    def test_a_restored_host_is_a_new_node_and_the_lost_one_is_gone(
        self, substrate_case: SubstrateCase, laid: tuple[Testbed, Substrate], swarm: HasSwarm
    ) -> None:
        testbed, substrate = laid
        before = swarm.node("db-1")
        lose(substrate_case, testbed, substrate, "db-1")
        known = members(swarm)
        assert before not in known
        assert known[swarm.node("db-1")]["Status"]["State"] == "ready"
        assert len(known) == len(testbed.hosts)

    def test_it_is_formed_anew_where_its_manager_was_lost(
        self, substrate_case: SubstrateCase, laid: tuple[Testbed, Substrate], swarm: HasSwarm
    ) -> None:
        testbed, substrate = laid
        (control,) = testbed.group(CONTROL_GROUP)
        lose(substrate_case, testbed, substrate, "db-3", control.name)
        nodes = {swarm.node(host.name) for host in testbed.hosts}
        assert nodes == members(swarm).keys()
