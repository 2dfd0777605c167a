"""Two results of one study: comparable or not, and what changed between them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from analysis_cases import CLOSED, process
from analysis_study import STUDY, at_level, plan, records, stays

from dunnage.analysis.intervals import Paired
from dunnage.analysis.welch import welch
from dunnage.findings.analyse import analyse
from dunnage.findings.two_results.changes import AnalysedResult, compare
from dunnage.findings.two_results.comparable import Circumstances, driven, mismatches
from dunnage.findings.two_results.sentences import left_out, mismatch, not_known
from dunnage.model.between import ChangeGround, ChangeVerdict, ResultComparison
from dunnage.model.calibration import Calibration, Capacity
from dunnage.model.level import Level
from dunnage.model.load_spec import RateSpec
from dunnage.model.look import Look
from dunnage.model.metrics import METRICS
from dunnage.model.record import Record, StayRecord

ENVIRONMENT = {"kernel": "6.1", "dunnage.version": "0.1.0", "cpu.model": "x"}
RATES = (RateSpec(number=2000), RateSpec(share=0.6))
OTHER_LOAD = STUDY.load.model_copy(update={"rate": RATES})


def capacity(rate: float) -> Calibration:
    return Calibration(
        deployment="native", threads=8, capacities={"A": Capacity(throughput=rate, runs={})}
    )


def judged(
    overhead: float = 0.05,
    seed: int = 1,
    blocks: int = 8,
    slower: float = 1.0,
    looks: tuple[Look, ...] = (),
    level: Level = CLOSED,
    **changed: Any,
) -> AnalysedResult:
    """A result at one level; everything takes `slower` times as long in it."""
    planned = at_level(plan(blocks), level)
    made = [
        _slowed(record, slower).model_copy(update={"level": level})
        for record in records(planned, overhead, seed=seed)
    ]
    known: dict[str, Any] = {
        "study": STUDY,
        "plan": planned,
        "environment": ENVIRONMENT,
        "stays": stays(planned),
        "calibration": capacity(1000.0),
    }
    circumstances = Circumstances(**(known | changed))
    analysis = analyse(
        STUDY, planned, made, circumstances.stays, ENVIRONMENT, lambda _: None, looks=looks
    )
    return AnalysedResult(
        path=f"results/{seed}", circumstances=circumstances, analysis=analysis, records=made
    )


def _slowed(record: Record, factor: float) -> Record:
    measured = record.measurement
    assert measured is not None
    longer = measured.model_copy(update={"seconds": measured.seconds * factor})
    return record.model_copy(update={"measurement": longer})


def deciding(found: ResultComparison) -> dict[tuple[str, str], ChangeVerdict]:
    return {(c.deployment, c.metric): c.verdict for c in found.changes if c.gate}


def test_two_results_of_the_same_thing_are_comparable_and_show_no_regression() -> None:
    found = compare(judged(seed=1), judged(seed=2))
    assert found.comparable
    assert found.mismatches == ()
    assert set(deciding(found)) == {
        (name, metric)
        for name in ("native", "docker")
        for metric in ("throughput", "service.p95", "cpu.database")
    }
    assert ChangeVerdict.REGRESSION not in deciding(found).values()


def test_a_result_against_itself_changed_in_nothing() -> None:
    one = judged()
    for change in compare(one, one).changes:
        assert change.change.value == 0
        assert change.a == change.b


def test_a_slower_result_is_a_regression_of_every_deployment_and_of_no_overhead() -> None:
    found = compare(judged(seed=1), judged(seed=2, slower=2.0))
    verdicts = deciding(found)
    for name in ("native", "docker"):
        assert verdicts[name, "throughput"] is ChangeVerdict.REGRESSION
    (docker,) = [c for c in found.changes if (c.deployment, c.metric) == ("docker", "throughput")]
    assert docker.change.value == pytest.approx(-0.5, abs=0.05)
    assert docker.overhead is not None
    assert docker.overhead.value == pytest.approx(0, abs=0.01)


def test_a_faster_result_is_an_improvement_and_a_wider_tolerance_forgives() -> None:
    better = compare(judged(seed=1, slower=2.0), judged(seed=1))
    assert deciding(better)["native", "throughput"] is ChangeVerdict.IMPROVEMENT
    worse = judged(seed=1, slower=2.0)
    assert deciding(compare(judged(seed=1), worse))["native", "throughput"] is (
        ChangeVerdict.REGRESSION
    )
    forgiven = compare(judged(seed=1), worse, tolerance=0.9)
    assert ChangeVerdict.REGRESSION not in deciding(forgiven).values()


def test_too_few_blocks_decide_nothing_and_say_so() -> None:
    found = compare(judged(blocks=5), judged(blocks=5, slower=2.0))
    assert set(deciding(found).values()) == {ChangeVerdict.INCONCLUSIVE}
    assert all(change.ground is ChangeGround.TOO_FEW_BLOCKS for change in found.changes)


def test_without_a_twin_in_both_results_there_is_no_verdict() -> None:
    one, other = judged(), judged(seed=2, slower=2.0)
    lacking = replace(other, analysis=other.analysis.model_copy(update={"twin": ()}))
    for found in (compare(one, lacking), compare(lacking, one)):
        assert set(deciding(found).values()) == {ChangeVerdict.INCONCLUSIVE}
        assert {change.bound for change in found.changes} == {None}
        assert all(c.ground is ChangeGround.NO_BOUND for c in found.changes if c.gate)


def test_a_metric_that_a_question_names_is_not_left_out_silently() -> None:
    asked = {"Q": next(iter(STUDY.questions.values())).model_copy(update={"metric": "service.p99"})}
    study = STUDY.model_copy(update={"questions": asked})
    found = compare(judged(study=study), overloaded(judged(seed=2, study=study), "docker"))
    assert "docker, service.p99, A, t8: over capacity in the second result" in map(
        left_out, found.left_out
    )


def test_metrics_of_which_a_ratio_says_nothing_are_not_compared() -> None:
    def offering(one: AnalysedResult) -> AnalysedResult:
        """A result that tells its offered rate in every run, as those of an open load do."""
        first, *_ = one.analysis.summaries
        more = tuple(first.model_copy(update={"metric": name}) for name in ("offered", "achieved"))
        runs = tuple(
            run.model_copy(update={"values": {**run.values, "offered": 1.0, "achieved": 1.0}})
            for run in one.analysis.runs
        )
        summaries = (*one.analysis.summaries, *more)
        told = one.analysis.model_copy(update={"summaries": summaries, "runs": runs})
        return replace(one, analysis=told)

    found = compare(offering(judged()), offering(judged(seed=2)))
    assert found.changes == compare(judged(), judged(seed=2)).changes
    assert found.left_out == ()


def test_looks_at_either_result_widen_the_intervals() -> None:
    seen = (Look(time=0.0, plan=2, complete=6, planned=6, added=2),)
    plain, looked = compare(judged(), judged(seed=2)), compare(judged(looks=seen), judged(seed=2))
    for one, other in zip(plain.changes, looked.changes, strict=True):
        assert one.change.low is not None and other.change.low is not None
        assert other.change.low < one.change.low or one.change.low == one.change.high
        assert other.change.level == pytest.approx(0.9875)
        if one.overhead is not None and other.overhead is not None:
            assert other.overhead.level == pytest.approx(0.9875)
            assert one.overhead.low is not None and other.overhead.low is not None
            assert other.overhead.low < one.overhead.low


def overloaded(one: AnalysedResult, deployment: str) -> AnalysedResult:
    """The result with a deployment over capacity, and so without means of its latencies."""
    runs = tuple(
        run.model_copy(update={"over_capacity": run.deployment == deployment})
        for run in one.analysis.runs
    )
    means = tuple(
        summary
        for summary in one.analysis.summaries
        if not (summary.deployment == deployment and METRICS[summary.metric].latency)
    )
    analysis = one.analysis.model_copy(update={"runs": runs, "summaries": means})
    return replace(one, analysis=analysis)


def test_latencies_over_capacity_are_left_out_and_said_and_throughput_is_compared() -> None:
    found = compare(judged(), overloaded(judged(seed=2, slower=2.0), "docker"))
    verdicts = deciding(found)
    assert ("docker", "service.p95") not in verdicts
    assert verdicts["docker", "throughput"] is ChangeVerdict.REGRESSION
    assert ("native", "service.p95") in verdicts
    (told,) = map(left_out, found.left_out)
    assert told == "docker, service.p95, A, t8: over capacity in the second result"


def test_what_was_over_capacity_in_both_results_is_said_as_well() -> None:
    both = (overloaded(judged(seed=seed), "docker") for seed in (1, 2))
    (told,) = map(left_out, compare(*both).left_out)
    assert told == "docker, service.p95, A, t8: over capacity in the first and the second result"


def test_an_overhead_of_latency_is_not_told_where_the_baseline_was_over_capacity() -> None:
    def overheads(found: ResultComparison) -> dict[str, bool]:
        docker = [change for change in found.changes if change.deployment == "docker"]
        return {change.metric: change.overhead is not None for change in docker if change.gate}

    both = overheads(compare(judged(), judged(seed=2)))
    assert both == {"throughput": True, "service.p95": True, "cpu.database": True}
    lost = overheads(compare(judged(), overloaded(judged(seed=2), "native")))
    assert lost == both | {"service.p95": False}


def test_what_only_one_result_has_is_said() -> None:
    other = judged(seed=2)
    fewer = tuple(s for s in other.analysis.summaries if s.metric != "cpu.database")
    lacking = replace(other, analysis=other.analysis.model_copy(update={"summaries": fewer}))
    found = compare(judged(), lacking)
    assert [each.deployment for each in found.left_out] == ["native", "docker"]
    assert left_out(found.left_out[0]).endswith("the second result has no value")


def differing(**changed: Any) -> list[tuple[str, str]]:
    a, b = judged().circumstances, judged(seed=2, **changed).circumstances
    return [
        (found.kind, mismatch(found).removeprefix(f"{found.kind}: ")) for found in mismatches(a, b)
    ]


def processes(**changed: Any) -> list[StayRecord]:
    return [each.model_copy(update={"processes": (process(**changed),)}) for each in stays(plan())]


def test_name_seed_and_number_of_blocks_may_differ() -> None:
    other = STUDY.model_copy(update={"name": "another", "seed": 9, "blocks": 60, "spare": 2})
    assert differing(study=other, plan=plan(60)) == []


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"study": STUDY.model_copy(update={"records": 5})},
            ("study", "records: 10000 → 5"),
        ),
        (
            {"study": STUDY.model_copy(update={"load": OTHER_LOAD})},
            ("study", "rate of the load: none → 2000 op/s, 60.0 % of the capacity"),
        ),
        (
            {"environment": ENVIRONMENT | {"kernel": "6.2"}},
            ("environment", "kernel: 6.1 → 6.2"),
        ),
        (
            {"environment": ENVIRONMENT | {"cpu.accelerator": "TCG"}},
            ("environment", "cpu.accelerator: - → TCG"),
        ),
        (
            {"environment": {"kernel": "6.1", "cpu.model": "x"}},
            ("environment", "dunnage.version: 0.1.0 → -"),
        ),
        (
            {"stays": [s.model_copy(update={"network": {"driver": "x"}}) for s in stays(plan())]},
            ("network", "docker, native, twin: driver: - → x"),
        ),
        (
            {"stays": processes(user="1000:1000")},
            ("process", "docker, native, twin: primary: user of the process: 0:0 → 1000:1000"),
        ),
    ],
)
def test_a_fact_that_differs_is_named(changed: dict[str, Any], told: tuple[str, str]) -> None:
    assert differing(**changed) == [told]


def networked(facts: dict[str, str]) -> AnalysedResult:
    """A result whose networks have these facts, and a driver."""
    network = {"driver": "veth", "mtu": "1500", **facts}
    return judged(stays=[each.model_copy(update={"network": network}) for each in stays(plan())])


def test_a_fact_of_a_network_that_a_result_lacks_is_told_and_is_no_difference() -> None:
    one, other = networked({"conntrack": "tracked"}), networked({})
    for found in (compare(one, other), compare(other, one)):
        assert found.comparable
        assert found.unread == ("conntrack",)
        (told,) = not_known(found)
        assert told.endswith("as a result lacks them: conntrack")


def test_another_executable_is_named_by_its_hash() -> None:
    ((kind, text),) = differing(stays=processes(executable_sha256="f" * 64))
    assert kind == "process"
    assert "another executable" in text
    assert "ffffffffffff" in text


def test_a_deployment_that_one_result_lacks_is_named() -> None:
    short = plan().model_copy(update={"deployments": plan().deployments[:2]})
    assert ("deployment", "docker: measured in the first result only") in differing(plan=short)


def test_what_a_lab_is_called_is_no_difference() -> None:
    def home(lab: str) -> list[StayRecord]:
        path = f"/var/lib/dunnage/labs/{lab}/db-1/members/redis-1/home/redis.conf"
        return processes(
            argv=("redis-server", path), files={path: f"dir {path.rpartition('/')[0]}\n"}
        )

    a = judged(stays=home("0123abcd")).circumstances
    assert mismatches(a, judged(stays=home("deadbeef")).circumstances) == ()


def archived(digest: str) -> list[StayRecord]:
    tree = "/run/dunnage/software/cassandra-5.0-0123456789ab/lib"
    return processes(mapped={f"{tree}/server.jar": "a" * 64, f"{tree}/cassandra.jsa": digest})


def test_a_class_data_archive_that_another_cache_made_is_no_difference_but_none_is() -> None:
    one = judged(stays=archived("b" * 64)).circumstances
    assert mismatches(one, judged(stays=archived("c" * 64)).circumstances) == ()
    jar_alone = {"/run/dunnage/software/cassandra-5.0-0123456789ab/lib/server.jar": "a" * 64}
    (found,) = mismatches(one, judged(stays=processes(mapped=jar_alone)).circumstances)
    assert "cassandra.jsa: an archive → -" in mismatch(found)


def test_what_differs_is_compared_only_when_somebody_asks_for_it_anyway() -> None:
    other = judged(seed=2, environment=ENVIRONMENT | {"kernel": "6.2"})
    refused = compare(judged(), other)
    assert not refused.comparable
    assert refused.changes == ()
    asked = compare(judged(), other, anyway=True)
    assert not asked.comparable
    assert asked.mismatches == refused.mismatches
    assert asked.changes


def test_welch_covers_the_true_change_of_results_with_unequal_noise() -> None:
    chance = np.random.default_rng(8)
    held, simulations = 0, 2000
    for _ in range(simulations):
        a = Paired(tuple(chance.normal(0, 0.02, 6).tolist()))
        b = Paired(tuple(chance.normal(math.log(1.04), 0.06, 10).tolist()))
        change = welch(a, b, family=1, what="block values")
        assert change.low is not None and change.high is not None
        held += change.low <= 0.04 <= change.high
    assert 0.92 <= held / simulations <= 0.98


SHARE = Level(share=0.7, of="native", rate=700.0)


def test_nothing_is_compared_at_shares_that_are_not_the_same_rate() -> None:
    found = compare(judged(level=SHARE), judged(seed=2, level=SHARE, calibration=capacity(1030.0)))
    assert found.comparable and found.mismatches == ()
    assert found.changes == ()
    (told,) = map(left_out, found.left_out)
    assert told.startswith("A, s70: not the same load")
    assert "700 and 721 op/s" in told
    assert "--rates-of" in told


def test_at_the_same_rates_and_at_levels_that_are_no_share_everything_is_compared() -> None:
    alike = compare(judged(level=SHARE), judged(seed=2, level=SHARE))
    closed = compare(judged(), judged(seed=2, calibration=capacity(1030.0)))
    for found in (alike, closed):
        assert found.comparable and found.left_out == ()
        deciding = {change.deployment for change in found.changes if change.gate}
        assert deciding == {"native", "docker"}


def told(record: Record, **facts: object) -> Record:
    """The record with what its generator told."""
    assert record.measurement is not None
    measured = record.measurement.model_copy(update=facts)
    return record.model_copy(update={"measurement": measured})


def test_records_kept_in_another_shape_are_not_compared() -> None:
    made = records(plan(2), 0.0, seed=1)
    levels = {"read": "primary"}
    hashes = driven([told(each, shape="hash", consistency=levels) for each in made])
    strings = driven([told(each, shape="string", consistency=levels) for each in made])
    assert hashes == {"consistency of a read": "primary", "encryption": "none", "shape": "hash"}
    found = compare(judged(driven=hashes), judged(seed=2, driven=strings))
    assert not found.comparable
    assert [mismatch(each) for each in found.mismatches] == ["load: shape: hash → string"]
    assert compare(judged(driven=hashes), judged(seed=2, driven=hashes)).comparable


def test_records_that_do_not_tell_their_shape_are_compared() -> None:
    hashes = driven([told(each, shape="hash") for each in records(plan(2), 0.0, seed=1)])
    assert driven(records(plan(2), 0.0, seed=1)) == {}
    assert compare(judged(driven={}), judged(seed=2, driven=hashes)).comparable
