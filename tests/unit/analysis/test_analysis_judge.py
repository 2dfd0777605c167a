"""A whole result judged: answers, counts, parity, and the same bytes every time."""

from __future__ import annotations

import pytest
from analysis_cases import deployment, process
from analysis_logs import hlog
from analysis_study import DEPLOYMENTS, STUDY, plan, records, stays

from dunnage.findings.analyse import analyse, reference
from dunnage.findings.differences.comparisons import MEAN_OF_TWINS
from dunnage.findings.differences.scope import DEFAULT_TOLERANCE
from dunnage.model.analysis import Analysis, Comparison, Ground, Verdict
from dunnage.model.check import CheckResult, Status, Why
from dunnage.model.metrics import HEADLINE
from dunnage.model.parity import Aspect, Cause, Factor
from dunnage.model.plan import Plan, Skipped
from dunnage.model.record import Record, StayRecord
from dunnage.model.study import PrimarySpec, Study

LOG = hlog({"read.service": [1_000_000, 2_000_000]})


def judged(
    planned: Plan,
    made: list[Record],
    seen: list[StayRecord] | None = None,
    study: Study = STUDY,
) -> Analysis:
    return analyse(
        study,
        planned,
        made,
        stays(planned) if seen is None else seen,
        {"kernel": "6.1"},
        lambda _: LOG,
    )


def answer(analysis: Analysis, question: str) -> Comparison:
    (found,) = next(a for a in analysis.answers if a.question == question).comparisons
    return found


def test_an_overhead_of_ten_percent_is_found_against_the_mean_of_both_twins() -> None:
    planned = plan()
    found = answer(judged(planned, records(planned, 0.10)), "RQ1")
    assert found.verdict is Verdict.OVERHEAD
    assert found.difference.low is not None and found.difference.high is not None
    assert found.difference.low < -0.10 < found.difference.high
    assert found.difference.n == len(found.by_block) == 8
    assert min(found.by_block) < found.difference.value < max(found.by_block)
    assert (found.apart, found.family, found.primary) == (0.0, 1, True)
    assert found.detectable is not None and MEAN_OF_TWINS in found.difference.method


def test_each_question_is_a_family_of_its_own_and_what_it_does_not_name_is_secondary() -> None:
    planned = plan()
    both = STUDY.questions["RQ1"].model_copy(update={"against": ("twin", "docker")})
    named = both.model_copy(update={"primary": PrimarySpec(against=("docker",))})
    study = STUDY.model_copy(update={"questions": {"RQ1": both, "RQ2": named}})
    analysis = judged(planned, records(planned, 0.0), study=study)
    first, second = (each.comparisons for each in analysis.answers)
    assert [(each.family, each.primary) for each in first] == [(2, True), (2, True)]
    assert [(each.family, each.primary) for each in second] == [(1, False), (1, True)]
    assert "simultaneous over 2" in first[1].difference.method
    assert width(second[1]) < width(first[1])


def width(comparison: Comparison) -> float:
    low, high = comparison.difference.low, comparison.difference.high
    assert low is not None and high is not None
    return high - low


def test_twins_that_are_apart_are_a_veto_and_stand_for_each_other_no_more() -> None:
    planned = plan()
    made = records(planned, 0.0)
    for i, record in enumerate(made):
        if record.deployment == "twin":
            made[i] = fewer(record, 0.9)
    found = answer(judged(planned, made), "RQ1")
    assert found.apart is not None and 0.09 < found.apart < 0.12
    assert MEAN_OF_TWINS not in found.difference.method
    assert found.verdict is Verdict.INCONCLUSIVE  # docker is native's equal, but who could tell
    assert found.apart and not found.withheld


def fewer(record: Record, share: float) -> Record:
    """The same run with a part of its operations."""
    assert record.measurement is not None
    slow = record.measurement.operations["all"]
    slow = slow.model_copy(update={"count": round(slow.count * share)})
    seen = record.measurement.model_copy(update={"operations": {"all": slow}, "windows": ()})
    return record.model_copy(update={"measurement": seen})


def test_where_no_question_is_meant_the_strictest_tolerance_on_the_metric_counts() -> None:
    asked = STUDY.questions["RQ1"]
    study = STUDY.model_copy(
        update={
            "questions": {
                "loose": asked.model_copy(update={"tolerance": 0.05}),
                "strict": asked.model_copy(update={"tolerance": 0.02}),
            }
        }
    )
    planned = plan()
    analysis = judged(planned, records(planned, 0.0), study=study)
    tolerances = {each.metric: each.tolerance for each in analysis.twin}
    assert (tolerances["throughput"], tolerances["service.p95"]) == (0.02, DEFAULT_TOLERANCE)
    assert answer(analysis, "loose").tolerance == 0.05


def test_identical_deployments_are_equivalent_and_the_twin_is_never_an_overhead() -> None:
    planned = plan()
    analysis = judged(planned, records(planned, 0.0))
    assert answer(analysis, "RQ1").verdict is Verdict.EQUIVALENT
    assert {c.metric for c in analysis.twin} >= set(HEADLINE)
    assert {c.verdict for c in analysis.twin} <= {Verdict.EQUIVALENT, Verdict.INCONCLUSIVE}
    assert all(c.question is None for c in analysis.twin)


def test_a_question_owns_its_comparison_and_the_rest_is_exploratory() -> None:
    planned = plan()
    found = {
        (c.deployment, c.metric): c.question
        for c in judged(planned, records(planned, 0.05)).comparisons
    }
    assert found["docker", "throughput"] == "RQ1"
    assert found["docker", "service.p95"] == "RQ2"
    assert found["docker", "cpu.database"] is None
    assert found["twin", "throughput"] is None
    assert not any(metric.startswith("response") for _, metric in found)


def test_the_same_result_gives_the_same_bytes_whatever_order_it_is_read_in() -> None:
    planned = plan()
    made, seen = records(planned, 0.05), stays(planned)
    one = judged(planned, made, seen).model_dump_json()
    other = judged(planned, made[::-1], seen[::-1]).model_dump_json()
    assert one == other
    assert Analysis.model_validate_json(one).model_dump_json() == one


def test_invalid_and_unknown_runs_are_counted_and_take_no_part() -> None:
    planned = plan(7)
    made = records(planned, 0.0)
    check = CheckResult(check="steal", status=Status.INVALID, why=Why.MEASURED)
    made[0] = made[0].model_copy(update={"status": Status.INVALID, "checks": (check,)})
    made[5] = made[5].model_copy(update={"status": Status.UNKNOWN})
    analysis = judged(planned, made[:-1])
    counts = (analysis.planned, analysis.valid, analysis.invalid, analysis.unknown)
    assert (*counts, analysis.missing) == (21, 18, 1, 1, 1)
    assert analysis.runs[0].checks == (check,)
    complete = {1, 2, 3, 4, 5, 6, 7} - {
        run.block for run in (made[0], made[5], made[-1]) if run.deployment != "twin"
    }
    assert analysis.answers[0].complete_blocks == len(complete)


@pytest.mark.parametrize("blocks", [1, 5])
def test_a_question_without_six_complete_blocks_has_no_interval(blocks: int) -> None:
    planned = plan(blocks)
    found = answer(judged(planned, records(planned, 0.10)), "RQ1")
    assert found.difference.low is None and found.difference.n == blocks
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.blocks_needed == 6
    assert found.ground is Ground.TOO_FEW_BLOCKS


def test_an_empty_result_is_all_missing() -> None:
    planned = plan()
    analysis = judged(planned, [], [])
    assert (analysis.missing, analysis.valid) == (24, 0)
    assert answer(analysis, "RQ1").difference.n == 0
    assert analysis.summaries == () and analysis.curves == () and analysis.parity.compared == ()
    assert analysis.skipped == (Skipped(deployment="swarm", reason="no IPVS"),)


def test_without_a_twin_nothing_is_claimed() -> None:
    lone = plan(deployments=(DEPLOYMENTS[0], DEPLOYMENTS[2]))
    found = answer(judged(lone, records(lone, 0.10)), "RQ1")
    assert found.apart is None
    assert found.verdict is Verdict.INCONCLUSIVE


def test_a_stay_that_ran_something_else_is_invalid_and_says_so() -> None:
    planned = plan()
    seen = [
        other.model_copy(update={"processes": (process(executable_sha256="f" * 64),)})
        if other.stay == "b3-docker"
        else other
        for other in stays(planned)
    ]
    analysis = judged(planned, records(planned, 0.0), seen)
    assert analysis.invalid == 1
    (invalid,) = [run for run in analysis.runs if run.status == Status.INVALID]
    (wrong,) = invalid.differences
    assert (invalid.stay, wrong.aspect) == ("b3-docker", Aspect.EXECUTABLE)
    assert analysis.answers[0].complete_blocks == 7
    assert wrong in [found.difference for found in analysis.parity.differences]
    assert wrong in analysis.answers[0].differences["docker"]


def test_a_stay_of_which_something_could_not_be_read_is_unknown_and_the_answer_says_so() -> None:
    planned = plan()
    silent = process(absent={"virtual machine": "it does not answer"})
    seen = [
        other.model_copy(update={"processes": (silent,)}) if other.block == 3 else other
        for other in stays(planned)
    ]
    analysis = judged(planned, records(planned, 0.0), seen)
    unknown = [run for run in analysis.runs if run.status == Status.UNKNOWN]
    assert {run.stay for run in unknown} == {"b3-twin", "b3-docker"}
    assert {run.differences[-1].cause for run in unknown} == {Cause.UNKNOWN}
    assert (analysis.invalid, analysis.answers[0].complete_blocks) == (0, 7)
    (found,) = analysis.answers[0].differences["docker"]
    assert (found.name, found.deployment) == ("virtual machine", "it does not answer")


def test_a_question_prints_the_factors_in_which_its_sides_differ() -> None:
    planned = plan()
    analysis = judged(planned, records(planned, 0.0))
    assert analysis.answers[0].factors == {
        "docker": (Factor(key="platform", baseline="native", deployment="docker"),)
    }
    assert analysis.parity.compared == ("native", "twin", "docker")
    assert analysis.parity.differences == ()


def test_what_cannot_be_avoided_is_listed_once_and_breaks_no_run() -> None:
    planned = plan()
    limits = {"open files": "20000:20000", "capabilities": "0f", "memory_limit": "512"}
    seen = [
        other.model_copy(update={"processes": (process(limits=limits),)})
        if other.deployment == "docker"
        else other
        for other in stays(planned)
    ]
    analysis = judged(planned, records(planned, 0.0), seen)
    assert analysis.invalid == 0
    (found,) = analysis.parity.differences
    assert (found.deployment, found.difference.comes_with) == ("docker", "platform")


def test_summaries_curves_shares_and_order_cover_every_deployment() -> None:
    planned = plan()
    analysis = judged(planned, records(planned, 0.0))
    names = {made.name for made in DEPLOYMENTS}
    assert {c.deployment for c in analysis.curves} == names
    assert {c.count for c in analysis.curves} == {16}
    assert {s.deployment for s in analysis.shares} == names
    assert {s.deployment for s in analysis.summaries if s.metric == "throughput"} == names
    assert {s.estimate.unit for s in analysis.summaries if s.metric == "service.p95"} == {"s"}
    assert [o.metric for o in analysis.order] == list(HEADLINE)


def test_a_run_says_how_much_a_declared_slowdown_really_held_it() -> None:
    planned = plan(1)
    made = records(planned, 0.0)
    made[0] = made[0].model_copy(update={"paused": 0.051})
    assert [run.paused for run in judged(planned, made).runs] == [0.051, None, None]


def test_the_baseline_is_the_first_questions_then_the_twins_original_then_the_first() -> None:
    planned = plan(1)
    asked = STUDY.questions["RQ1"]
    docker = asked.model_copy(update={"baseline": "docker", "against": ("native",)})
    assert reference(STUDY.model_copy(update={"questions": {"RQ1": docker}}), planned) == "docker"
    twin = asked.model_copy(update={"baseline": "native-twin"})
    assert reference(STUDY.model_copy(update={"questions": {"RQ1": twin}}), planned) == "native"
    assert reference(STUDY.model_copy(update={"questions": {}}), planned) == "native"
    lone = planned.model_copy(update={"deployments": (deployment("docker", platform="docker"),)})
    assert reference(STUDY, lone) == "docker"


def odd_docker(*without: str) -> list[StayRecord]:
    """Stays of a plan in which docker's of block 3 ran as somebody else; some are missing."""
    return [
        other.model_copy(update={"processes": (process(user="9:9"),)})
        if other.stay == "b3-docker"
        else other
        for other in stays(plan())
        if other.stay not in without
    ]


def differing(analysis: Analysis) -> list[tuple[str, str, str | None, str | None]]:
    return [
        (found.deployment, found.baseline, found.difference.baseline, found.difference.deployment)
        for found in analysis.parity.differences
    ]


def test_a_stay_in_a_block_without_the_baseline_is_held_against_its_nearest() -> None:
    planned = plan()
    analysis = judged(planned, records(planned, 0.0), odd_docker("b3-native"))
    assert [run.stay for run in analysis.runs if run.status == Status.INVALID] == ["b3-docker"]
    assert differing(analysis) == [("docker", "native", "0:0", "9:9")]


def test_a_question_checks_its_own_pair() -> None:
    planned = plan()
    asked = STUDY.questions["RQ1"].model_copy(update={"baseline": "twin"})
    questions = {"RQ2": STUDY.questions["RQ2"], "RQ1": asked}
    study = STUDY.model_copy(update={"questions": questions})
    without = tuple(f"b{block}-native" for block in range(1, 9))
    analysis = judged(planned, records(planned, 0.0), odd_docker(*without), study)
    assert [run.stay for run in analysis.runs if run.status == Status.INVALID] == ["b3-docker"]
    assert analysis.parity.compared == ("twin", "docker")
    assert differing(analysis) == [("docker", "twin", "0:0", "9:9")]


def overloaded(planned: Plan, deployment: str = "docker") -> list[Record]:
    """Records of which one deployment's first run was over capacity."""
    first = next(run.id for run in planned.runs() if run.deployment == deployment)
    made = []
    for record in records(planned, 0.05):
        assert record.measurement is not None
        # The made-up time line holds fewer operations than the made-up counts say.
        seen = record.measurement.model_copy(update={"windows": ()})
        changed = {"over_capacity": True, "measurement": seen} if record.run == first else {}
        made.append(record.model_copy(update=changed))
    return made


@pytest.mark.parametrize("side", ["docker", "native"])
def test_over_capacity_throughput_is_compared_and_latency_is_not(side: str) -> None:
    planned = plan()
    analysis = judged(planned, overloaded(planned, side))
    assert analysis.valid == analysis.planned
    assert answer(analysis, "RQ1").verdict is Verdict.OVERHEAD
    latency = answer(analysis, "RQ2")
    assert latency.verdict is Verdict.INCONCLUSIVE
    (over,) = latency.overloads
    assert (latency.ground, over.deployment, over.over, over.runs) == (
        Ground.OVERLOADED,
        side,
        1,
        8,
    )
    assert (latency.difference.n, latency.difference.low) == (0, None)
    assert [each.deployment for each in analysis.latency if each.deployment == "docker"] == []
    shown = next(run for run in analysis.runs if run.over_capacity)
    assert "service.p95" in shown.values


def test_a_twin_over_capacity_tells_nothing_of_latencies_and_the_reason_says_so() -> None:
    planned = plan()
    analysis = judged(planned, overloaded(planned, "twin"))
    assert answer(analysis, "RQ1").apart is not None
    latency = answer(analysis, "RQ2")
    assert latency.difference.low is not None
    assert (latency.apart, latency.blocks_needed) == (None, None)
    assert latency.verdict is Verdict.INCONCLUSIVE
    (over,) = latency.overloads
    assert (latency.ground, over.deployment, over.over) == (Ground.TWINS_OVERLOADED, "twin", 1)


def test_latencies_of_what_was_over_capacity_are_not_summed_up() -> None:
    planned = plan()
    analysis = judged(planned, overloaded(planned))
    known = {(each.deployment, each.metric) for each in analysis.summaries}
    assert ("docker", "throughput") in known
    assert ("native", "service.p95") in known
    assert ("docker", "service.p95") not in known
    splits = {each.metric: each for each in judged(planned, overloaded(planned, "twin")).variance}
    assert splits["throughput"].blocks == 8
    assert splits["service.p95"].blocks == 0 and splits["service.p95"].parts == ()


@pytest.mark.parametrize(("baseline", "other"), [("native", "twin"), ("twin", "native")])
def test_a_question_about_the_twins_can_fail(baseline: str, other: str) -> None:
    planned = plan()
    made = records(planned, 0.0)
    for i, record in enumerate(made):
        if record.deployment == "twin":
            made[i] = fewer(record, 0.9)
    asked = STUDY.questions["RQ1"].model_copy(update={"baseline": baseline, "against": (other,)})
    study = STUDY.model_copy(update={"questions": {"RQ1": asked}})
    found = answer(judged(planned, made, study=study), "RQ1")
    assert found.verdict is (Verdict.OVERHEAD if other == "twin" else Verdict.GAIN)
    assert found.twins
