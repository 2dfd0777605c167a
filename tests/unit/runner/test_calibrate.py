"""The baseline's capacity out of the calibration's runs, and rates out of it."""

from __future__ import annotations

import pytest

from dunnage.errors import StayError
from dunnage.model.calibration import Calibration
from dunnage.model.check import CheckResult, Reading, Status, Why
from dunnage.model.choices import ClientPlace, Peers, Phase, Storage
from dunnage.model.deployment import Deployment, Workload
from dunnage.model.level import Level
from dunnage.model.plan import CalibrationPlan, RunPlan, StayPlan
from dunnage.model.record import Measurement, OperationStats, Record
from dunnage.model.study import DatabaseSpec, Limits
from dunnage.runner.calibrate import calibrated, told
from report_gates import unseen_by

LEVEL = Level(threads=32)
WORKLOAD = Workload(name="A", core="A", phase=Phase.RUN, records=100)
NATIVE = Deployment(
    name="native",
    title="Native",
    platform="native",
    network="host",
    endpoint="host-port",
    storage=Storage.BIND,
    peers=Peers.ENDPOINT,
    client=ClientPlace.HOST,
    hosts="db",
    limits=Limits(),
    slowdown=0.0,
    database=DatabaseSpec(kind="redis"),
)


def plan(runs: int = 3) -> CalibrationPlan:
    planned = tuple(
        RunPlan(
            id=f"calibration-A-t32-{at}",
            block=0,
            deployment="native",
            workload=WORKLOAD,
            level=LEVEL,
            repeat=at,
            position=at - 1,
            seed=1,
        )
        for at in range(1, runs + 1)
    )
    stay = StayPlan(id="calibration", block=0, deployment="native", runs=planned)
    return CalibrationPlan(deployment=NATIVE, stay=stay)


def records(*throughputs: float, spoilt: tuple[int, ...] = ()) -> list[Record]:
    made = []
    for run, throughput in zip(plan(len(throughputs)).stay.runs, throughputs, strict=True):
        bad = run.repeat in spoilt
        check = CheckResult(
            check="steal",
            status=Status.INVALID,
            why=Why.MEASURED,
            seen=(Reading(what="steal", value=0.2, unit="share", where="db-1"),),
        )
        stats = OperationStats(count=round(throughput * 2), errors={}, service=None, response=None)
        made.append(
            Record(
                run=run.id,
                stay="calibration",
                block=0,
                deployment="native",
                workload=WORKLOAD,
                level=LEVEL,
                repeat=run.repeat,
                position=run.position,
                started=0.0,
                ended=3.0,
                status=Status.INVALID if bad else Status.VALID,
                checks=(check,) if bad else (),
                measurement=Measurement(
                    began=0.0,
                    seconds=2.0,
                    operations={"all": stats},
                    windows=(),
                    remotes=(),
                    client_cpu=0.1,
                    client_busy=0.1,
                    offered=None,
                    backlog=0,
                    parts=1,
                ),
                usage=(),
            )
        )
    return made


def capacity(found: Calibration) -> float:
    return found.capacities["A"].throughput


def test_the_capacity_is_the_median_of_the_valid_runs() -> None:
    assert capacity(calibrated(plan(), records(900, 1000, 5000))) == 1000
    found = calibrated(plan(), records(900, 1000, 100, spoilt=(3,)))
    assert capacity(found) == 950
    ((run, (check,)),) = found.capacities["A"].spoilt.items()
    assert (run, check.check) == ("calibration-A-t32-3", "steal")
    assert (found.deployment, found.threads) == ("native", 32)


def test_what_nobody_sees_does_not_stand_against_a_run() -> None:
    (made,) = records(900, spoilt=(1,))
    hidden = made.model_copy(update={"checks": (unseen_by("swap"), *made.checks)})
    found = calibrated(plan(1), [hidden])
    assert found.capacities["A"].spoilt == {made.run: made.checks}


def test_spoilt_runs_count_where_there_are_no_others_and_that_is_told() -> None:
    found = calibrated(plan(2), records(900, 1000, spoilt=(1, 2)))
    assert capacity(found) == 950
    assert told(found) == (
        "the capacity of `native` at 32 threads: A 950 op/s (2 of 2 runs are not valid)"
    )


def test_without_any_answer_there_is_no_capacity() -> None:
    with pytest.raises(StayError, match=r"under workload `A` is not known: steal: 20\.0 %"):
        calibrated(plan(1), records(0, spoilt=(1,)))
    with pytest.raises(StayError, match="it has no run"):
        calibrated(plan(), [])


def test_a_share_becomes_a_whole_rate_of_at_least_one_and_stays_a_share() -> None:
    found = calibrated(plan(), records(1001, 1001, 1001))
    made = found.made(Level(share=0.6, of="native"), "A")
    assert (made.rate, made.share, made.name) == (601.0, 0.6, "s60")
    assert found.made(Level(share=0.0001, of="native"), "A").rate == 1.0
    assert found.made(Level(rate=2000.0), "A") == Level(rate=2000.0)
