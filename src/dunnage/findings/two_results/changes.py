"""What changed between two results: every metric of every deployment, with interval and verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress

from dunnage.analysis import looks
from dunnage.analysis.intervals import Paired
from dunnage.analysis.runs import Runs, Setting
from dunnage.analysis.welch import welch
from dunnage.findings.differences.scope import Cell, Scope
from dunnage.findings.differences.verdict import Edges, decide
from dunnage.findings.two_results.comparable import (
    Circumstances,
    masked_in_both,
    mismatches,
    other_rates,
    unread_in_one,
    unseen_in_both,
)
from dunnage.findings.two_results.overhead import overhead_changes
from dunnage.model.analysis import Analysis, Ground
from dunnage.model.between import (
    CHANGES,
    Change,
    ChangeGround,
    LeftOut,
    MismatchKind,
    ResultComparison,
    Side,
    WhyLeftOut,
)
from dunnage.model.damage import of_the_whole
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import METRICS
from dunnage.model.plan import RunPlan
from dunnage.model.record import Record


@dataclass(frozen=True)
class AnalysedResult:
    """One result with its analysis."""

    path: str
    circumstances: Circumstances
    analysis: Analysis
    records: Sequence[Record]

    @cached_property
    def runs(self) -> Runs:
        """Its runs with their values."""
        return Runs(self.analysis.runs)

    @cached_property
    def scope(self) -> Scope:
        """What decides in it."""
        return Scope(self.circumstances.study, self.circumstances.plan, self.runs)

    @cached_property
    def values(self) -> Mapping[Cell, Estimate]:
        """What it has of the cells of its scope."""
        return {Cell.of(summary): summary.estimate for summary in self.analysis.summaries}

    def twin_blocks(self, cell: Cell) -> int | None:
        """Blocks that have both twins under a cell's condition; None where there is no twin."""
        if not self.scope.copies:
            return None
        alike = (found for found in self.analysis.twin if Cell.of(found)[1:] == cell[1:])
        return max((found.difference.n for found in alike), default=0)


def compare(
    a: AnalysedResult, b: AnalysedResult, *, tolerance: float | None = None, anyway: bool = False
) -> ResultComparison:
    """Compare `b` with `a`; without `anyway` only where nothing differs that is not compared.

    `tolerance` takes the place of the questions' own, as a share of one.
    """
    differing = mismatches(a.circumstances, b.circumstances)
    wanted = not differing or anyway
    both = _Both(a, b)
    return ResultComparison(
        a=_side(a),
        b=_side(b),
        comparable=not differing,
        mismatches=tuple(sorted(differing, key=lambda found: list(MismatchKind).index(found.kind))),
        changes=tuple(both.changes(tolerance)) if wanted else (),
        left_out=tuple(both.left_out()) if wanted else (),
        masked=masked_in_both(a.circumstances, b.circumstances),
        unseen=unseen_in_both(a.circumstances, b.circumstances),
        unread=unread_in_one(a.circumstances, b.circumstances),
    )


def _side(result: AnalysedResult) -> Side:
    return Side(
        path=result.path,
        study=result.circumstances.study.name,
        invented=result.analysis.invented,
        began=min((record.started for record in result.records), default=None),
        ended=max((record.ended for record in result.records), default=None),
        blocks=len(result.circumstances.plan.blocks),
        valid=result.analysis.valid,
        planned=result.analysis.planned,
        damages=result.analysis.damages,
        restarted=result.analysis.restarted,
    )


@dataclass(frozen=True)
class _Both:
    """Two results cell by cell; the second says what decides."""

    a: AnalysedResult
    b: AnalysedResult

    def changes(self, tolerance: float | None) -> Iterator[Change]:
        """Cells that both have and that may be compared.

        Of some metrics a ratio of two says nothing.
        """
        cells = [
            cell
            for cell in self._cells
            if METRICS[cell.metric].compared and self._why_left_out(cell) is None
        ]
        deciding = sum(map(self.b.scope.decides, cells))
        level = max(looks.coverage(looks.number(side.analysis.looks)) for side in (self.a, self.b))
        overheads = overhead_changes(self.a.analysis, self.b.analysis, level)
        for cell in cells:
            deployment, metric, setting = cell
            decides = self.b.scope.decides(cell)
            change = welch(
                Paired(tuple(self.a.runs.logs(deployment, setting, metric).values())),
                Paired(tuple(self.b.runs.logs(deployment, setting, metric).values())),
                family=deciding if decides else 1,
                confidence=level,
                what="block values",
            )
            wanted = self.b.scope.tolerance(metric) if tolerance is None else tolerance
            bound = self._bound(metric, setting)
            judgement = decide(change, self._edges(wanted, bound), METRICS[metric].better)
            yield Change(
                deployment=deployment,
                metric=metric,
                workload=setting.workload,
                level=setting.level,
                gate=decides,
                a=self.a.values[cell],
                b=self.b.values[cell],
                change=change,
                overhead=overheads.get(cell),
                bound=bound,
                twin_blocks=(self.a.twin_blocks(cell), self.b.twin_blocks(cell)),
                tolerance=wanted,
                verdict=CHANGES[judgement.verdict],
                ground=ChangeGround(judgement.ground),
            )

    def left_out(self) -> Iterator[LeftOut]:
        """What decides and cannot be compared, with the reason."""
        for (workload, level), rates in self._other_rates.items():
            yield LeftOut(why=WhyLeftOut.OTHER_RATE, workload=workload, level=level, rates=rates)
        for cell in filter(self.b.scope.decides, self._cells):
            if reason := self._why_left_out(cell):
                yield reason
        measured = {(cell.deployment, cell.setting) for cell in self._cells}
        for deployment, setting in dict.fromkeys(
            (run.deployment, Setting(run.workload.name, run.level.name)) for run in self._planned
        ):
            at_all = (deployment, setting) in measured or setting in self._other_rates
            if not at_all and deployment not in self.b.scope.copies:
                yield LeftOut(
                    why=WhyLeftOut.NO_RUN,
                    deployment=deployment,
                    workload=setting.workload,
                    level=setting.level,
                )

    @cached_property
    def _cells(self) -> tuple[Cell, ...]:
        """What either has a value of, or lost over capacity, but where the load is not the same."""
        lost = (side.scope.lost() for side in (self.a, self.b))
        cells = dict.fromkeys((*self.a.values, *self.b.values, *chain(*lost)))
        return tuple(cell for cell in cells if cell.setting not in self._other_rates)

    @cached_property
    def _planned(self) -> tuple[RunPlan, ...]:
        return (*self.a.circumstances.plan.runs(), *self.b.circumstances.plan.runs())

    @cached_property
    def _other_rates(self) -> Mapping[Setting, tuple[float, float]]:
        a, b = (side.circumstances.calibration for side in (self.a, self.b))
        return other_rates(self._planned, a, b)

    def _why_left_out(self, cell: Cell) -> LeftOut | None:
        """Why a cell cannot be compared; None where it can."""
        deployment, metric, setting = cell
        sides = self.a, self.b
        reasons = {
            WhyLeftOut.OVER_CAPACITY: [
                side.runs.lost(deployment, setting, metric) for side in sides
            ],
            WhyLeftOut.NO_VALUE: [cell not in side.values for side in sides],
        }
        for why, where in reasons.items():
            if any(where):
                return LeftOut(
                    why=why,
                    deployment=deployment,
                    metric=metric,
                    workload=setting.workload,
                    level=setting.level,
                    results=tuple(compress(("first", "second"), where)),
                )
        return None

    def _edges(self, tolerance: float, bound: float | None) -> Edges | Ground:
        """Where verdicts change, or why there are none.

        Facts and rates must be whole, too: they say whether the two can be compared.
        """
        if any(of_the_whole(side.analysis.damages) for side in (self.a, self.b)):
            return Ground.DAMAGED
        return Ground.NO_BOUND if bound is None else Edges.between_results(tolerance, bound)

    def _bound(self, metric: str, setting: Setting) -> float | None:
        """The most by which identical deployments may have differed under the same condition.

        None unless both results have an interval of twins there.
        """
        bounds = [
            [
                found.difference.reach
                for found in side.analysis.twin
                if found.difference.reach is not None and Cell.of(found)[1:] == (metric, setting)
            ]
            for side in (self.a, self.b)
        ]
        return max(chain(*bounds)) if all(bounds) else None
