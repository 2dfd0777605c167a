"""From a result directory's values to everything that the report says. Pure: no clock, no chance.

The same records give the same numbers, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from dunnage.analysis.estimate import over_blocks
from dunnage.analysis.gather import Gathered, Setting, gather
from dunnage.analysis.looks import number
from dunnage.analysis.order import diagnose
from dunnage.findings import explain
from dunnage.findings.checks.gates import gates
from dunnage.findings.conditions.conditions import conditions
from dunnage.findings.control.control import control
from dunnage.findings.control.neighbours import neighbours
from dunnage.findings.counters.counters import absent
from dunnage.findings.cpu.shares import shares
from dunnage.findings.differences.contrast import Contrasts, Pairing
from dunnage.findings.parity.compare import factors
from dunnage.findings.parity.stays import Checked, check_parity
from dunnage.findings.saturation.open_load import open_levels, searches
from dunnage.findings.scalability.over_levels import over_levels
from dunnage.findings.scalability.scalability import scalability
from dunnage.findings.snapshots.restored import restored
from dunnage.findings.tails.curves import curves
from dunnage.model.analysis import (
    Analysis,
    Comparison,
    LatencyCurve,
    OrderDiagnosis,
    QuestionAnswer,
    Share,
    Summary,
)
from dunnage.model.check import Status
from dunnage.model.conditions import Conditions
from dunnage.model.load import Samples
from dunnage.model.look import Look
from dunnage.model.metrics import HEADLINE, METRICS
from dunnage.model.plan import Plan
from dunnage.model.record import Record, StayRecord
from dunnage.model.study import QuestionSpec, Study
from dunnage.model.value import Scalar
from dunnage.study.matrix import baseline

NO_LOGARITHM = frozenset({"backlog.slope"})
"""Metrics that are about 0 when all is well: a geometric mean over blocks says nothing of them."""
SI_UNITS = {"ms": "s", "µs/op": "s/op", "MiB": "B", "%": "share", "ms/s": "s/s"}
"""Displayed unit → the unit in which values are held; others are held as displayed."""


def analyse(
    study: Study,
    plan: Plan,
    records: Sequence[Record],
    stays: Sequence[StayRecord],
    environment: Mapping[str, Scalar],
    logs: Callable[[str], bytes | None],
    looks: Sequence[Look] = (),
    samples: Callable[[str], Iterable[Samples]] = lambda _: (),
    alone: Sequence[Record] = (),
) -> Analysis:
    """Judge a result, complete or not.

    `logs` gives a run's latency log (HdrHistogram) or None, `samples` what was seen on each of its
    hosts; without them there are no curves and no resources. Only valid records take part in
    estimates; invalid and unknown ones stay in the counts, planned runs without one are missing.
    `alone` are the records of deployments by themselves, where load came in turns.
    """
    base = reference(study, plan)
    checked = check_parity(plan, stays, base, study.questions.values())
    gathered = gather(plan, records, checked.broken)
    originals = {each.name: each.original for each in plan.deployments}
    beside_turns = neighbours(gathered, alone, originals, base, number(looks))
    contrasts = Contrasts(study, plan, gathered, number(looks), beside_turns)
    compared = explain.pairs(study, plan, base)
    splits = explain.variance(plan, gathered, contrasts.metrics())
    answers = tuple(
        _answer(name, question, plan, gathered, contrasts, checked)
        for name, question in study.questions.items()
    )
    return Analysis(
        study=study.name,
        answers=answers,
        comparisons=contrasts.against(base),
        twin=contrasts.twins(),
        summaries=tuple(_summaries(plan, gathered)),
        order=tuple(_order(gathered)),
        runs=gathered.runs,
        curves=tuple(_curves(plan, gathered, logs)),
        shares=tuple(_shares(plan, gathered, base)),
        conditions=tuple(_conditions(plan, gathered, stays)),
        parity=checked.parity,
        planned=gathered.planned,
        valid=gathered.count(Status.VALID),
        invalid=gathered.count(Status.INVALID),
        unknown=gathered.count(Status.UNKNOWN),
        missing=gathered.planned - len(gathered.runs),
        neighbours=beside_turns,
        control=control(plan, stays, gathered.records.values(), base, contrasts.look),
        gates=gates(gathered),
        disturbed=gathered.disturbed(),
        environment=dict(sorted(environment.items())),
        skipped=plan.skipped,
        looks=tuple(looks),
        scalability=scalability(plan, gathered),
        over_levels=over_levels(plan, gathered, base, contrasts.metrics(), contrasts.look),
        variance=splits,
        advice=explain.advice(answers, plan, gathered, stays, splits),
        latency=explain.tails(contrasts, compared),
        timelines=explain.timelines(plan, gathered, logs, samples),
        associations=explain.counted(gathered, compared),
        absent=absent(gathered.records.values()),
        restored=restored(plan, stays),
        open_levels=open_levels(plan, gathered),
        searches=searches(plan, gathered),
    )


def reference(study: Study, plan: Plan) -> str:
    """What everything is held against: the study's baseline, or what of the plan comes first."""
    known = [deployment.name for deployment in plan.deployments]
    wanted = baseline(study)
    return wanted if wanted in known else known[0]


def _answer(
    name: str,
    question: QuestionSpec,
    plan: Plan,
    gathered: Gathered,
    contrasts: Contrasts,
    checked: Checked,
) -> QuestionAnswer:
    known = {deployment.name: deployment for deployment in plan.deployments}
    against = [other for other in question.against if {other, question.baseline} <= known.keys()]
    comparisons: list[Comparison] = [
        contrasts.comparison(
            Pairing(question.baseline, other, question.metric, setting),
            question=name,
            tolerance=question.tolerance,
        )
        for other in against
        for setting in gathered.settings
        if contrasts.means(question.metric, setting)
    ]
    return QuestionAnswer(
        question=name,
        comparisons=tuple(comparisons),
        factors={other: factors(known[question.baseline], known[other]) for other in against},
        differences={other: checked.between(question.baseline, other) for other in against},
        complete_blocks=_complete(question, against, gathered, contrasts),
    )


def _complete(
    question: QuestionSpec, against: Sequence[str], gathered: Gathered, contrasts: Contrasts
) -> int:
    """Blocks in which every side of the question has a value at every workload and level that is
    compared: latencies of a level that was too much for a side are not."""
    names = (question.baseline, *against)
    settings = [
        setting
        for setting in contrasts.compared(question.metric)
        if not any(gathered.lost(name, setting, question.metric) for name in names)
    ]
    sides = [
        set(contrasts.known_twins.logs(deployment, question.metric, setting))
        for deployment in names
        for setting in settings
    ]
    return len(set.intersection(*sides)) if sides and against else 0


def _each(plan: Plan, gathered: Gathered) -> list[tuple[str, Setting]]:
    return [
        (deployment.name, setting)
        for deployment in plan.deployments
        for setting in gathered.settings
    ]


def _summaries(plan: Plan, gathered: Gathered) -> list[Summary]:
    found = []
    for deployment, setting in _each(plan, gathered):
        known = {name for run in gathered.valid(deployment, setting) for name in run.values}
        for metric in METRICS.values():
            if metric.name not in known or metric.name in NO_LOGARITHM:
                continue
            if gathered.lost(deployment, setting, metric.name):
                continue
            unit = SI_UNITS.get(metric.unit, metric.unit)
            estimate = over_blocks(gathered.logs(deployment, setting, metric.name), unit)
            if estimate is not None:
                found.append(
                    Summary(
                        deployment=deployment,
                        workload=setting.workload,
                        level=setting.level,
                        metric=metric.name,
                        estimate=estimate,
                    )
                )
    return found


def _order(gathered: Gathered) -> list[OrderDiagnosis]:
    return [
        OrderDiagnosis(
            metric=metric,
            workload=setting.workload,
            level=setting.level,
            **diagnose(gathered.placed(setting, metric), at_once=gathered.at_once)._asdict(),
        )
        for metric in HEADLINE
        for setting in gathered.settings
    ]


def _curves(
    plan: Plan, gathered: Gathered, logs: Callable[[str], bytes | None]
) -> list[LatencyCurve]:
    found: list[LatencyCurve] = []
    for deployment, setting in _each(plan, gathered):
        if gathered.over_capacity(deployment, setting):
            continue
        records = [
            record
            for record in gathered.valid_records(deployment, setting)
            # The probes of a search were at many rates; between turns operations stand still.
            if record.search is None and not record.turns
        ]
        raw = [log for record in records if (log := logs(record.run))]
        found.extend(curves(deployment, setting.workload, setting.level, raw))
    return found


def _shares(plan: Plan, gathered: Gathered, reference: str) -> list[Share]:
    return [
        share
        for deployment, setting in _each(plan, gathered)
        for share in shares(
            deployment,
            setting.workload,
            setting.level,
            gathered.valid_records(deployment, setting),
            gathered.valid_records(reference, setting) if deployment != reference else (),
        )
    ]


def _conditions(plan: Plan, gathered: Gathered, stays: Sequence[StayRecord]) -> list[Conditions]:
    known = {stay.stay: stay for stay in stays}
    return [
        conditions(
            deployment,
            setting.workload,
            setting.level,
            [
                record
                for record in gathered.records.values()
                if record.deployment == deployment
                and (record.workload.name, record.level.name) == setting
            ],
            known,
        )
        for deployment, setting in _each(plan, gathered)
    ]
