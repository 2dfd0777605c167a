"""Stays that start with a copy of the data: put in once, and anew only when a host lost it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from faulty import RUNS, STUDY, Carry, complete

from dunnage.hosts.fake.host import Task
from dunnage.hosts.fake.world import Call, World
from dunnage.model.check import Status

RESTORED = STUDY + "data: restore\n"


def loadings(into: list[str]) -> Callable[[World], None]:
    """A fault that is none: it writes down whose records are put in."""

    def watch(world: World) -> None:
        load = world.programs["fake-load"]

        def watched(call: Call) -> Task:
            plan = call.option("--plan")
            if "/loading/" in plan:
                into.append(plan.partition("/loading/")[2].partition("/")[0])
            return load(call)

        world.programs["fake-load"] = watched

    return watch


def test_with_snapshots_records_are_put_in_once_and_every_stay_starts_with_a_copy(
    carry_out: Carry,
) -> None:
    loaded: list[str] = []
    ended = carry_out(loadings(loaded), RESTORED)
    assert ended.code == 0, ended.shown
    assert complete(ended)
    (made,) = ended.events("snapshot made")
    assert loaded == [made["stay"]]
    assert made["records"] == 100
    assert str(made["stay"]).startswith("data-")
    assert [stay.restored_from for stay in ended.result.stays] == [made["stay"]] * 4
    assert all("restore" in stay.stages for stay in ended.result.stays)
    assert all(record.data_size == made["data_size"] for record in ended.result.records)
    assert all(record.status is Status.VALID for record in ended.result.records)
    assert f"stay `{made['stay']}` loads 100 records" in ended.shown


def test_without_snapshots_every_stay_puts_its_records_in(carry_out: Carry) -> None:
    loaded: list[str] = []
    ended = carry_out(loadings(loaded))
    assert len(loaded) == 4
    assert not ended.events("snapshot made")
    assert {stay.restored_from for stay in ended.result.stays} == {None}


@pytest.mark.parametrize(("host", "made"), [("db-1", 2), ("client-1", 1)])
def test_a_snapshot_is_made_anew_when_a_host_that_kept_it_is_lost(
    carry_out: Carry, host: str, made: int
) -> None:
    ended = carry_out(lambda world: world.lose(host, after=3), RESTORED)
    assert complete(ended)
    makers = [event["stay"] for event in ended.events("snapshot made")]
    assert len(makers) == made
    assert {stay.restored_from for stay in ended.result.stays} == set(makers)
    assert all(record.status is Status.VALID for record in ended.result.records)


def test_after_a_run_that_broke_off_a_restored_stay_goes_on_with_its_records(
    carry_out: Carry,
) -> None:
    loaded: list[str] = []
    runs: list[str] = []

    def fail_first_run(world: World) -> None:
        loadings(loaded)(world)
        load = world.programs["fake-load"]

        def flaky(call: Call) -> Task:
            plan = call.option("--plan")
            if "/runs/" in plan:
                runs.append(plan)
                if len(runs) == 1:
                    return call.fail("segmentation fault", 139)
            return load(call)

        world.programs["fake-load"] = flaky

    ended = carry_out(fail_first_run, RESTORED)
    assert complete(ended)
    assert len(ended.events("run failed")) == 1
    assert len(loaded) == 1
    assert len(runs) == RUNS + 1


def test_a_snapshot_that_cannot_be_kept_costs_stays_and_is_told(carry_out: Carry) -> None:
    def full(world: World) -> None:
        world.programs["cp"] = lambda call: call.fail("cp: No space left on device")

    ended = carry_out(full, RESTORED)
    assert ended.code == 4
    assert not ended.result.finished()
    assert not ended.events("snapshot made")
    told = [str(event["why"]) for event in ended.events("stay failed")]
    assert len(told) == 8
    assert all("router-1: `cp " in why and "No space left on device" in why for why in told)
