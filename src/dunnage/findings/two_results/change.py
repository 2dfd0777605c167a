"""What changed between two results: every metric of every deployment, with interval and verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from dunnage.analysis import looks
from dunnage.analysis.estimate import Paired, block_logs
from dunnage.analysis.gather import counts
from dunnage.findings.differences.contrast import usual_tolerance
from dunnage.findings.two_results.between import between, over_capacity, welch
from dunnage.findings.two_results.comparable import Circumstances, mismatches
from dunnage.findings.two_results.rates import Load, other_rates
from dunnage.model.analysis import Analysis, Estimate, Summary
from dunnage.model.between import (
    Change,
    ChangeGround,
    ChangeVerdict,
    LeftOut,
    Mismatch,
    MismatchKind,
    ResultComparison,
    Side,
    WhyLeftOut,
)
from dunnage.model.check import Status
from dunnage.model.metrics import HEADLINE, METRICS, Better
from dunnage.model.record import Record

METHOD = (
    "Welch's t interval (1947) on the logarithms of block means of each result, unpaired: no block "
    "of one result belongs to a block of the other. Intervals of the metrics that decide hold "
    "together (Šidák). Regression or improvement: the interval lies beyond the tolerance and the "
    "A/A bound of both results; without a bound in both there is no verdict."
)
CAUTION = (
    "The two results were measured at different times, so time and whatever else changed meanwhile "
    "cannot be told from the version under test: measure both in one study, in the same blocks, "
    "where the cause matters. Each result is one session: intervals hold its noise from block to "
    "block and not what a machine shifts by from day to day. The change of an overhead is free of "
    "what a result's own deployments share."
)


@dataclass(frozen=True)
class Judged:
    """One result with its analysis."""

    path: str
    circumstances: Circumstances
    analysis: Analysis
    records: Sequence[Record]


def compare(
    a: Judged, b: Judged, *, tolerance: float | None = None, anyway: bool = False
) -> ResultComparison:
    """Compare `b` with `a`; without `anyway` only where nothing differs that is not compared.

    `tolerance` takes the place of the questions' own, as a share of one.
    """
    found = mismatches(a.circumstances, b.circumstances)
    wanted = not found or anyway
    return ResultComparison(
        a=_side(a),
        b=_side(b),
        comparable=not found,
        mismatches=_sorted(found),
        changes=tuple(_changes(a, b, tolerance)) if wanted else (),
        left_out=tuple(_left_out(a, b)) if wanted else (),
        method=METHOD,
        caution=CAUTION,
    )


def _sorted(found: Sequence[Mismatch]) -> tuple[Mismatch, ...]:
    kinds = list(MismatchKind)
    return tuple(sorted(found, key=lambda mismatch: kinds.index(mismatch.kind)))


def _side(judged: Judged) -> Side:
    return Side(
        path=judged.path,
        study=judged.circumstances.study.name,
        began=min((record.started for record in judged.records), default=None),
        ended=max((record.ended for record in judged.records), default=None),
        blocks=len(judged.circumstances.plan.blocks),
        valid=judged.analysis.valid,
        planned=judged.analysis.planned,
    )


def _changes(a: Judged, b: Judged, tolerance: float | None) -> Iterator[Change]:
    pairs = list(_pairs(a.analysis, b.analysis, _other_rates(a, b)))
    deciding, twins = _deciding(b), _twins(b)
    gates = [one.metric in deciding and one.deployment not in twins for one, _ in pairs]
    level = max(looks.coverage(looks.number(side.analysis.looks)) for side in (a, b))
    overheads = {
        (shift.deployment, shift.metric, shift.workload, shift.level): shift.estimate
        for shift in between(a.analysis, b.analysis, level)
    }
    for (one, other), gate in zip(pairs, gates, strict=True):
        key = (one.deployment, one.metric, one.workload, one.level)
        change = welch(
            _blocks(a.analysis, one),
            _blocks(b.analysis, other),
            family=sum(gates) if gate else 1,
            confidence=level,
            what="block values",
        )
        asked = usual_tolerance(b.circumstances.study, one.metric)
        wanted = tolerance if tolerance is not None else asked
        bound = _bound((a.analysis, b.analysis), one)
        verdict, ground = decide_change(change, wanted, bound, METRICS[one.metric].better)
        yield Change(
            deployment=one.deployment,
            metric=one.metric,
            workload=one.workload,
            level=one.level,
            gate=gate,
            a=one.estimate,
            b=other.estimate,
            change=change,
            overhead=overheads.get(key),
            bound=bound,
            tolerance=wanted,
            verdict=verdict,
            ground=ground,
        )


def _pairs(a: Analysis, b: Analysis, others: Collection[Load]) -> Iterator[tuple[Summary, Summary]]:
    """Summaries that both results have and that may be compared, in the order of the first.

    Nothing is compared at the `others`, which are not the same load, nor of metrics of which a
    ratio says nothing.
    """
    second = _by_place(b)
    over = over_capacity(a) | over_capacity(b)
    for place, one in _by_place(a).items():
        metric = METRICS[one.metric]
        if place not in second or place[1:3] in others or not metric.compared:
            continue
        if not (metric.latency and place[:3] in over):
            yield one, second[place]


def _left_out(a: Judged, b: Judged) -> Iterator[LeftOut]:
    """What decides and cannot be compared, with the reason."""
    first, second = _by_place(a.analysis), _by_place(b.analysis)
    over = over_capacity(a.analysis), over_capacity(b.analysis)
    deciding, twins = _deciding(b), _twins(b)
    others = _other_rates(a, b)
    for (workload, level), rates in others.items():
        yield LeftOut(why=WhyLeftOut.OTHER_RATE, workload=workload, level=level, rates=rates)
    for place in dict.fromkeys((*first, *second)):
        deployment, workload, level, metric = place
        if metric not in deciding or deployment in twins or (workload, level) in others:
            continue
        overloaded = [place[:3] in found for found in over]
        lacking = [place not in found for found in (first, second)]
        if METRICS[metric].latency and any(overloaded):
            why, sides = WhyLeftOut.OVER_CAPACITY, overloaded
        elif any(lacking):
            why, sides = WhyLeftOut.NO_VALUE, lacking
        else:
            continue
        yield LeftOut(
            why=why,
            deployment=deployment,
            metric=metric,
            workload=workload,
            level=level,
            results=tuple(compress(("first", "second"), sides)),
        )
    known = {place[:3] for place in (*first, *second)}
    planned = dict.fromkeys(
        (run.deployment, run.workload.name, run.level.name)
        for side in (a, b)
        for run in side.circumstances.plan.runs()
    )
    for deployment, workload, level in planned:
        missing = (deployment, workload, level) not in known
        if missing and deployment not in twins and (workload, level) not in others:
            yield LeftOut(
                why=WhyLeftOut.NO_RUN, deployment=deployment, workload=workload, level=level
            )


def _other_rates(a: Judged, b: Judged) -> Mapping[Load, tuple[float, float]]:
    runs = (run for side in (a, b) for run in side.circumstances.plan.runs())
    return other_rates(runs, a.circumstances.calibration, b.circumstances.calibration)


def _deciding(judged: Judged) -> frozenset[str]:
    """Metrics that decide: the headline's and those that questions name."""
    asked = {question.metric for question in judged.circumstances.study.questions.values()}
    return frozenset(HEADLINE) | asked


def _twins(judged: Judged) -> frozenset[str]:
    return frozenset(each.name for each in judged.circumstances.plan.deployments if each.twin_of)


Place = tuple[str, str, str, str]


def _by_place(analysis: Analysis) -> dict[Place, Summary]:
    """Deployment, workload, level and metric → summary."""
    return {(s.deployment, s.workload, s.level, s.metric): s for s in analysis.summaries}


def _blocks(analysis: Analysis, wanted: Summary) -> Paired:
    """Log values of one deployment's blocks; nothing is paired, each block is one value."""
    logs = block_logs(
        (run.block, run.values[wanted.metric])
        for run in analysis.runs
        if run.status == Status.VALID
        and (run.deployment, run.workload, run.level)
        == (wanted.deployment, wanted.workload, wanted.level)
        and counts(run, wanted.metric)
    )
    return Paired(tuple(logs.values()))


def _bound(analyses: Sequence[Analysis], wanted: Summary) -> float | None:
    """The most by which identical deployments may have differed under the same condition.

    The larger absolute end of the twins' intervals: between two days nothing else tells what a
    machine does to identical work. None unless both results have such an interval there.
    """
    bounds = []
    for analysis in analyses:
        known = [
            max(abs(found.difference.low), abs(found.difference.high))
            for found in analysis.twin
            if found.difference.low is not None
            and found.difference.high is not None
            and (found.metric, found.workload, found.level)
            == (wanted.metric, wanted.workload, wanted.level)
        ]
        if not known:
            return None
        bounds += known
    return max(bounds)


def decide_change(
    change: Estimate, tolerance: float, bound: float | None, better: Better
) -> tuple[ChangeVerdict, ChangeGround]:
    """The verdict on one change, and why."""
    low, high = change.low, change.high
    if low is None or high is None:
        return ChangeVerdict.INCONCLUSIVE, ChangeGround.TOO_FEW_BLOCKS
    if bound is None:
        return ChangeVerdict.INCONCLUSIVE, ChangeGround.NO_BOUND
    edge = max(tolerance, bound)
    if low > edge or high < -edge:
        worse = (low > edge) == (better is Better.LOWER)
        verdict = ChangeVerdict.REGRESSION if worse else ChangeVerdict.IMPROVEMENT
        return verdict, ChangeGround.BEYOND
    if -tolerance <= low and high <= tolerance and edge <= tolerance:
        return ChangeVerdict.EQUIVALENT, ChangeGround.INSIDE
    return ChangeVerdict.INCONCLUSIVE, ChangeGround.ACROSS
