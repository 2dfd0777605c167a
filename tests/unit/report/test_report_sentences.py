"""Sentences claim what the verdict allows and nothing more."""

import pytest

from dunnage.findings.differences import sentences
from dunnage.findings.study import sentences as about
from dunnage.model.analysis import Comparison, Ground, Verdict
from dunnage.model.estimate import Estimate
from dunnage.model.level import Level
from dunnage.wording import terms
from report_samples import sample


def comparison(
    verdict: Verdict,
    value: float,
    metric: str = "throughput",
    low: float | None = -0.128,
    high: float | None = -0.091,
    needed: int | None = None,
    workload: str = "A",
) -> Comparison:
    return Comparison(
        question="RQ1",
        deployment="docker-bridge",
        baseline="native",
        metric=metric,
        workload=workload,
        level="t32",
        difference=Estimate(value=value, low=low, high=high, n=6, unit="1", method="t"),
        primary=True,
        by_block=(),
        family=2,
        hodges_lehmann=None,
        apart=0.0,
        tolerance=0.03,
        verdict=verdict,
        blocks_needed=needed,
        detectable=None,
        ground=Ground.ACROSS,
    )


BRIDGE = "Docker with a bridge network"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            comparison(Verdict.OVERHEAD, -0.11),
            "Docker with a bridge network costs Redis 11.0 % of throughput.",
        ),
        (
            comparison(Verdict.GAIN, 0.04),
            "Docker with a bridge network gives Redis 4.0 % more throughput.",
        ),
        (
            comparison(Verdict.OVERHEAD, 0.132, "service.p95"),
            "Docker with a bridge network raises the service time (p95) of Redis by 13.2 %.",
        ),
        (
            comparison(Verdict.GAIN, -0.05, "service.p95"),
            "Docker with a bridge network lowers the service time (p95) of Redis by 5.0 %.",
        ),
        (
            comparison(Verdict.OVERHEAD, 0.22, "cpu.database"),
            "Docker with a bridge network raises the CPU per operation (database hosts) of Redis "
            "by 22.0 %.",
        ),
        (
            comparison(Verdict.EQUIVALENT, -0.004),
            "Docker with a bridge network leaves the throughput of Redis as it is, within ±3 %.",
        ),
        (
            comparison(Verdict.INCONCLUSIVE, -0.02, low=-0.0401, high=0.01),
            "Docker with a bridge network costs Redis at most 4.1 % of throughput, perhaps "
            "nothing.",
        ),
        (
            comparison(Verdict.INCONCLUSIVE, -0.04, low=-0.07, high=-0.01),
            "Docker with a bridge network costs Redis 1.0 to 7.0 % of throughput.",
        ),
        (
            comparison(Verdict.INCONCLUSIVE, 0.02, low=0.01, high=0.05),
            "Docker with a bridge network gives Redis 1.0 to 5.0 % more throughput.",
        ),
        (
            comparison(Verdict.INCONCLUSIVE, 0.02, "service.p95", low=-0.01, high=0.05),
            "Docker with a bridge network raises the service time (p95) of Redis by at most 5.0 %, "
            "perhaps not at all.",
        ),
        (
            comparison(Verdict.INCONCLUSIVE, -0.02, "service.p95", low=-0.05, high=-0.01),
            "Docker with a bridge network lowers the service time (p95) of Redis by 1.0 to 5.0 %.",
        ),
        (
            comparison(Verdict.INCONCLUSIVE, -0.02, low=None, high=None),
            "What Docker with a bridge network costs Redis in throughput is not known yet.",
        ),
    ],
)
def test_each_verdict_has_its_own_careful_wording(found: Comparison, said: str) -> None:
    assert sentences.sentence([found], BRIDGE, "Redis") == said


def test_alike_verdicts_under_several_workloads_are_one_sentence_with_a_range() -> None:
    alike = [
        comparison(Verdict.OVERHEAD, -0.11),
        comparison(Verdict.OVERHEAD, -0.092, workload="C"),
    ]
    said = sentences.sentence(alike, BRIDGE, "Redis")
    assert said == "Docker with a bridge network costs Redis 9.2 to 11.0 % of throughput."


def test_the_evidence_names_values_interval_and_blocks() -> None:
    was = comparison(Verdict.GAIN, 0.0).difference.model_copy(update={"value": 40_000.0})
    reached = {("native", "A", "t32", "throughput"): was}
    found = comparison(Verdict.OVERHEAD, -0.11)
    seen = "11.0 % less, 95 % interval 9.1 to 12.8 % less, over 6 blocks"
    assert sentences.evidence(found, {}) == seen
    assert sentences.evidence(found, reached) == f"40,000 op/s becomes 35,600 op/s: {seen}"
    aside = found.model_copy(update={"primary": False, "apart": 0.0129})
    differ = "two identical deployments differ by 1.2 % at least"
    assert sentences.evidence(aside, {}) == f"{seen}, secondary; {differ}"
    unknown = found.model_copy(update={"apart": None})
    assert sentences.evidence(unknown, {}).endswith(
        "how far two identical deployments differ is not known"
    )


def test_the_lead_says_settled_things_first_and_one_clause_for_each_deployment() -> None:
    made = sample()
    answer = made.analysis.answers[0]
    host = comparison(Verdict.INCONCLUSIVE, -0.01, low=-0.04, high=0.01).model_copy(
        update={"deployment": "docker-host"}
    )
    mixed = [
        comparison(Verdict.OVERHEAD, -0.11),
        comparison(Verdict.INCONCLUSIVE, -0.02, low=-0.05, high=-0.001, workload="C"),
    ]
    aside = comparison(Verdict.GAIN, 0.5, workload="F").model_copy(update={"primary": False})
    both = comparison(Verdict.OVERHEAD, -0.1, workload="C")

    def lead(*found: Comparison) -> str:
        seen = answer.model_copy(update={"comparisons": found})
        return sentences.lead(seen, made.study, made.plan)

    assert lead(host, mixed[0], both, aside) == (
        "Docker with a bridge network costs Redis 10.0 to 11.0 % of throughput; Docker with host "
        "networking costs Redis at most 4.0 % of throughput, perhaps nothing."
    )
    assert lead(*mixed) == "Docker with a bridge network costs Redis 0.1 to 12.8 % of throughput."
    kept = mixed[1].model_copy(update={"ground": Ground.TOO_FEW_TWINS, "twin_blocks": 4})
    assert lead(mixed[0], kept) == (
        "Docker with a bridge network costs Redis 11.0 % of throughput under workload "
        "A (32 threads), and nothing is claimed under workload C (32 threads)."
    )
    assert lead(kept) == (
        "What Docker with a bridge network costs Redis in throughput is not claimed: an interval "
        "needs 6 complete blocks of the twin: there are 4, 2 are missing."
    )
    assert lead(aside) == ""
    short = host.difference.model_copy(update={"low": None, "high": None, "n": 3})
    few = host.model_copy(update={"difference": short})
    assert lead(few) == "3 blocks so far: an answer needs 6."


def test_different_verdicts_of_one_deployment_are_told_apart_by_workload() -> None:
    made = sample()
    answer = made.analysis.answers[0].model_copy(
        update={
            "comparisons": (
                comparison(Verdict.OVERHEAD, -0.11),
                comparison(Verdict.EQUIVALENT, -0.001, workload="C"),
            )
        }
    )
    said = [claim.sentence for claim in sentences.claims(answer, made.study, made.plan, {})]
    assert said[0].endswith("of throughput under workload A (32 threads).")
    assert "as it is under workload C (32 threads), within ±3 %" in said[1]


def test_every_comparison_of_a_question_stands_behind_exactly_one_claim() -> None:
    made = sample()
    for answer in made.analysis.answers:
        claims = sentences.claims(answer, made.study, made.plan, {})
        assert sum(len(claim.evidence) for claim in claims) == len(answer.comparisons)


def test_a_deployment_is_called_by_what_it_is_only_where_that_is_unique() -> None:
    made = sample()
    names = about.subjects(made.plan)
    assert names["docker-host"] == "Docker with host networking"
    assert names["docker-noisy"] == "Docker with a bridge network and data inside the container"
    again = made.plan.deployment("docker-host").model_copy(update={"name": "docker-host-2"})
    plan = made.plan.model_copy(update={"deployments": (*made.plan.deployments, again)})
    assert about.subjects(plan)["docker-host"] == "docker-host"


def test_the_title_says_what_is_compared() -> None:
    made = sample()
    assert about.headline(made.study, made.plan) == "What Docker costs Redis"
    natively = tuple(found for found in made.plan.deployments if found.platform == "native")
    plan = made.plan.model_copy(update={"deployments": natively})
    assert about.headline(made.study, plan) == made.study.name


@pytest.mark.parametrize("key", ["slowdown", "loss"])
def test_what_is_slowed_down_is_never_called_by_its_platform(key: str) -> None:
    made = sample()
    slow = made.plan.deployment("docker-host").model_copy(update={key: 0.05})
    plan = made.plan.model_copy(update={"deployments": (slow,)})
    assert about.subjects(plan)["docker-host"] == "docker-host"


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ([Level(threads=40), Level(threads=5)], "5 and 40 threads"),
        ([Level(threads=1)], "1 thread"),
        ([Level(threads=2**n) for n in range(8)], "1 to 128 threads in 8 levels"),
        ([Level(rate=2000.0), Level(threads=8)], "8 threads and 2000 op/s"),
        ([Level(share=0.6, of="native", rate=812.0)], terms.level("s60")),
    ],
)
def test_levels_are_told_from_light_to_heavy(levels: list[Level], said: str) -> None:
    assert terms.levels(levels) == said


def test_the_setting_of_a_study_is_one_paragraph_for_a_newcomer() -> None:
    made = sample()
    assert about.setting(made.study, made.plan) == (
        "This study runs Redis in 5 ways, one of them twice to see how far identical deployments "
        "differ. In each of 8 rounds (blocks) each one is started, measured and stopped, "
        "in balanced random orders, under YCSB workloads A and C with 32 threads."
    )
