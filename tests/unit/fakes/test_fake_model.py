"""The fake database has known effects, so that a whole study has a known answer."""

from __future__ import annotations

from statistics import fmean

import pytest
from fleet import Fleet, Fleets

from dunnage.contracts.platform import Seen
from dunnage.hosts.fake.load import LATE_SHARE
from dunnage.model.choices import Arrivals, ClientPlace, Phase
from dunnage.model.level import Level


def throughput(fleet: Fleet, seeds: range = range(8)) -> float:
    fleet.load(Phase.LOAD)
    runs = [fleet.load(seed=seed) for seed in seeds]
    return fmean(run.operations["all"].count / run.seconds for run in runs)


def formed(fleets: Fleets, network: str = "plain", client: ClientPlace = ClientPlace.HOST) -> Fleet:
    fleet = fleets.open(network, client)
    fleet.form()
    return fleet


def test_the_late_network_costs_its_share(fleets: Fleets) -> None:
    plain, late = throughput(formed(fleets)), throughput(formed(fleets, "late"))
    assert late / plain == pytest.approx(1 - LATE_SHARE, abs=0.005)


def test_the_place_of_the_client_costs_nothing(fleets: Fleets) -> None:
    inside = throughput(formed(fleets, "plain", ClientPlace.CONTAINER))
    assert inside / throughput(formed(fleets)) == pytest.approx(1.0, abs=0.001)


def test_a_pause_costs_its_share_and_is_told_while_it_lasts(fleets: Fleets) -> None:
    fleet = formed(fleets)
    before = throughput(fleet)
    router = next(member for member in fleet.platform.running() if member.member == "router-1")
    assert isinstance(router.process, Seen)
    argv = [router.host.engine, "pause", "--pid", str(router.process.pid), "--share", "0.05"]
    pause = router.host.start([*argv, "--out", "/pause.jsonl"], unit="pause", log="/pause.log")
    assert throughput(fleet) / before == pytest.approx(0.95, abs=0.001)
    assert len(router.host.get("/pause.jsonl").splitlines()) > 100
    pause.signal("TERM")
    assert throughput(fleet) == before


def test_the_same_seed_gives_the_same_run_and_another_one_another(fleets: Fleets) -> None:
    fleet = formed(fleets)
    fleet.load(Phase.LOAD)
    one, again, other = fleet.load(seed=1), fleet.load(seed=1), fleet.load(seed=2)
    assert one.operations == again.operations
    assert one.operations != other.operations


def test_an_open_load_within_capacity_is_kept_and_has_response_times(fleets: Fleets) -> None:
    fleet = formed(fleets)
    fleet.load(Phase.LOAD)
    run = fleet.load(level=Level(rate=2000.0))
    assert run.offered == 2000.0
    assert run.operations["all"].count == pytest.approx(8000)
    assert run.operations["read"].response is not None
    assert run.backlog == 0


def test_an_open_load_beyond_capacity_leaves_a_backlog(fleets: Fleets) -> None:
    fleet = formed(fleets)
    fleet.load(Phase.LOAD)
    run = fleet.load(level=Level(rate=50_000.0))
    assert run.backlog > 0
    assert run.backlog + run.operations["all"].count == pytest.approx(200_000)


def test_windows_add_up_to_the_measured_operations(fleets: Fleets) -> None:
    fleet = formed(fleets)
    fleet.load(Phase.LOAD)
    run = fleet.load()
    measured = [window for window in run.windows if window.start >= 0]
    assert sum(window.operations for window in measured) == run.operations["all"].count
    assert sum(window.length for window in measured) == pytest.approx(run.seconds)
    assert [window.start for window in run.windows] == sorted(w.start for w in run.windows)


def test_late_addresses_are_read_back_and_clients_do_not_see_them(fleets: Fleets) -> None:
    fleet = formed(fleets, "late")
    fleet.load(Phase.LOAD)
    addresses = {
        key: value for key, value in fleet.platform.network().items() if key.startswith("address.")
    }
    assert len(set(addresses.values())) == len(fleet.reservation.places)
    assert all(value.startswith("198.51.100.") for value in addresses.values())
    (remote,) = fleet.load().remotes
    assert remote.startswith("192.0.2.")


def test_ports_published_by_one_stay_are_free_for_the_next(fleets: Fleets) -> None:
    fleet = formed(fleets, "late")
    fleet.platform.down()
    fleet.stay("plain")
    fleet.form()
    fleet.load(Phase.LOAD)
    assert fleet.load().operations["all"].errors == {}


def test_poisson_arrivals_vary_from_seed_to_seed_and_all_records_are_in(fleets: Fleets) -> None:
    fleet = formed(fleets)
    poisson = [
        fleet.load(phase, seed, Level(rate=2000.0), Arrivals.POISSON).operations["all"].count
        for phase in (Phase.LOAD, Phase.RUN)
        for seed in (1, 2)
    ]
    assert poisson[:2] == [1000, 1000]
    assert poisson[2] != poisson[3]
