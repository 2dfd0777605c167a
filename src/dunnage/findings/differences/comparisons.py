"""Every comparison of a study: its interval and verdict, and what twins and neighbours say to it.

A family is the primary comparisons of one question: their intervals hold together. Everything else
is shown with an interval of its own and called secondary or exploratory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from dunnage.analysis import looks
from dunnage.analysis.gather import Gathered
from dunnage.analysis.intervals import Paired, sidak
from dunnage.findings.differences.blocks import settle
from dunnage.findings.differences.left_out import Sides
from dunnage.findings.differences.scope import Pairing, Scope, is_primary
from dunnage.findings.differences.twins import Twin, Twins, overloaded
from dunnage.findings.differences.verdict import decide, inconclusive
from dunnage.model.analysis import CLAIMING, Comparison, Ground
from dunnage.model.control import NeighbourCost
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import METRICS

MEAN_OF_TWINS = "against the mean of both twins"


@dataclass(frozen=True)
class Comparisons:
    """Makes comparisons out of gathered runs."""

    scope: Scope
    gathered: Gathered
    look: int = 1
    """Which look at this study it is; each has its part of the error rate."""
    neighbours: tuple[NeighbourCost, ...] = ()
    """Where load came in turns: beyond the tolerance nothing is claimed of a metric."""
    undecidable: bool = False
    """Whether a file that verdicts come from is not as it was written: then nothing is claimed."""

    def against(self, reference: str) -> tuple[Comparison, ...]:
        """Every deployment against `reference`.

        One that a question asks for is the question's, with its simultaneous interval.
        """
        return tuple(
            self._compared(pairing, self.scope.question(pairing))
            for pairing in self.scope.against(reference)
        )

    def asked(self, question: str) -> tuple[Comparison, ...]:
        """What a question asks for; its primary ones hold together, others stand for themselves."""
        return tuple(self._compared(pairing, question) for pairing in self.scope.asked(question))

    def twins(self) -> tuple[Comparison, ...]:
        """Every twin against its original: what identical deployments differ by."""
        return tuple(
            self._made(
                pairing,
                family=len(self.scope.settings(pairing.metric)),
                tolerance=self.scope.tolerance(pairing.metric),
            )
            for pairing in self.scope.twins()
        )

    def pairs(self, pairing: Pairing) -> Paired:
        """The two sides in each block; both twins stand for their original where they are alike."""
        names = pairing.deployment, pairing.baseline
        alone = self.known_twins.are(*names)
        source: Gathered | Twins = self.gathered if alone else self.known_twins
        return Paired.of(*(source.logs(name, pairing.setting, pairing.metric) for name in names))

    @cached_property
    def known_twins(self) -> Twins:
        """What the study's twins tell."""
        return Twins(self.scope, self.gathered, self.look)

    @cached_property
    def sides(self) -> Sides:
        """What was left out of each deployment."""
        return Sides(self.scope.plan, self.gathered)

    def _compared(self, pairing: Pairing, question: str | None) -> Comparison:
        if question is None:
            return self._made(pairing, family=1, tolerance=self.scope.tolerance(pairing.metric))
        asked = self.scope.study.questions[question]
        primary = is_primary(asked, pairing)
        return self._made(
            pairing,
            family=self.scope.family(question) if primary else 1,
            tolerance=asked.tolerance,
            question=question,
            primary=primary,
        )

    def _made(
        self,
        pairing: Pairing,
        *,
        family: int,
        tolerance: float,
        question: str | None = None,
        primary: bool = False,
    ) -> Comparison:
        sides = pairing.deployment, pairing.baseline
        metric, setting = pairing.metric, pairing.setting
        better = METRICS[metric].better
        over = overloaded(self.gathered, sides, metric, setting)
        own = not over and self.known_twins.are(*sides)
        twin = None if over else self.known_twins.of(metric, setting)
        pairs = Paired(()) if over else self.pairs(pairing)
        family = 1 if over else family
        difference = looks.difference(pairs, self.look, family)
        cost = self._neighbours_cost(pairing)
        if over:
            judgement = inconclusive(Ground.OVERLOADED)
        elif cost > tolerance:
            judgement = inconclusive(Ground.NEIGHBOURS)
        elif self.undecidable:
            judgement = decide(difference, Ground.DAMAGED, better)
        else:
            known = Twin(pairs.n, 0.0) if own else twin
            judgement = settle(pairs, difference, tolerance, better, known, family=family)
        if judgement.ground is Ground.NO_TWIN and self.scope.study.twin is not None:
            judgement = inconclusive(Ground.TWIN_LEFT_OUT)
        thinned = None
        if judgement.ground in CLAIMING and not own:
            thinned = self.sides.thinned(pairing)
            judgement = judgement if thinned is None else inconclusive(Ground.THINNED)
        if difference is None:
            difference = _nothing("not compared: over capacity" if over else "no complete block")
        elif not own and any(self.known_twins.alike(name, metric, setting) for name in sides):
            method = f"{difference.method}, {MEAN_OF_TWINS}"
            difference = difference.model_copy(update={"method": method})
        if twin is not None and judgement.ground is Ground.TWINS_OVERLOADED:
            over = twin.overloads
        return Comparison(
            question=question,
            primary=primary,
            deployment=pairing.deployment,
            baseline=pairing.baseline,
            metric=metric,
            workload=setting.workload,
            level=setting.level,
            difference=difference,
            by_block=tuple(math.expm1(log) for log in pairs.logs),
            family=family,
            hodges_lehmann=pairs.hodges_lehmann(),
            apart=None if twin is None else twin.apart,
            tolerance=tolerance,
            verdict=judgement.verdict,
            blocks_needed=judgement.blocks_needed,
            detectable=pairs.detectable(sidak(family, looks.coverage(self.look))),
            ground=judgement.ground,
            twins=own,
            twin_blocks=None if twin is None else twin.n,
            overloads=over,
            neighbours=cost if judgement.ground is Ground.NEIGHBOURS else None,
            left_out=self.sides.at(pairing),
            thinned=thinned,
        )

    def _neighbours_cost(self, pairing: Pairing) -> float:
        """By how much neighbours change a metric at least, as a share of one."""
        costs = [0.0]
        for found in self.neighbours:
            if found.metric == pairing.metric:
                sides = (found.uneven.get(name) for name in (pairing.deployment, pairing.baseline))
                known = (found.difference, *filter(None, sides))
                costs += (difference.apart or 0.0 for difference in known)
        return max(costs)


def _nothing(method: str) -> Estimate:
    """Stands for a difference that no complete block tells anything of."""
    return Estimate(value=0.0, low=None, high=None, n=0, unit="share", method=method)
