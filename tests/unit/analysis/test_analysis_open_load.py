"""What came of open loads: rates that were kept up with or not, and the probes of searches."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from analysis_cases import OPEN, measurement, windows
from analysis_study import at_level, plan, record

from dunnage.analysis.gather import Gathered, gather
from dunnage.findings.saturation.open_load import open_levels, searches
from dunnage.model.check import Status
from dunnage.model.level import Level, Search
from dunnage.model.open_load import OpenLevel, Refusal
from dunnage.model.plan import Plan, RunPlan
from dunnage.model.record import Ending, Probe, Record, Searched

SEARCH = Search(precision=0.1, objective={"response.p99": 0.01})


def planned(level: Level) -> Plan:
    return at_level(plan(6), level)


def made(run: RunPlan, **changed: object) -> Record:
    """A run at 1000 op/s for 4 s of which everything was answered."""
    known: dict[str, object] = {
        "run": run.id,
        "stay": f"b{run.block}-{run.deployment}",
        "block": run.block,
        "deployment": run.deployment,
        "position": run.position,
        "level": run.level,
        "measurement": measurement(offered=1000.0),
    }
    return record(**(known | changed))


def overloaded(run: RunPlan) -> Record:
    """The same run where a tenth could not be answered in time."""
    seen = measurement(offered=1000.0, windows=windows([180] * 20))
    return made(run, over_capacity=True, measurement=seen)


def gathered(of: Plan, make: Callable[[RunPlan], Record]) -> Gathered:
    return gather(of, [make(run) for run in of.runs()], {})


def levels(make: Callable[[RunPlan], Record]) -> dict[str, OpenLevel]:
    of = planned(OPEN)
    return {each.deployment: each for each in open_levels(of, gathered(of, make))}


def test_a_rate_that_was_kept_up_with_has_all_of_it_answered_and_no_backlog() -> None:
    found = levels(made)
    assert list(found) == ["native", "twin", "docker"]
    native = found["native"]
    assert (native.level, native.runs, native.over_capacity) == ("r1000", 6, 0)
    assert native.offered.value == pytest.approx(1000) and native.offered.low is not None
    assert native.throughput is not None and native.throughput.value == pytest.approx(1000)
    assert native.achieved is not None and native.achieved.value == pytest.approx(1.0)
    assert (native.growth, native.lag, native.seconds) == (None, None, 4.0)


def test_over_capacity_what_was_answered_and_how_far_behind_it_ended_are_told() -> None:
    docker = levels(lambda run: (overloaded if run.deployment == "docker" else made)(run))["docker"]
    assert (docker.runs, docker.over_capacity) == (6, 6)
    assert docker.throughput is not None and docker.throughput.value == pytest.approx(900)
    assert docker.achieved is not None and docker.achieved.value == pytest.approx(0.9)
    assert docker.growth == pytest.approx(0.1)
    assert docker.lag == pytest.approx(0.4)


def test_growth_and_lag_are_those_of_the_runs_over_capacity_alone() -> None:
    found = levels(lambda run: (overloaded if run.block == 2 else made)(run))
    assert {(each.runs, each.over_capacity) for each in found.values()} == {(6, 1)}
    assert all(each.growth == pytest.approx(0.1) for each in found.values())


def test_a_run_that_is_not_valid_is_no_part_of_it_and_a_closed_loop_has_none() -> None:
    found = levels(
        lambda run: made(run, status=Status.INVALID if run.deployment == "docker" else Status.VALID)
    )
    assert list(found) == ["native", "twin"]
    closed = plan(6)
    assert open_levels(closed, gathered(closed, made)) == ()
    assert searches(closed, gathered(closed, made)) == ()


SHORT = Refusal(what="achieved", value=0.8)


def searched(run: RunPlan) -> Record:
    """A search that found 1000 op/s and 1 % more in every later block."""
    rate = 1000.0 * 1.01**run.block
    probes = tuple(
        Probe(
            rate=asked,
            offered=asked + 1,
            achieved=share,
            p99=0.004,
            client_busy=0.3,
            sustained=share == 1.0,
            refusals=() if share == 1.0 else (SHORT,),
        )
        for asked, share in ((rate, 1.0), (1300.0, 0.8))
    )
    return made(run, search=Searched(rate=rate, ended=Ending.FOUND, probes=probes))


def test_searches_are_told_probe_by_probe_with_the_rate_that_they_found_over_blocks() -> None:
    of = planned(Level(search=SEARCH))
    found = searches(of, gathered(of, searched))
    assert [each.deployment for each in found] == ["native", "twin", "docker"]
    native = found[0]
    assert (native.searches, native.precision, native.level) == (6, 0.1, "search")
    assert native.objective == {"response.p99": 0.01}
    assert native.found is not None and native.found.n == 6
    assert native.found.value == pytest.approx(1000 * math.exp(3.5 * math.log(1.01)))
    assert native.found.low is not None and native.found.low < native.found.value
    assert [probe.block for probe in native.probes] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    kept, refused = native.probes[:2]
    assert (kept.sustained, kept.refusals) == (True, ())
    assert kept.achieved == kept.offered == pytest.approx(1011)
    assert (refused.sustained, refused.refusals) == (False, (SHORT,))
    assert refused.achieved == pytest.approx(0.8 * 1301)
    assert open_levels(of, gathered(of, searched)) == ()


def test_a_deployment_without_a_valid_search_is_left_out() -> None:
    of = planned(Level(search=SEARCH))
    only = [searched(run) for run in of.runs() if run.deployment == "native"]
    assert [each.deployment for each in searches(of, gather(of, only, {}))] == ["native"]
