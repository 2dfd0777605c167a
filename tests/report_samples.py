"""A made-up study with everything that a report may have to say; the same one at every call."""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import dataclass
from enum import Enum
from typing import Any

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
from dunnage.model.check import CheckResult, Reading, Status, Why
from dunnage.model.choices import ClientPlace, Peers, Phase, Storage
from dunnage.model.deployment import Deployment, PartNames, Workload
from dunnage.model.estimate import Estimate
from dunnage.model.level import Level
from dunnage.model.metrics import HEADLINE, METRICS, Better
from dunnage.model.parity import Aspect, Cause, Difference, Factor, FoundDifference
from dunnage.model.plan import Block, Plan, RunPlan, Skipped, StayPlan
from dunnage.model.record import ProcessFacts, StayRecord
from dunnage.model.study import DatabaseSpec, Limits, Study
from report_paths import paths

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>&\"'"
"""What a name must never be able to do."""
HOSTILE_ERROR = "server said: [red]\x1b[31m<b>& \"quoted\" 'too'</b>\u202e {{ 7 * 7 }} </style>"

T95 = {6: 2.571, 7: 2.447, 8: 2.365}
"""Quantiles 0.975 of Student's t for this many blocks."""

BASE = {"throughput": 48_200.0, "service.p95": 0.001204, "cpu.database": 18.2e-6}
OTHER_LIBRARY = Difference(
    roles=("primary", "replica"),
    aspect=Aspect.MAPPED,
    name="/usr/lib/libc.so.6",
    baseline="3f9a01c2d4e5",
    deployment="b07e44a1f233",
    cause=Cause.UNDECLARED,
)
CRASHED = CheckResult(
    check="steal",
    status=Status.UNKNOWN,
    why=Why.CRASHED,
    seen=(Reading(what="error", value="ZeroDivisionError('by accident')"),),
)


def spoilt_by(
    gate: str, seen: tuple[Reading, ...] = (), allowed: tuple[Reading, ...] = ()
) -> CheckResult:
    return CheckResult(
        check=gate, status=Status.INVALID, why=Why.MEASURED, seen=seen, allowed=allowed
    )


def unseen_by(gate: str) -> CheckResult:
    """A gate that could not judge what nobody sees."""
    seen = (Reading(what="reason", value="it runs elsewhere"),)
    return CheckResult(check=gate, status=Status.UNKNOWN, why=Why.UNSEEN, seen=seen)


PHRASES = {
    "host": "with host networking",
    "bridge": "with a bridge network",
    "user-defined": "with a user-defined network",
}
EFFECTS = {
    "native": (0.0, 0.0, 0.0, 0.004),
    "native-twin": (0.001, -0.002, 0.0, 0.004),
    "docker-host": (-0.004, 0.005, 0.011, 0.006),
    "docker-bridge": (-0.11, 0.132, 0.221, 0.008),
    "docker-tuned": (0.064, -0.05, -0.041, 0.007),
    "docker-noisy": (-0.025, 0.03, 0.028, 0.021),
}
"""Deployment → true effect on each headline metric, and the noise of a run."""


@dataclass(frozen=True)
class Sample:
    """What the writers of a report are given."""

    study: Study
    plan: Plan
    analysis: Analysis
    stays: tuple[StayRecord, ...]
    source: str


def sample(blocks: int = 8, hostile: bool = False) -> Sample:
    """The study over this many blocks; `hostile` puts markup into every free text."""
    study, source = _study(blocks)
    plan = _plan(study)
    analysis = _analysis(study, plan)
    stays = _stays(plan)
    if hostile:
        analysis = Analysis.model_validate(_renamed(analysis.model_dump()))
        plan = Plan.model_validate(_renamed(plan.model_dump()))
        stays = tuple(StayRecord.model_validate(_renamed(stay.model_dump())) for stay in stays)
        source = source + "# " + HOSTILE + "\n"
    return Sample(study, plan, analysis, stays, source)


def poisoned(payload: str) -> Sample:
    """The study with `payload` as the name of a deployment and in every text from outside.

    Those are what servers, kernels, tools and users say: facts, settings, arguments, addresses,
    reasons, differences, sentences made of them.
    """
    made = sample()
    return Sample(
        study=made.study,
        plan=Plan.model_validate(_poisoned(made.plan.model_dump(), payload)),
        analysis=Analysis.model_validate(_poisoned(made.analysis.model_dump(), payload)),
        stays=tuple(
            StayRecord.model_validate(_poisoned(stay.model_dump(), payload)) for stay in made.stays
        ),
        source=f"{made.source}# {payload}\n",
    )


_FROM_OUTSIDE = {"reason", "reasons", "sentence", "better", "skipped", "differences", "factors"} | {
    *("compared", "absent", "refused", "notes", "environment", "left_out", "title", "facts"),
    *("network", "endpoint", "argv", "role", "member", "parity", "seen", "allowed"),
}
_OURS = {"what", "unit"}
"""Words of our own below them."""
_NAMED_BY_OTHERS = {"facts", "environment", "left_out"}
"""Mappings of which the keys come from outside too."""


def _poisoned(value: Any, payload: str, key: str = "", *, outside: bool = False) -> Any:
    if isinstance(value, Enum):  # a word of ours
        return value
    if isinstance(value, str):
        return payload if value == "docker-bridge" else value + payload * outside
    if isinstance(value, dict):
        theirs = {name: outside or name in _FROM_OUTSIDE for name in value}
        return {
            _poisoned(name, payload, outside=key in _NAMED_BY_OTHERS): _poisoned(
                item, payload, name, outside=theirs[name] and name not in _OURS
            )
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return tuple(_poisoned(item, payload, outside=outside) for item in value)
    return value


def nothing_measured() -> Analysis:
    """A study of which no run was ever finished."""
    return Analysis(
        study="empty",
        answers=(),
        comparisons=(),
        twin=(),
        summaries=(),
        order=(),
        runs=(),
        curves=(),
        shares=(),
        parity=Parity(compared=(), reference="native", differences=()),
        planned=60,
        valid=0,
        invalid=0,
        unknown=0,
        missing=60,
        environment={},
        skipped=(Skipped(deployment="docker-bridge", reason="no dockerd could be found"),),
    )


def _study(blocks: int) -> tuple[Study, str]:
    source = f"""dunnage: 1
name: what-docker-costs-redis
testbed: {{kind: namespace, hosts: {{db: 3, client: 1}}}}
database: {{kind: redis, topology: primary-replicas, members: 3}}
deployments:
  native: {{platform: native}}
  docker-host: {{platform: docker, network: host}}
  docker-bridge: {{platform: docker, network: bridge, endpoint: host-port}}
workloads: [A, C]
load: {{threads: [32], duration: 4s}}
blocks: {blocks}
twin: native
"""
    variants = {
        "native": {"platform": "native"},
        "docker-host": {"platform": "docker", "network": "host"},
        "docker-bridge": {"platform": "docker", "network": "bridge", "endpoint": "host-port"},
        "docker-tuned": {"platform": "docker", "network": "user-defined"},
        "docker-noisy": {"platform": "docker", "network": "bridge", "storage": "container"},
    }
    study = Study.model_validate(
        {
            "dunnage": 1,
            "name": "what-docker-costs-redis",
            "testbed": {"kind": "namespace"},
            "database": {"kind": "redis", "topology": "primary-replicas", "members": 3},
            "deployments": variants,
            "workloads": ["A", "C"],
            "load": {"threads": [32], "duration": 4.0},
            "blocks": blocks,
            "twin": "native",
            "questions": {
                "docker": {
                    "baseline": "native",
                    "against": ["docker-host", "docker-bridge", "docker-tuned", "docker-noisy"],
                    "metric": "throughput",
                    "tolerance": 0.03,
                },
                "tail": {
                    "baseline": "native",
                    "against": ["docker-bridge"],
                    "metric": "service.p95",
                    "tolerance": 0.05,
                },
            },
        }
    )
    return study, source


def _plan(study: Study) -> Plan:
    dice = random.Random(11)
    names = list(EFFECTS)
    blocks: list[Block] = []
    position = 0
    for index in range(1, study.blocks + 1):
        dice.shuffle(names)
        stays = []
        for name in names:
            runs = []
            for workload in study.workloads:
                run = RunPlan(
                    id=f"b{index:02d}-{name}-{workload.name}-t32",
                    block=index,
                    deployment=name,
                    workload=_workload(workload.name),
                    level=Level(threads=32),
                    repeat=1,
                    position=position,
                    seed=position,
                )
                runs.append(run)
                position += 1
            stay = f"b{index:02d}-{name}"
            stays.append(StayPlan(id=stay, block=index, deployment=name, runs=tuple(runs)))
        blocks.append(Block(index=index, stays=tuple(stays)))
    return Plan(
        study=study.name,
        seed=1,
        deployments=tuple(_deployment(name, study.database) for name in EFFECTS),
        blocks=tuple(blocks),
        skipped=(Skipped(deployment="swarm", reason="IPVS is missing in this kernel"),),
    )


def _deployment(name: str, database: DatabaseSpec) -> Deployment:
    network = {
        "docker-host": "host",
        "docker-bridge": "bridge",
        "docker-tuned": "user-defined",
        "docker-noisy": "bridge",
    }.get(name, "host")
    titles = {
        "docker-host": "HostDockerHostNetwork",
        "docker-bridge": "HostDockerBridgeHostPort",
        "docker-tuned": "HostDockerContainerDns",
        "docker-noisy": "HostDockerBridgeHostPort",
    }
    return Deployment(
        name=name,
        title=titles.get(name, "HostNative"),
        twin_of="native" if name == "native-twin" else None,
        platform="docker" if name.startswith("docker") else "native",
        network=network,
        endpoint="host-port",
        storage=Storage.CONTAINER if name == "docker-noisy" else Storage.BIND,
        peers=Peers.ENDPOINT,
        client=ClientPlace.HOST,
        hosts="db",
        limits=Limits(),
        slowdown=0.0,
        database=database,
        parts=PartNames(
            platform="Docker" if name.startswith("docker") else "",
            network=PHRASES[network] if name.startswith("docker") else "",
            database="Redis",
        ),
    )


def _workload(name: str) -> Workload:
    core: Any = name
    return Workload(name=name, core=core, phase=Phase.RUN, records=10_000)


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


def _analysis(study: Study, plan: Plan) -> Analysis:
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


def _stays(plan: Plan) -> tuple[StayRecord, ...]:
    return tuple(
        StayRecord(
            stay=stay.id,
            block=stay.block,
            deployment=stay.deployment,
            started=1_700_000_000.0 + 60 * number,
            ready=1_700_000_000.8 + 60 * number,
            stages={"members": 0.6, "replicate": 0.2},
            facts={"version": "7.0.15", "role": "master", "connected_slaves": 2},
            processes=(
                ProcessFacts(
                    member="redis-1",
                    role="primary",
                    executable="/opt/redis/bin/redis-server",
                    executable_sha256="0" * 64,
                    mapped={},
                    argv=("/opt/redis/bin/redis-server", "/etc/redis.conf"),
                    files={"/etc/redis.conf": 'save ""\nappendonly no\n'},
                    limits={"memory.max": "2147483648", "cpuset": "1-3"},
                    data={"type": "ext4", "options": "rw,relatime"},
                    kernel={"release": "6.1.0-37-amd64"},
                    user="redis",
                ),
            ),
            endpoint=("10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379"),
            network={"driver": stay.deployment, "mtu": "1500"},
            paths=paths(stay.deployment),
        )
        for number, stay in enumerate(stay for block in plan.blocks for stay in block.stays)
    )


def _renamed(value: Any) -> Any:
    """The same value with a hostile deployment and hostile reasons in place of tame ones."""
    if isinstance(value, str):
        if "client-busy" in value or "IPVS" in value or "libc" in value:
            return value + " " + HOSTILE_ERROR
        return value.replace("docker-bridge", HOSTILE)
    if isinstance(value, dict):
        return {_renamed(key): _renamed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_renamed(item) for item in value)
    return value
