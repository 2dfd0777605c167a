"""Every comparison of a study: which pairs are made, in which family, and what twins say to it.

A family is the primary comparisons of one question: their intervals hold together. Everything else
is shown with an interval of its own and called secondary or exploratory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dunnage.analysis import looks
from dunnage.analysis.estimate import Paired, sidak
from dunnage.analysis.gather import Gathered, Setting
from dunnage.findings.differences.twins import Twins, overloaded, twins
from dunnage.findings.differences.verdict import Twin, apart, decide, withheld
from dunnage.model.analysis import (
    Comparison,
    Estimate,
    Ground,
    NeighbourCost,
    Overload,
    Verdict,
)
from dunnage.model.level import Level
from dunnage.model.metrics import HEADLINE, METRICS, SEARCHED
from dunnage.model.plan import Plan
from dunnage.model.study import QuestionSpec, Study

OPEN_HEADLINE = ("response.p95",)
"""Beside the headline wherever a load is open, because there it is what users wait for."""
SEARCH_HEADLINE = ("saturation",)
"""Beside it wherever a search looks for the highest sustained rate."""
DEFAULT_TOLERANCE = 0.03
"""For metrics that no question names."""
MEAN_OF_TWINS = "against the mean of both twins"


def usual_tolerance(study: Study, metric: str) -> float:
    """The strictest of the questions on this metric, for a comparison that no question asks for."""
    named = [asked.tolerance for asked in study.questions.values() if asked.metric == metric]
    return min(named, default=DEFAULT_TOLERANCE)


class Pairing(NamedTuple):
    """Two deployments, what is compared and where."""

    baseline: str
    deployment: str
    metric: str
    setting: Setting


@dataclass(frozen=True)
class Contrasts:
    """Makes comparisons out of gathered runs."""

    study: Study
    plan: Plan
    gathered: Gathered
    look: int = 1
    """Which look at this study it is; each has its part of the error rate."""
    neighbours: tuple[NeighbourCost, ...] = ()
    """Where load came in turns: beyond the tolerance nothing is claimed of a metric."""

    def against(self, reference: str) -> tuple[Comparison, ...]:
        """Headline and asked metrics of every deployment against `reference`.

        One that a question asks for is the question's, with its simultaneous interval.
        """
        return tuple(
            self._known_or_exploratory(Pairing(reference, deployment.name, metric, setting))
            for deployment in self.plan.deployments
            if deployment.name != reference
            for metric in self.metrics()
            for setting in self.gathered.settings
            if self.means(metric, setting)
        )

    def twins(self) -> tuple[Comparison, ...]:
        """Every twin against its original: what identical deployments differ by."""
        return tuple(
            self._made(
                Pairing(pair.original, pair.copy, metric, setting),
                family=len(self.compared(metric)),
                tolerance=usual_tolerance(self.study, metric),
            )
            for pair in twins(self.plan)
            for metric in self.metrics()
            for setting in self.compared(metric)
        )

    def comparison(self, pairing: Pairing, *, question: str | None, tolerance: float) -> Comparison:
        """One comparison; a question's primary ones hold together, others stand for themselves."""
        primary = question is not None and is_primary(self.study.questions[question], pairing)
        family = self.family(question) if question is not None and primary else 1
        return self._made(
            pairing, family=family, tolerance=tolerance, question=question, primary=primary
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
        if over := self._over_capacity(pairing):
            return _not_compared(pairing, question, tolerance, over, primary=primary)
        pairs = self.pairs(pairing)
        difference = looks.difference(pairs, self.look, family)
        twin = self.known_twins.of(pairing.metric, pairing.setting)
        own = self.known_twins.are(pairing.baseline, pairing.deployment)
        judgement = decide(
            pairs,
            difference,
            tolerance,
            METRICS[pairing.metric].better,
            Twin(pairs.n, 0.0) if own else twin,
            family=family,
        )
        cost = self._neighbours_cost(pairing)
        if cost > tolerance:
            judgement = withheld(Ground.NEIGHBOURS)
        if difference is not None and self._with_twin(pairing):
            method = f"{difference.method}, {MEAN_OF_TWINS}"
            difference = difference.model_copy(update={"method": method})
        return Comparison(
            question=question,
            primary=primary,
            deployment=pairing.deployment,
            baseline=pairing.baseline,
            metric=pairing.metric,
            workload=pairing.setting.workload,
            level=pairing.setting.level,
            difference=difference or _nothing(),
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
            overloads=twin.overloads
            if twin is not None and judgement.ground is Ground.TWINS_OVERLOADED
            else (),
            neighbours=cost if judgement.ground is Ground.NEIGHBOURS else None,
        )

    def pairs(self, pairing: Pairing) -> Paired:
        """The two sides in each block; both twins stand for their original where they are alike."""
        sides = [self._side(name, pairing) for name in (pairing.deployment, pairing.baseline)]
        return Paired.of(*sides)

    def _side(self, name: str, pairing: Pairing) -> dict[int, float]:
        metric, setting = pairing.metric, pairing.setting
        if self.known_twins.are(pairing.baseline, pairing.deployment):
            return self.gathered.logs(name, setting, metric)
        return self.known_twins.logs(name, metric, setting)

    def _neighbours_cost(self, pairing: Pairing) -> float:
        """By how much neighbours change a metric at least, as a share of one."""
        costs = [0.0]
        for found in self.neighbours:
            if found.metric == pairing.metric:
                uneven = [found.uneven.get(side) for side in (pairing.deployment, pairing.baseline)]
                costs += (apart(each) or 0.0 for each in (found.difference, *uneven))
        return max(costs)

    def _with_twin(self, pairing: Pairing) -> bool:
        sides = (pairing.baseline, pairing.deployment)
        return not self.known_twins.are(*sides) and any(
            self.known_twins.alike(name, pairing.metric, pairing.setting) for name in sides
        )

    def compared(self, metric: str) -> tuple[Setting, ...]:
        """Where a metric means something."""
        return tuple(each for each in self.gathered.settings if self.means(metric, each))

    def means(self, metric: str, setting: Setting) -> bool:
        """Whether the metric means something at the level.

        Response times need an open load, saturation a search, and at the rate where a search
        happened to end little else does.

        Operation types that a workload lacks have no values anywhere and are passed over too,
        unless no run has ended yet.
        """
        level = self._levels[setting.level]
        if METRICS[metric].open_only and not level.open:
            return False
        if level.search is not None and metric not in SEARCHED:
            return False
        if level.search is None and metric in SEARCH_HEADLINE:
            return False
        runs = [
            run for run in self.gathered.runs if (run.workload, run.level) == setting and run.values
        ]
        return not runs or any(metric in run.values for run in runs)

    def family(self, question: str) -> int:
        """Distinct primary comparisons that one question makes; its intervals hold together."""
        asked = self._of_question(question)
        return sum(is_primary(self.study.questions[question], each) for each in asked)

    @cached_property
    def known_twins(self) -> Twins:
        """What the study's twins tell."""
        return Twins(self.plan, self.gathered, self.compared, self.look)

    @cached_property
    def _levels(self) -> Mapping[str, Level]:
        return {run.level.name: run.level for run in self.plan.runs()}

    @cached_property
    def _asked(self) -> Mapping[Pairing, tuple[str, float]]:
        """Every pairing of a question → the first question that asks for it, its tolerance."""
        asked: dict[Pairing, tuple[str, float]] = {}
        for name, question in self.study.questions.items():
            for pairing in self._of_question(name):
                asked.setdefault(pairing, (name, question.tolerance))
        return asked

    def _of_question(self, name: str) -> tuple[Pairing, ...]:
        known = {deployment.name for deployment in self.plan.deployments}
        question = self.study.questions[name]
        return tuple(
            Pairing(question.baseline, other, question.metric, setting)
            for other in dict.fromkeys(question.against)
            if {other, question.baseline} <= known
            for setting in self.compared(question.metric)
        )

    def _known_or_exploratory(self, pairing: Pairing) -> Comparison:
        usual = usual_tolerance(self.study, pairing.metric)
        question, tolerance = self._asked.get(pairing, (None, usual))
        return self.comparison(pairing, question=question, tolerance=tolerance)

    def metrics(self) -> tuple[str, ...]:
        """Headline metrics and those that questions ask for, each once."""
        return tuple(
            dict.fromkeys(
                (
                    *HEADLINE,
                    *(q.metric for q in self.study.questions.values()),
                    *OPEN_HEADLINE,
                    *SEARCH_HEADLINE,
                )
            )
        )

    def _over_capacity(self, pairing: Pairing) -> tuple[Overload, ...]:
        """Sides that could not keep up, where a latency says nothing of that."""
        names = (pairing.deployment, pairing.baseline)
        return overloaded(self.gathered, names, pairing.metric, pairing.setting)


def is_primary(question: QuestionSpec, pairing: Pairing) -> bool:
    """Whether a comparison of a question is one that it names as primary; without names all are."""
    named = question.primary
    return all(
        not names or value in names
        for names, value in (
            (named.against, pairing.deployment),
            (named.workloads, pairing.setting.workload),
            (named.levels, pairing.setting.level),
        )
    )


def _not_compared(
    pairing: Pairing,
    question: str | None,
    tolerance: float,
    overloads: tuple[Overload, ...],
    *,
    primary: bool,
) -> Comparison:
    return Comparison(
        question=question,
        primary=primary,
        deployment=pairing.deployment,
        baseline=pairing.baseline,
        metric=pairing.metric,
        workload=pairing.setting.workload,
        level=pairing.setting.level,
        difference=_nothing("not compared: over capacity"),
        by_block=(),
        family=1,
        hodges_lehmann=None,
        apart=None,
        tolerance=tolerance,
        verdict=Verdict.INCONCLUSIVE,
        blocks_needed=None,
        detectable=None,
        ground=Ground.OVERLOADED,
        overloads=overloads,
    )


def _nothing(method: str = "no complete block") -> Estimate:
    """Stands for a difference that no complete block tells anything of."""
    return Estimate(value=0.0, low=None, high=None, n=0, unit="share", method=method)
