"""What every substrate must do: a daemon on each host, while it is awake, and anew once mended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from cases import SubstrateCase, lose_and_mend, unique

from dunnage.contracts.docker import Daemon, HasDaemons
from dunnage.contracts.substrate import Substrate, TellsRules

if TYPE_CHECKING:  # at run time pytest would take it for a class of tests
    from dunnage.contracts.testbed import Testbed


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

    def test_its_rules_for_packets_stay_in_force_while_it_is_frozen(
        self, laid: tuple[Testbed, Substrate]
    ) -> None:
        testbed, substrate = laid
        assert isinstance(substrate, TellsRules)
        before = {host.name: substrate.rules(host.name) for host in testbed.hosts}
        assert all(before.values()), before
        substrate.freeze()
        try:
            assert {name: substrate.rules(name) for name in before} == before
        finally:
            substrate.wake()
        assert substrate.rules("nowhere") is None

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
        lose_and_mend(substrate_case, testbed, substrate, host)
        assert daemon(substrate, host).host == host
        substrate.mend(host)  # what stands on it mends it as well

    def test_others_can_be_mended_while_it_is_frozen(
        self, substrate_case: SubstrateCase, laid: tuple[Testbed, Substrate]
    ) -> None:
        testbed, substrate = laid
        substrate.freeze()
        lose_and_mend(substrate_case, testbed, substrate, testbed.group("db")[2].name)
        substrate.wake()
