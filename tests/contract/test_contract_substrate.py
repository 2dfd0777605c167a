"""What every substrate must do: a daemon on each host, while it is awake, and anew once mended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from cases import SubstrateCase, unique

from dunnage.contracts import Substrate

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


class TestSubstrate:
    def test_every_host_has_a_daemon_whose_processes_are_in_units_of_the_host(
        self, laid: tuple[Testbed, Substrate]
    ) -> None:
        testbed, substrate = laid
        daemons = [substrate.daemon(host.name) for host in testbed.hosts]
        assert [daemon.host for daemon in daemons] == [host.name for host in testbed.hosts]
        assert len({daemon.url for daemon in daemons}) == len(daemons)
        assert all(daemon.units for daemon in daemons)

    def test_a_host_that_it_does_not_know_has_none(self, laid: tuple[Testbed, Substrate]) -> None:
        with pytest.raises(KeyError):
            laid[1].daemon("nowhere")

    def test_it_says_what_it_is(self, laid: tuple[Testbed, Substrate]) -> None:
        facts = laid[1].facts()
        assert "storage_driver" in facts
        assert all(str(value) for value in facts.values())

    def test_once_frozen_and_awake_again_it_is_what_it_was(
        self, laid: tuple[Testbed, Substrate]
    ) -> None:
        testbed, substrate = laid
        before = [substrate.daemon(host.name) for host in testbed.hosts]
        substrate.freeze()
        substrate.wake()
        assert [substrate.daemon(host.name) for host in testbed.hosts] == before

    def test_a_host_that_was_lost_and_restored_gets_its_daemon_back(
        self, substrate_case: SubstrateCase, laid: tuple[Testbed, Substrate]
    ) -> None:
        testbed, substrate = laid
        host = testbed.group("db")[1]
        substrate_case.testbed.lose(testbed, host)
        assert testbed.lost() == (host.name,)
        testbed.restore(host.name)
        substrate.mend(host.name)
        assert substrate.daemon(host.name).host == host.name
        assert testbed.lost() == ()
