"""Faults that can be injected into a fake testbed end as the real ones do."""

from __future__ import annotations

import pytest
from fleet import SPEC, Fleets

from dunnage.errors import HostLostError, StayError, UnavailableError
from dunnage.model.choices import ClientPlace, Phase
from dunnage.model.layout import Software
from dunnage.software.fake import FakeTrees


def test_a_member_that_is_never_ready_shows_its_last_lines(fleets: Fleets) -> None:
    fleet = fleets.open()
    fleet.testbed.world.never_ready("shard-2-1")
    with pytest.raises(StayError, match=r"shard-2-1.*not ready(.|\n)*journal without end"):
        fleet.form(deadline=3.0)
    fleet.platform.down()


def test_a_member_that_dies_during_a_run_leaves_errors_and_is_named(fleets: Fleets) -> None:
    fleet = fleets.open()
    fleet.form()
    fleet.load(Phase.LOAD)
    fleet.testbed.world.die("router-1", after=1)
    assert fleet.load().operations["all"].errors == {}
    fleet.platform.running()
    hurt = fleet.load().operations["all"]
    assert hurt.errors["connection"] == pytest.approx(hurt.count, rel=0.01)
    with pytest.raises(StayError, match="router-1"):
        fleet.platform.running()


def test_a_daemon_that_is_killed_during_a_run_is_restarted_and_told(fleets: Fleets) -> None:
    fleet = fleets.open()
    fleet.form()
    fleet.load(Phase.LOAD)
    none = dict.fromkeys((host.name for host in fleet.testbed.hosts), ())
    assert fleet.substrate.restarts() == none
    fleet.testbed.world.kill("db-1", "daemon", after=0)
    before = fleet.testbed.clock.now()
    fleet.load()
    after = fleet.testbed.clock.now()
    told = fleet.substrate.restarts()
    (restart,) = told["db-1"]
    assert (restart.host, restart.program, restart.code) == ("db-1", "daemon", -9)
    assert before < restart.time < after, "not when it was killed, but when somebody looked"
    assert told == {**none, "db-1": (restart,)} == fleet.substrate.restarts()
    assert fleet.substrate.daemon("db-1").host == "db-1"
    fleet.testbed.world.lose("db-2")
    with pytest.raises(HostLostError):
        fleet.substrate.restarts()
    fleet.testbed.restore("db-2")
    fleet.substrate.wake()
    assert fleet.substrate.restarts() == told, "a host that is lost restarts nothing"


def test_what_nothing_restarts_is_killed_for_good(fleets: Fleets) -> None:
    testbed = fleets.open().testbed
    process = testbed.hosts[0].start(("fake-daemon",), unit="alone", log="/log")
    testbed.world.kill(testbed.hosts[0].name, "alone")
    assert process.poll() == -9


def test_a_host_lost_during_a_run_is_noticed_and_comes_back_empty(fleets: Fleets) -> None:
    fleet = fleets.open()
    fleet.form()
    fleet.load(Phase.LOAD)
    fleet.testbed.world.lose("db-1", after=0)
    assert fleet.load().operations["all"].errors["connection"] > 0
    with pytest.raises(HostLostError, match="db-1"):
        fleet.platform.running()
    fleet.platform.down()
    assert fleet.testbed.lost() == ("db-1",)
    fleet.testbed.restore("db-1")
    assert fleet.testbed.world.hosts["db-1"].files == {}
    fleet.substrate.wake()
    fleet.platform.reserve(fleet.database.layout(SPEC))
    fleet.form()
    fleet.load(Phase.LOAD)


def test_the_host_of_the_client_can_be_lost_too(fleets: Fleets) -> None:
    fleet = fleets.open(client=ClientPlace.CONTAINER)
    fleet.form()
    fleet.load(Phase.LOAD)
    fleet.testbed.world.lose("client-1", after=0)
    with pytest.raises(HostLostError, match="client-1"):
        fleet.load()
    fleet.platform.down()


def test_connections_are_refused_when_no_server_listens(fleets: Fleets) -> None:
    with pytest.raises(AssertionError, match="connection refused"):
        fleets.open().load()


def test_a_run_on_an_empty_database_fails(fleets: Fleets) -> None:
    fleet = fleets.open()
    fleet.form()
    with pytest.raises(AssertionError, match="holds no records"):
        fleet.load()


def test_a_platform_is_not_used_while_its_substrate_is_frozen(fleets: Fleets) -> None:
    fleet = fleets.open()
    fleet.substrate.freeze()
    with pytest.raises(StayError, match="frozen"):
        fleet.form()
    fleet.substrate.wake()
    fleet.form()
    assert fleet.substrate.history == ["wake", "freeze", "wake"]


def test_two_servers_do_not_listen_on_one_address(fleets: Fleets) -> None:
    fleet = fleets.open()
    service = fleet.database.stages(SPEC, fleet.reservation)[0].services[0]
    fleet.platform.up([service], 5.0)
    with pytest.raises(StayError, match="address already in use"):
        fleet.platform.up([service], 5.0)


def test_a_clock_ahead_shows_in_what_its_host_writes(fleets: Fleets) -> None:
    fleet = fleets.open(ahead={"client-1": 0.5})
    assert fleet.testbed.group("client")[0].clock_offset() == 0.5
    fleet.form()
    began = fleet.testbed.clock.now()
    assert fleet.load(Phase.LOAD).began == pytest.approx(began + 0.5, abs=0.1)


def test_a_clock_can_drift(fleets: Fleets) -> None:
    fleet = fleets.open()
    fleet.testbed.world.ahead("db-2", 0.1, drift=0.01)
    fleet.testbed.clock.sleep(10.0)
    assert fleet.testbed.world.hosts["db-2"].clock_offset() == pytest.approx(0.2)


def test_time_that_passes_on_the_virtual_clock_is_not_waited_for(fleets: Fleets) -> None:
    fleet = fleets.open()
    before = fleet.testbed.clock.now()
    fleet.testbed.clock.sleep(86_400.0)
    assert fleet.testbed.clock.now() == before + 86_400.0


def test_other_software_is_refused_with_the_reason() -> None:
    with pytest.raises(UnavailableError, match="redis"):
        FakeTrees().tree(Software("redis", "7.0"))
