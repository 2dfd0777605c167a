"""From a result directory's values to everything that the report says. Pure: no clock, no chance.

The same records give the same numbers, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from dunnage.analysis.gather import Gathered, gather
from dunnage.analysis.intervals import over_blocks
from dunnage.analysis.looks import number
from dunnage.analysis.order import diagnose
from dunnage.analysis.runs import Setting
from dunnage.findings.checks.gates import gates
from dunnage.findings.conditions.conditions import conditions
from dunnage.findings.control.control import control
from dunnage.findings.control.neighbours import neighbours
from dunnage.findings.counters.counters import absent, associations
from dunnage.findings.cpu.shares import shares
from dunnage.findings.differences.comparisons import Comparisons
from dunnage.findings.differences.scope import Scope, pairs
from dunnage.findings.networks.changed import networks_changed
from dunnage.findings.parity.factors import factors
from dunnage.findings.parity.stays import Checked, check_parity
from dunnage.findings.restarts.restarted import restarted
from dunnage.findings.rules.left import rules_left
from dunnage.findings.rungs.rungs import rungs
from dunnage.findings.saturation.open_load import open_levels, searches
from dunnage.findings.scalability.over_levels import over_levels
from dunnage.findings.scalability.scalability import scalability
from dunnage.findings.snapshots.restored import restored
from dunnage.findings.tails.curves import curves
from dunnage.findings.tails.quantiles import latency_differences
from dunnage.findings.timeline.timeline import timelines
from dunnage.findings.variance.advice import advise, block_seconds
from dunnage.findings.variance.variance import repeats, splits
from dunnage.model.accounting import Accounting, accounting_of
from dunnage.model.analysis import (
    AbsentMetric,
    Analysis,
    LatencyCurve,
    OrderDiagnosis,
    QuestionAnswer,
    Share,
    Summary,
)
from dunnage.model.check import Status
from dunnage.model.conditions import Conditions
from dunnage.model.damage import Damage, undecidable
from dunnage.model.load import Samples
from dunnage.model.look import Look
from dunnage.model.metrics import HEADLINE, KINDS, METRICS
from dunnage.model.plan import Plan
from dunnage.model.record import Record, StayRecord
from dunnage.model.study import QuestionSpec, Study, hosts_of
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
    damages: Sequence[Damage] = (),
) -> Analysis:
    """Judge a result, complete or not.

    `logs` gives a run's latency log (HdrHistogram) or None, `samples` what was seen on each of its
    hosts; without them there are no curves and no resources. Only valid records take part in
    estimates; invalid and unknown ones stay in the counts, planned runs without one are missing.
    `alone` are the records of deployments by themselves, where load came in turns. Runs with
    `damages` are unknown.
    """
    damaged = {damage.run for damage in damages}
    alone = [record for record in alone if record.run not in damaged]
    base = reference(study, plan)
    checked, gathered = judge(study, plan, records, stays, damages)
    originals = {each.name: each.original for each in plan.deployments}
    beside_turns = neighbours(gathered, alone, originals, base, number(looks))
    scope = Scope(study, plan, gathered)
    comparisons = Comparisons(
        scope, gathered, number(looks), beside_turns, undecidable=undecidable(damages)
    )
    compared = [
        (baseline, deployment, setting)
        for baseline, deployment in pairs(plan, base, study.questions.values())
        for setting in gathered.settings
    ]
    places = [(each.name, setting) for each in plan.deployments for setting in gathered.settings]
    of_stays = {stay.stay: stay for stay in stays}
    variance = splits(plan, gathered, scope.metrics)
    seconds = block_seconds(tuple(gathered.records.values()), stays)
    answers = tuple(
        _answer(name, question, comparisons, checked) for name, question in study.questions.items()
    )
    return Analysis(
        study=study.name,
        answers=answers,
        comparisons=comparisons.against(base),
        twin=comparisons.twins(),
        summaries=tuple(_summaries(scope)),
        absent_metrics=tuple(
            found for place in places for found in _absent_metrics(gathered, *place)
        ),
        order=tuple(_order(gathered)),
        runs=gathered.runs,
        curves=tuple(c for place in places for c in _curves(gathered, *place, logs)),
        shares=tuple(
            share
            for place in places
            for share in _shares(gathered, *place, base, accounting_of(environment))
        ),
        conditions=tuple(_conditions(gathered, *place, of_stays) for place in places),
        parity=checked.parity,
        planned=gathered.planned,
        valid=gathered.count(Status.VALID),
        invalid=gathered.count(Status.INVALID),
        unknown=gathered.count(Status.UNKNOWN),
        missing=gathered.planned - len(gathered.runs),
        neighbours=beside_turns,
        control=control(plan, stays, gathered.records.values(), base, comparisons.look),
        gates=gates(gathered),
        disturbed=gathered.disturbed(),
        environment=dict(sorted(environment.items())),
        skipped=plan.skipped,
        damages=tuple(damages),
        looks=tuple(looks),
        scalability=scalability(plan, gathered),
        over_levels=over_levels(plan, gathered, base, scope.metrics, comparisons.look),
        variance=variance,
        advice=tuple(
            advise(answer, variance, seconds, repeats(plan), study.blocks - len(plan.blocks))
            for answer in answers
        ),
        latency=tuple(
            difference
            for each in compared
            for difference in latency_differences(comparisons, *each, KINDS)
        ),
        timelines=timelines(plan, gathered, logs, samples),
        associations=tuple(
            association for each in compared for association in associations(gathered, *each)
        ),
        absent=absent(gathered.records.values()),
        restored=restored(plan, stays),
        restarted=restarted(gathered.records.values()),
        rules_left=rules_left(plan, stays),
        networks_changed=networks_changed(plan, stays, hosts_of(study.testbed.hosts)),
        moving=gathered.moving,
        managed=gathered.managed,
        open_levels=open_levels(plan, gathered),
        searches=searches(plan, gathered),
        rungs=rungs(plan, comparisons, base),
    )


def judge(
    study: Study | None,
    plan: Plan,
    records: Sequence[Record],
    stays: Sequence[StayRecord],
    damages: Sequence[Damage],
) -> tuple[Checked, Gathered]:
    """Which runs count, and what speaks against the others.

    Whoever tells of runs asks this. A study that cannot be read has no questions.
    """
    questions = study.questions.values() if study is not None else ()
    checked = check_parity(plan, stays, reference(study, plan), questions)
    return checked, gather(plan, records, checked.broken, damages)


def reference(study: Study | None, plan: Plan) -> str:
    """What everything is held against: the study's baseline, or what of the plan comes first."""
    known = [deployment.name for deployment in plan.deployments]
    wanted = baseline(study) if study is not None else None
    return wanted if wanted in known else known[0]


def _answer(
    name: str, question: QuestionSpec, comparisons: Comparisons, checked: Checked
) -> QuestionAnswer:
    known = {deployment.name: deployment for deployment in checked.plan.deployments}
    against = [other for other in question.against if {other, question.baseline} <= known.keys()]
    return QuestionAnswer(
        question=name,
        comparisons=comparisons.asked(name),
        factors={other: factors(known[question.baseline], known[other]) for other in against},
        differences={other: checked.between(question.baseline, other) for other in against},
        complete_blocks=_complete(question, against, comparisons),
    )


def _complete(question: QuestionSpec, against: Sequence[str], comparisons: Comparisons) -> int:
    """Blocks in which every side of the question has a value at every workload and level that is
    compared: latencies of a level that was too much for a side are not."""
    names, metric = (question.baseline, *against), question.metric
    sides = [
        set(comparisons.known_twins.logs(name, setting, metric))
        for setting in comparisons.scope.settings(metric)
        if not any(comparisons.gathered.lost(name, setting, metric) for name in names)
        for name in names
    ]
    return len(set.intersection(*sides)) if sides and against else 0


def _summaries(scope: Scope) -> Iterator[Summary]:
    for deployment, metric, setting in scope.cells():
        unit = SI_UNITS.get(METRICS[metric].unit, METRICS[metric].unit)
        estimate = over_blocks(scope.runs.logs(deployment, setting, metric), unit)
        if estimate is not None and metric not in NO_LOGARITHM:
            yield Summary(
                deployment=deployment,
                workload=setting.workload,
                level=setting.level,
                metric=metric,
                estimate=estimate,
            )


def _absent_metrics(
    gathered: Gathered, deployment: str, setting: Setting
) -> Iterator[AbsentMetric]:
    runs = gathered.valid(deployment, setting)
    reasons = {metric: reason for run in runs for metric, reason in run.absent.items()}
    for metric, reason in reasons.items():
        if not any(metric in run.values for run in runs):
            yield AbsentMetric(
                deployment=deployment,
                workload=setting.workload,
                level=setting.level,
                metric=metric,
                reason=reason,
            )


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
    gathered: Gathered, deployment: str, setting: Setting, logs: Callable[[str], bytes | None]
) -> list[LatencyCurve]:
    if gathered.over_capacity(deployment, setting):
        return []
    records = gathered.valid_records(deployment, setting)
    # The probes of a search were at many rates; between turns operations stand still.
    usable = (record for record in records if record.search is None and not record.turns)
    return curves(deployment, setting, [log for record in usable if (log := logs(record.run))])


def _shares(
    gathered: Gathered,
    deployment: str,
    setting: Setting,
    reference: str,
    accounting: Accounting,
) -> list[Share]:
    own = gathered.valid_records(deployment, setting)
    other = gathered.valid_records(reference, setting) if deployment != reference else ()
    return shares(deployment, setting, own, other, accounting)


def _conditions(
    gathered: Gathered, deployment: str, setting: Setting, stays: Mapping[str, StayRecord]
) -> Conditions:
    records = [
        record
        for record in gathered.records.values()
        if record.deployment == deployment and (record.workload.name, record.level.name) == setting
    ]
    return conditions(deployment, setting, records, stays)
