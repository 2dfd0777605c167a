"""What gates leave out of either side is told, and nothing is claimed where one side is thinned."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import pytest
from analysis_cases import deployment
from analysis_study import DEPLOYMENTS, STUDY, plan, records
from test_analysis_judge import judged

from dunnage.analysis.checks import CONTROL
from dunnage.analysis.checks.finding import share
from dunnage.findings.checks import sentences as counted
from dunnage.findings.differences import sentences
from dunnage.model.analysis import Analysis, Comparison, Ground, Verdict
from dunnage.model.check import CheckResult, Status, Why
from dunnage.model.record import Record
from dunnage.wording.verdict import reason
from report_gates import spoilt_by

BLOCKS = 18
GOOD = CheckResult(check="errors", status=Status.VALID, why=Why.MEASURED)
PLAN = plan(BLOCKS)


def spoilt(made: Record, check: CheckResult) -> Record:
    return made.model_copy(update={"status": Status.INVALID, "checks": (GOOD, check)})


def study(left_out: Mapping[str, Collection[int]], check: CheckResult) -> Analysis:
    """A study of which a gate left out some blocks of some deployments; docker costs 10 %."""
    made = [
        spoilt(each, check) if each.block in left_out.get(each.deployment, ()) else each
        for each in records(PLAN, 0.1)
    ]
    return judged(PLAN, made)


def claim(analysis: Analysis) -> Comparison:
    """What the study says of Docker's throughput."""
    (found,) = analysis.answers[0].comparisons
    return found


def test_where_nothing_is_left_out_the_claim_says_so() -> None:
    analysis = study({}, spoilt_by("client"))
    found = claim(analysis)
    assert [(side.deployment, side.runs, side.of_runs) for side in found.left_out] == [
        ("docker", 0, BLOCKS),
        ("native", 0, BLOCKS),
    ]
    assert (found.verdict, found.thinned) == (Verdict.OVERHEAD, None)
    assert sentences.evidence(found, {}).endswith("; no run of either was left out")
    assert (sentences.thinned(analysis), sentences.left_out_of_answers(analysis)) == ((), "")


def test_where_both_sides_are_thinned_alike_the_claim_stands_and_tells_it() -> None:
    analysis = study({"docker": range(1, 5), "native": range(8, 11)}, spoilt_by("client"))
    found = claim(analysis)
    assert (found.verdict, found.ground) == (Verdict.OVERHEAD, Ground.BEYOND)
    told = "4 of 18 runs of docker (client 4 ×)", "3 of 18 runs of native (client 3 ×)"
    assert sentences.evidence(found, {}).endswith(f"; left out: {' and '.join(told)}")
    assert sentences.left_out_of_answers(analysis) == ", ".join(told)
    assert sentences.thinned(analysis) == ()


@pytest.mark.parametrize("thinned", ["docker", "native"])
def test_where_one_side_is_thinned_nothing_is_claimed(thinned: str) -> None:
    lost = {"native": range(1, 7), "twin": range(1, 7)} if thinned == "native" else {}
    analysis = study(lost or {"docker": range(1, 7)}, spoilt_by("client"))
    found = claim(analysis)
    assert (found.verdict, found.ground) == (Verdict.INCONCLUSIVE, Ground.THINNED)
    assert found.withheld and found.blocks_needed is None
    assert found.difference.low is not None
    assert found.thinned is not None
    assert found.thinned.chance == pytest.approx(0.0191, abs=1e-4)
    told = {"docker": "0 of 18 blocks of docker", "native": "0 of 18 blocks of native"}
    told[thinned] = f"6 of 18 blocks of {thinned} (client 6 ×)"
    assert reason(found) == (
        f"Runs were left out in {told['docker']} and in {told['native']}. Chance explains such a "
        "difference in only 1.9 % of studies, so that the runs that are left may be chosen by what "
        "they measured."
    )
    rare = found.thinned.model_copy(update={"chance": 0.0004})
    assert "in less than 0.1 % of studies" in reason(found.model_copy(update={"thinned": rare}))
    assert reason(found) in sentences.thinned(analysis)
    assert "is not claimed: runs were left out" in sentences.lead(analysis.answers[0], STUDY, PLAN)


def test_where_one_platform_is_thinned_nothing_is_claimed_of_any_of_its_deployments() -> None:
    """Docker's three lose three blocks each, which tells nothing of one of them alone."""
    more = [deployment(name, platform="docker") for name in ("docker-2", "docker-3")]
    planned = plan(BLOCKS, (*DEPLOYMENTS, *more))
    lost = {"docker": (1, 2, 3), "docker-2": (5, 6, 7), "docker-3": (9, 10, 11)}

    def answer(left_out: Mapping[str, Collection[int]]) -> Comparison:
        made = [
            spoilt(each, spoilt_by("client"))
            if each.block in left_out.get(each.deployment, ())
            else each
            for each in records(planned, 0.1)
        ]
        return claim(judged(planned, made))

    assert answer({"docker": (1, 2, 3)}).verdict is Verdict.OVERHEAD
    assert answer(lost | {"native": (3, 4), "twin": (7, 8)}).verdict is Verdict.OVERHEAD
    found = answer(lost)
    assert (found.verdict, found.ground) == (Verdict.INCONCLUSIVE, Ground.THINNED)
    assert found.thinned is not None and found.thinned.platforms
    assert found.thinned.chance == pytest.approx(2 * math.comb(54, 9) / math.comb(90, 9))
    assert reason(found).startswith(
        "Runs were left out in 9 of 54 blocks of all deployments on docker (client 9 ×) and in "
        "0 of 36 blocks of all deployments on native. "
    )


def test_a_run_that_did_not_happen_is_left_out_and_a_block_that_has_not_begun_is_none() -> None:
    made = [
        each
        for each in records(PLAN, 0.1)
        if each.block <= 12 and not (each.deployment == "docker" and each.block <= 6)
    ]
    found = claim(judged(PLAN, made))
    assert found.left_out[0].gates == {"missing": 6}
    assert [side.of_blocks for side in found.left_out] == [12, 12]


def busy(processors: float) -> CheckResult:
    return spoilt_by(CONTROL, seen=(share("control", processors),))


def test_a_manager_that_is_busy_again_and_again_is_a_cost_and_leaves_no_run_out() -> None:
    analysis = study({"docker": range(1, 6)}, busy(0.071))
    assert analysis.valid == len(DEPLOYMENTS) * BLOCKS
    assert claim(analysis).verdict is Verdict.OVERHEAD
    assert [gate.fired for gate in analysis.gates if gate.gate == CONTROL] == [0]
    (told,) = counted.managed(analysis)
    assert "up to 7.1 % of one processor, in 5 of 18 blocks, and in 0 of 36 blocks" in told


def test_a_manager_that_is_busy_once_spoils_this_run() -> None:
    analysis = study({"docker": [3]}, busy(0.244))
    assert analysis.managed == ()
    assert (analysis.invalid, claim(analysis).left_out[0].gates) == (1, {CONTROL: 1})
    assert [gate.fired for gate in analysis.gates if gate.gate == CONTROL] == [1]


def test_what_else_spoilt_a_run_with_a_busy_manager_still_does() -> None:
    made = [
        spoilt(each, busy(0.06)) if each.deployment == "docker" and each.block < 7 else each
        for each in records(PLAN, 0.1)
    ]
    at = next(at for at, each in enumerate(made) if each.status is Status.INVALID)
    made[at] = made[at].model_copy(update={"checks": (*made[at].checks, spoilt_by("steal"))})
    analysis = judged(PLAN, made)
    (wrong,) = [run for run in analysis.runs if run.status != Status.VALID]
    assert (wrong.run, [check.check for check in wrong.checks]) == (made[at].run, ["steal"])
