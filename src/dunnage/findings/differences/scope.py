"""What is compared in a result: which deployments, which metrics where, and what decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

from dunnage.analysis.gather import settings
from dunnage.analysis.runs import Runs, Setting
from dunnage.model.analysis import Comparison, Summary
from dunnage.model.level import Level
from dunnage.model.metrics import HEADLINE, METRICS, SEARCHED
from dunnage.model.plan import Plan
from dunnage.model.study import QuestionSpec, Study

OPEN_HEADLINE = ("response.p95",)
"""Beside the headline wherever a load is open, because there it is what users wait for."""
DEFAULT_TOLERANCE = 0.03
"""For metrics that no question names."""


class Cell(NamedTuple):
    """One metric of one deployment at one setting."""

    deployment: str
    metric: str
    setting: Setting

    @classmethod
    def of(cls, found: Comparison | Summary) -> Cell:
        """What a summary or a comparison is of."""
        return cls(found.deployment, found.metric, Setting(found.workload, found.level))


class Pairing(NamedTuple):
    """Two deployments, what is compared and where."""

    baseline: str
    deployment: str
    metric: str
    setting: Setting

    @classmethod
    def of(cls, found: Comparison) -> Pairing:
        """What a comparison is of."""
        return cls(found.baseline, *Cell.of(found))


@dataclass(frozen=True)
class Scope:
    """What a study, as far as it was planned and measured, compares."""

    study: Study
    plan: Plan
    runs: Runs

    @cached_property
    def deciding(self) -> tuple[str, ...]:
        """Metrics that decide: the headline's and those that questions name, each once."""
        asked = (question.metric for question in self.study.questions.values())
        return tuple(dict.fromkeys((*HEADLINE, *asked)))

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that are compared within the study: also what users of an open load wait for."""
        return tuple(dict.fromkeys((*self.deciding, *OPEN_HEADLINE, *SEARCHED)))

    @cached_property
    def copies(self) -> Mapping[str, str]:
        """Deployment that is a twin → its original."""
        return {each.name: each.twin_of for each in self.plan.deployments if each.twin_of}

    def decides(self, cell: Cell) -> bool:
        """Whether a change of it decides; a twin only tells of the instrument."""
        return cell.metric in self.deciding and cell.deployment not in self.copies

    def tolerance(self, metric: str) -> float:
        """The strictest of the questions on this metric, where no question is meant."""
        asked = self.study.questions.values()
        named = [each.tolerance for each in asked if each.metric == metric]
        return min(named, default=DEFAULT_TOLERANCE)

    def settings(self, metric: str) -> tuple[Setting, ...]:
        """Where a metric means something."""
        return tuple(setting for setting in self._settings if self._means(metric, setting))

    def cells(self) -> Iterator[Cell]:
        """Everything with a value that means something: latencies over capacity do not."""
        return (cell for cell in self._measured() if not self._lost(cell))

    def lost(self) -> Iterator[Cell]:
        """What was measured over capacity, so that its values mean nothing."""
        return filter(self._lost, self._measured())

    def _measured(self) -> Iterator[Cell]:
        for deployment, setting in product(self.plan.deployments, self._settings):
            runs = self.runs.valid(deployment.name, setting)
            for metric in METRICS:
                if any(metric in run.values for run in runs):
                    yield Cell(deployment.name, metric, setting)

    def _lost(self, cell: Cell) -> bool:
        return self.runs.lost(cell.deployment, cell.setting, cell.metric)

    def against(self, reference: str) -> tuple[Pairing, ...]:
        """Every metric of every deployment against `reference`."""
        others = (each.name for each in self.plan.deployments if each.name != reference)
        return self._pairings([(reference, other) for other in others], self.metrics)

    def twins(self) -> tuple[Pairing, ...]:
        """Every metric of every twin against its original, where both are there."""
        known = {each.name for each in self.plan.deployments}
        pairs = [(original, copy) for copy, original in self.copies.items() if original in known]
        return self._pairings(pairs, self.metrics)

    def asked(self, name: str) -> tuple[Pairing, ...]:
        """What a question asks for, of the deployments that are there."""
        question = self.study.questions[name]
        return self._pairings(asked_pairs(self.plan, (question,)), (question.metric,))

    def question(self, pairing: Pairing) -> str | None:
        """The first question that asks for a pairing; None where it is exploratory."""
        return self._questions.get(pairing)

    def family(self, name: str) -> int:
        """Distinct primary comparisons that one question makes; its intervals hold together."""
        question = self.study.questions[name]
        return sum(is_primary(question, pairing) for pairing in self.asked(name))

    def _pairings(
        self, pairs: Iterable[tuple[str, str]], metrics: Iterable[str]
    ) -> tuple[Pairing, ...]:
        return tuple(
            Pairing(*pair, metric, setting)
            for pair in pairs
            for metric in metrics
            for setting in self.settings(metric)
        )

    def _means(self, metric: str, setting: Setting) -> bool:
        """Whether the metric means something at the level.

        Response times need an open load, saturation a search, and at the rate where a search
        happened to end little else does.

        Operation types that a workload lacks have no values anywhere and are passed over too,
        unless no run has ended yet.
        """
        level = self._levels[setting.level]
        if METRICS[metric].open_only and not level.open:
            return False
        if (level.search is not None) != (metric in SEARCHED):
            return False
        known = self._known.get(setting)
        return not known or metric in known

    @cached_property
    def _known(self) -> Mapping[Setting, set[str]]:
        """Setting → metrics of which some run has a value there."""
        known: dict[Setting, set[str]] = {}
        for run in self.runs.runs:
            known.setdefault(Setting(run.workload, run.level), set()).update(run.values)
        return known

    @cached_property
    def _settings(self) -> tuple[Setting, ...]:
        return settings(self.plan)

    @cached_property
    def _levels(self) -> Mapping[str, Level]:
        return {run.level.name: run.level for run in self.plan.runs()}

    @cached_property
    def _questions(self) -> Mapping[Pairing, str]:
        asked: dict[Pairing, str] = {}
        for name in self.study.questions:
            for pairing in self.asked(name):
                asked.setdefault(pairing, name)
        return asked


def pairs(
    plan: Plan, reference: str, questions: Iterable[QuestionSpec]
) -> tuple[tuple[str, str], ...]:
    """(baseline, deployment) once each: all against the reference, then what questions ask."""
    against = ((reference, each.name) for each in plan.deployments if each.name != reference)
    return tuple(dict.fromkeys((*against, *asked_pairs(plan, questions))))


def asked_pairs(plan: Plan, questions: Iterable[QuestionSpec]) -> tuple[tuple[str, str], ...]:
    """(baseline, deployment) that questions ask for, of the deployments that are there."""
    known = {deployment.name for deployment in plan.deployments}
    asked = ((question.baseline, other) for question in questions for other in question.against)
    return tuple(dict.fromkeys(pair for pair in asked if known.issuperset(pair)))


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
