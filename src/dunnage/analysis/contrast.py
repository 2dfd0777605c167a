"""Every comparison of a study: which pairs are made, in which family, under which A/A bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dunnage.analysis import looks
from dunnage.analysis.compare import bound, judge
from dunnage.analysis.estimate import Paired, sidak
from dunnage.analysis.gather import Gathered, Setting
from dunnage.model.analysis import Comparison, Estimate, Verdict
from dunnage.model.metrics import HEADLINE, METRICS, SEARCHED
from dunnage.model.plan import Plan
from dunnage.model.study import Level, Study
from dunnage.units import percent

OPEN_HEADLINE = ("response.p95",)
"""Beside the headline wherever a load is open, because there it is what users wait for."""
SEARCH_HEADLINE = ("saturation",)
"""Beside it wherever a search looks for the highest sustained rate."""
DEFAULT_TOLERANCE = 0.03
"""For metrics that no question names."""


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
            self.comparison(
                Pairing(deployment.twin_of, deployment.name, metric, setting),
                question=None,
                tolerance=usual_tolerance(self.study, metric),
            )
            for deployment in self.plan.deployments
            if deployment.twin_of
            for metric in self.metrics()
            for setting in self.gathered.settings
            if self.means(metric, setting)
        )

    def comparison(self, pairing: Pairing, *, question: str | None, tolerance: float) -> Comparison:
        """One comparison; a question's belongs to the family of all questions."""
        over = self._over_capacity(pairing)
        if over:
            return _not_compared(pairing, question, tolerance, over)
        pairs = self._pairs(pairing)
        family = self.family if question is not None else 1
        level = looks.coverage(self.look)
        difference = looks.difference(pairs, self.look, family)
        same = self._twins_of(pairing)
        twin = self._pairs(same) if same else None
        unbounded = self._unbounded(same) if same else ""
        limit = bound(twin.difference(level)) if twin and not unbounded else None
        judgement = judge(
            pairs,
            difference,
            twin,
            limit,
            tolerance,
            METRICS[pairing.metric].better,
            family=family,
            unbounded=unbounded,
            own=question is not None and same is not None and _sides(same) == _sides(pairing),
        )
        return Comparison(
            question=question,
            deployment=pairing.deployment,
            baseline=pairing.baseline,
            metric=pairing.metric,
            workload=pairing.setting.workload,
            level=pairing.setting.level,
            difference=difference or _nothing(),
            hodges_lehmann=pairs.hodges_lehmann(),
            bound=limit,
            tolerance=tolerance,
            verdict=judgement.verdict,
            blocks_needed=judgement.blocks_needed,
            detectable=pairs.detectable(sidak(family, level)),
            reason=judgement.reason,
        )

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

    @cached_property
    def family(self) -> int:
        """Distinct comparisons that the study's questions make."""
        return len(self._asked)

    @cached_property
    def _levels(self) -> Mapping[str, Level]:
        return {run.level.name: run.level for run in self.plan.runs()}

    @cached_property
    def _asked(self) -> Mapping[Pairing, tuple[str, float]]:
        """Every pairing of a question → the first question that asks for it, its tolerance."""
        known = {deployment.name for deployment in self.plan.deployments}
        asked: dict[Pairing, tuple[str, float]] = {}
        for name, question in self.study.questions.items():
            for other in question.against:
                for setting in self.gathered.settings:
                    pairing = Pairing(question.baseline, other, question.metric, setting)
                    if {other, question.baseline} <= known and self.means(question.metric, setting):
                        asked.setdefault(pairing, (name, question.tolerance))
        return asked

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

    def _pairs(self, pairing: Pairing) -> Paired:
        return Paired.of(
            self.gathered.logs(pairing.deployment, pairing.setting, pairing.metric),
            self.gathered.logs(pairing.baseline, pairing.setting, pairing.metric),
        )

    def _over_capacity(self, pairing: Pairing) -> str:
        """Why a latency is not compared here: a side could not keep up. Empty where both could."""
        sides = self._overloaded(pairing)
        if not sides:
            return ""
        return (
            f"Over capacity: {sides} could not keep up with the offered rate, so "
            "latencies tell how long the run was and are not compared."
        )

    def _unbounded(self, same: Pairing) -> str:
        """Why latencies of twins make no A/A bound here, empty where they do.

        The blocks in which both kept up would be chosen by what they measured: the calm ones.
        """
        sides = self._overloaded(same)
        if not sides:
            return ""
        return (
            f"There is no A/A bound for latencies: {sides} could not keep up with the offered rate."
        )

    def _overloaded(self, pairing: Pairing) -> str:
        """The sides that could not keep up and how often; empty for what is no latency."""
        if not METRICS[pairing.metric].latency:
            return ""
        sides = []
        for name in (pairing.deployment, pairing.baseline):
            over = self.gathered.over_capacity(name, pairing.setting)
            if over:
                shares = [run.values["achieved"] for run in over if "achieved" in run.values]
                runs = len(self.gathered.valid(name, pairing.setting))
                least = f" ({percent(min(shares))} answered at worst)" if shares else ""
                sides.append(f"`{name}` in {len(over)} of {runs} runs{least}")
        return " and ".join(sides)

    def _twins_of(self, pairing: Pairing) -> Pairing | None:
        """The twin at the same metric, workload and level; None when the study has no twin."""
        for deployment in self.plan.deployments:
            if deployment.twin_of:
                return pairing._replace(baseline=deployment.twin_of, deployment=deployment.name)
        return None


def _sides(pairing: Pairing) -> set[str]:
    return {pairing.baseline, pairing.deployment}


def _not_compared(
    pairing: Pairing, question: str | None, tolerance: float, reason: str
) -> Comparison:
    return Comparison(
        question=question,
        deployment=pairing.deployment,
        baseline=pairing.baseline,
        metric=pairing.metric,
        workload=pairing.setting.workload,
        level=pairing.setting.level,
        difference=_nothing("not compared: over capacity"),
        hodges_lehmann=None,
        bound=None,
        tolerance=tolerance,
        verdict=Verdict.INCONCLUSIVE,
        blocks_needed=None,
        detectable=None,
        reason=reason,
    )


def _nothing(method: str = "no complete block") -> Estimate:
    """Stands for a difference that no complete block tells anything of."""
    return Estimate(value=0.0, low=None, high=None, n=0, unit="share", method=method)
