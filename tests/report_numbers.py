"""Runs of a made-up study, and what would be found in them."""

from __future__ import annotations

import math
import random
import statistics

import report_explanations as explanations
from dunnage.analysis.checks.finding import share
from dunnage.model.analysis import (
    Analysis,
    Comparison,
    Ground,
    LatencyCurve,
    OrderDiagnosis,
    Parity,
    QuestionAnswer,
    RunSummary,
    Share,
    Summary,
    Verdict,
)
from dunnage.model.check import CheckResult
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import HEADLINE, METRICS, Better
from dunnage.model.parity import Factor, FoundDifference
from dunnage.model.plan import Plan, Skipped
from dunnage.model.study import Study
from report_gates import CRASHED, OTHER_LIBRARY, spoilt_by
from report_study import EFFECTS

T95 = {6: 2.571, 7: 2.447, 8: 2.365}
"""Quantiles 0.975 of Student's t for this many blocks."""

BASE = {"throughput": 48_200.0, "service.p95": 0.001204, "cpu.database": 18.2e-6}


def _runs(plan: Plan) -> tuple[RunSummary, ...]:
    dice = random.Random(5)
    runs = []
    for plan_run in plan.runs():
        effect = EFFECTS[plan_run.deployment]
        drift = 1 + 0.0008 * plan_run.position + 0.01 * math.sin(plan_run.block * 2.1)
        scale = 1.35 if plan_run.workload.name == "C" else 1.0
        values = {
            metric: BASE[metric]
            * (1 + effect[place])
            * (drift * scale if metric == "throughput" else 1 / drift / scale)
            * (1 + dice.gauss(0, effect[3]))
            for place, metric in enumerate(HEADLINE)
        }
        values["cpu.client"] = 9.1e-6 * (1 + dice.gauss(0, 0.01))
        values["memory.database"] = 3 * 41.5 * 2**20
        status = "valid"
        failed: tuple[CheckResult, ...] = ()
        if plan_run.id.startswith("b02-docker-noisy"):
            status = "invalid"
            busy = share("busy", 0.98 + dice.random() / 50)
            failed = (spoilt_by("client", seen=(busy,), allowed=(share("busy", 0.98),)),)
        elif plan_run.id == "b03-docker-host-A-t32":
            status = "unknown"
            failed = (CRASHED,)
        runs.append(
            RunSummary(
                run=plan_run.id,
                stay=f"b{plan_run.block:02d}-{plan_run.deployment}",
                block=plan_run.block,
                deployment=plan_run.deployment,
                workload=plan_run.workload.name,
                level="t32",
                position=plan_run.position,
                status=status,
                values=values,
                checks=failed,
            )
        )
    return tuple(runs)


def _compare(
    runs: tuple[RunSummary, ...], deployment: str, workload: str, metric: str
) -> tuple[Estimate, float]:
    usable = {
        (run.block, run.deployment): run.values[metric]
        for run in runs
        if run.workload == workload and run.status == "valid"
    }
    logs = [
        math.log(value / usable[(block, "native")])
        for (block, name), value in usable.items()
        if name == deployment and (block, "native") in usable
    ]
    mean = statistics.fmean(logs)
    n = len(logs)
    spread = statistics.stdev(logs) if n > 1 else 0.0
    enough = n >= 6
    half = T95.get(n, 2.3) * spread / math.sqrt(n)
    return (
        Estimate(
            value=math.expm1(mean),
            low=math.expm1(mean - half) if enough else None,
            high=math.expm1(mean + half) if enough else None,
            n=n,
            unit="1",
            method="paired log ratios over blocks, Student's t",
        ),
        spread,
    )


def _judge(
    metric: str, estimate: Estimate, spread: float, apart: float | None, tolerance: float
) -> tuple[Verdict, int | None, Ground]:
    low, high = estimate.low, estimate.high
    if low is None or high is None or apart is None:
        return Verdict.INCONCLUSIVE, None, Ground.TOO_FEW_BLOCKS
    if max(abs(low), abs(high)) <= tolerance - apart:
        return Verdict.EQUIVALENT, None, Ground.INSIDE
    edge = tolerance + apart
    if low > edge or high < -edge:
        worse = (METRICS[metric].better is Better.HIGHER) == (high < 0)
        verdict = Verdict.OVERHEAD if worse else Verdict.GAIN
        return verdict, None, Ground.BEYOND
    distance = max(abs(abs(estimate.value) - edge), 0.002)
    needed = max(6, math.ceil(8 * (spread / distance) ** 2))
    return Verdict.INCONCLUSIVE, needed, Ground.ACROSS


def _comparison(
    runs: tuple[RunSummary, ...],
    question: str | None,
    deployment: str,
    workload: str,
    metric: str,
    tolerance: float,
) -> Comparison:
    estimate, spread = _compare(runs, deployment, workload, metric)
    twin, _ = _compare(runs, "native-twin", workload, metric)
    apart = None
    if twin.low is not None and twin.high is not None:
        apart = max(0.0, twin.low, -twin.high)
    verdict, needed, ground = _judge(metric, estimate, spread, apart, tolerance)
    return Comparison(
        question=question,
        primary=question is not None,
        family=2 if question is not None else 1,
        deployment=deployment,
        baseline="native",
        metric=metric,
        workload=workload,
        level="t32",
        difference=estimate,
        by_block=(estimate.value,) * estimate.n,
        hodges_lehmann=estimate.value * 0.98,
        apart=apart,
        tolerance=tolerance,
        verdict=verdict,
        blocks_needed=needed,
        detectable=2.8 * spread / math.sqrt(max(estimate.n, 1)),
        ground=ground,
    )


def analysis_of(study: Study, plan: Plan) -> Analysis:
    runs = _runs(plan)
    workloads = [workload.name for workload in study.workloads]
    answers = tuple(
        QuestionAnswer(
            question=name,
            comparisons=tuple(
                _comparison(runs, name, against, workload, question.metric, question.tolerance)
                for workload in workloads
                for against in question.against
            ),
            factors={
                against: tuple(
                    Factor(key=key, baseline=a, deployment=b)
                    for key, a, b, there in (
                        ("platform", "native", "docker", True),
                        ("network", "host", "bridge", "bridge" in against),
                        ("storage", "bind", "container", "noisy" in against),
                    )
                    if there
                )
                for against in question.against
            },
            differences={
                against: (OTHER_LIBRARY,) if against == "docker-noisy" else ()
                for against in question.against
            },
            complete_blocks=study.blocks - 1,
        )
        for name, question in study.questions.items()
    )
    names = [name for name in EFFECTS if name != "native"]
    costs = [(name, -effect[0]) for name, effect in EFFECTS.items() if name != "docker-noisy"]
    return Analysis(
        study=study.name,
        answers=answers,
        comparisons=tuple(
            _comparison(runs, None, name, workload, metric, 0.03)
            for workload in workloads
            for name in names
            if name != "native-twin"
            for metric in HEADLINE
        ),
        twin=tuple(
            _comparison(runs, None, "native-twin", workload, metric, 0.03)
            for workload in workloads
            for metric in HEADLINE
        ),
        summaries=_summaries(runs, workloads),
        order=tuple(
            OrderDiagnosis(
                metric=metric,
                workload=workload,
                level="t32",
                spearman=0.12,
                p=0.41,
                change_point=17 if metric == "throughput" and workload == "A" else None,
            )
            for workload in workloads
            for metric in HEADLINE
        ),
        runs=runs,
        curves=_curves(workloads),
        shares=_shares(workloads),
        parity=Parity(
            compared=("executable and mapped files", "arguments", "configuration", "limits"),
            reference="native",
            differences=(
                FoundDifference(
                    deployment="docker-noisy", baseline="native", difference=OTHER_LIBRARY
                ),
            ),
        ),
        planned=len(runs) + 1,
        valid=sum(1 for run in runs if run.status == "valid"),
        invalid=sum(1 for run in runs if run.status == "invalid"),
        unknown=sum(1 for run in runs if run.status == "unknown"),
        missing=1,
        environment={
            "kernel": "6.1.0-37-amd64",
            "processor": "AMD EPYC 7B13",
            "processors": 4,
            "memory": 16_777_216_000,
            "cgroup": "v2",
            "redis.version": "7.0.15",
            "accelerator": None,
            "turbo": False,
        },
        skipped=(Skipped(deployment="swarm", reason="IPVS is missing in this kernel"),),
        scalability=explanations.scalabilities(costs),
        over_levels=explanations.over_levels(costs[1:]),
        variance=explanations.variances(HEADLINE, workloads),
        advice=explanations.advices(
            (
                answer.question,
                len(answer.comparisons),
                sum(found.verdict is not Verdict.INCONCLUSIVE for found in answer.comparisons),
            )
            for answer in answers
        ),
        latency=explanations.latencies(names[1:], workloads),
        timelines=explanations.timelines(list(EFFECTS), workloads),
        associations=explanations.associations(names[1:]),
        absent=explanations.ABSENT,
        conditions=explanations.CONDITIONS,
        open_levels=explanations.open_levels(names[1:4]),
        searches=explanations.searches(names[1:4]),
        rungs=explanations.rungs(["native", *names[1:4]], workloads),
    )


def _summaries(runs: tuple[RunSummary, ...], workloads: list[str]) -> tuple[Summary, ...]:
    summaries = []
    for name in EFFECTS:
        for workload in workloads:
            for metric in HEADLINE:
                values = [
                    run.values[metric]
                    for run in runs
                    if (run.deployment, run.workload, run.status) == (name, workload, "valid")
                ]
                mean = statistics.fmean(values)
                half = 2.57 * statistics.pstdev(values) / math.sqrt(len(values))
                summaries.append(
                    Summary(
                        deployment=name,
                        workload=workload,
                        level="t32",
                        metric=metric,
                        estimate=Estimate(
                            value=mean,
                            low=mean - half if len(values) >= 6 else None,
                            high=mean + half if len(values) >= 6 else None,
                            n=len(values),
                            unit=METRICS[metric].unit,
                            method="mean over blocks",
                        ),
                    )
                )
    return tuple(summaries)


def _curves(workloads: list[str]) -> tuple[LatencyCurve, ...]:
    quantiles = (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999)
    return tuple(
        LatencyCurve(
            deployment=name,
            workload=workload,
            level="t32",
            kind="service",
            points=tuple(
                (q, 0.0004 * (1 + effect[1]) * (1 - q + 1e-6) ** -0.28 * (1 + 0.04 * place))
                for place, q in enumerate(quantiles)
            ),
            count=1_140_000,
        )
        for name, effect in EFFECTS.items()
        for workload in workloads
    )


def _shares(workloads: list[str]) -> tuple[Share, ...]:
    parts = {"server user": 7.4, "server system": 8.6, "daemons": 0.4, "other": 1.8, "client": 9.1}
    return tuple(
        Share(
            deployment=name,
            workload=workload,
            level="t32",
            part=part,
            seconds_per_operation=amount
            * 1e-6
            * (1 + effect[2])
            * (3.2 if part == "daemons" and "bridge" in name else 1),
        )
        for name, effect in EFFECTS.items()
        for workload in workloads
        for part, amount in parts.items()
        if not (part == "daemons" and name.startswith("native"))
    )
