"""Identical deployments: how far they are apart, and where both stand for one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dunnage.analysis import looks
from dunnage.analysis.gather import Gathered
from dunnage.analysis.intervals import Paired
from dunnage.analysis.runs import Setting
from dunnage.findings.differences.scope import Scope
from dunnage.findings.differences.verdict import Edges
from dunnage.model.analysis import Ground, Overload
from dunnage.model.metrics import METRICS

Values = Callable[[str, Setting, str], dict[int, float]]
"""A deployment's values of a metric at a setting, by block."""


@dataclass(frozen=True)
class Twin:
    """What two identical deployments tell of the instrument, under one condition."""

    n: int
    """Blocks in which both are there."""
    apart: float | None
    """By how much they differ for certain, as `Estimate.apart` says; None where not known."""
    overloads: tuple[Overload, ...] = ()
    """Twins that could not keep up with the load: then it cannot be known, however many blocks
    there are."""


def edges_of(twin: Twin | None, tolerance: float) -> Edges | Ground:
    """Where verdicts change, or why nothing may be claimed; None means that there is no twin."""
    if twin is None:
        return Ground.NO_TWIN
    if twin.overloads:
        return Ground.TWINS_OVERLOADED
    return Ground.TOO_FEW_TWINS if twin.apart is None else Edges.in_study(tolerance, twin.apart)


class Twins:
    """What a study's twins tell, at every metric and setting.

    Intervals hold together over the settings of one metric.
    """

    def __init__(self, scope: Scope, gathered: Gathered, look: int) -> None:
        known = {deployment.name for deployment in scope.plan.deployments}
        pairs = (pair for pair in scope.copies.items() if known.issuperset(pair))
        self.pair = next(pairs, None)
        """The first copy and its original; None where the plan has not both."""
        self._scope = scope
        self._gathered = gathered
        self._look = look
        self._known: dict[tuple[str, Setting], Twin] = {}

    def of(self, metric: str, setting: Setting) -> Twin | None:
        """What is known of the instrument here; None without a twin."""
        if self.pair is None:
            return None
        if (metric, setting) not in self._known:
            self._known[metric, setting] = self._measured(self.pair, metric, setting)
        return self._known[metric, setting]

    def _measured(self, pair: tuple[str, str], metric: str, setting: Setting) -> Twin:
        pairs = Paired.of(*(self._gathered.logs(name, setting, metric) for name in pair))
        if over := overloaded(self._gathered, pair[::-1], metric, setting):
            # The blocks in which both kept up would be chosen by what they measured: the calm ones.
            return Twin(pairs.n, None, over)
        family = max(1, len(self._scope.settings(metric)))
        difference = looks.difference(pairs, self._look, family)
        return Twin(pairs.n, None if difference is None else difference.apart)

    def logs(self, name: str, setting: Setting, metric: str) -> dict[int, float]:
        """Block → log value of a deployment; the mean of both twins for their original.

        Only where their interval holds zero: the difference of two normal values tells nothing of
        their mean, so that choosing by it biases nothing, and the mean makes intervals narrower. A
        block that has one of the two has that one's value.
        """
        return self._both(self._gathered.logs, name, setting, metric)

    def means(self, name: str, setting: Setting, metric: str) -> dict[int, float]:
        """Block → arithmetic mean of a deployment; both twins stand for their original as above."""
        return self._both(self._gathered.means, name, setting, metric)

    def _both(self, values: Values, name: str, setting: Setting, metric: str) -> dict[int, float]:
        own = values(name, setting, metric)
        if not self.alike(name, metric, setting) or self.pair is None:
            return own
        copy = values(self.pair[0], setting, metric)
        return {
            block: (own.get(block, copy.get(block, 0.0)) + copy.get(block, own.get(block, 0.0))) / 2
            for block in sorted(own.keys() | copy.keys())
        }

    def alike(self, name: str, metric: str, setting: Setting) -> bool:
        """Whether both twins stand for a deployment here."""
        twin = self.of(metric, setting) if self.pair and name == self.pair[1] else None
        return twin is not None and twin.apart == 0

    def are(self, *names: str) -> bool:
        """Whether these deployments are the two twins."""
        return self.pair is not None and set(names) == set(self.pair)


def overloaded(
    gathered: Gathered, names: tuple[str, ...], metric: str, setting: Setting
) -> tuple[Overload, ...]:
    """Deployments that could not keep up; none for what is no latency."""
    if not METRICS[metric].latency:
        return ()
    return tuple(filter(None, (gathered.overload(name, setting) for name in names)))
