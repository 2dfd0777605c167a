"""Identical deployments: how far they are apart, and where both stand for one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dunnage.analysis import looks
from dunnage.analysis.estimate import Paired
from dunnage.analysis.gather import Gathered, Setting
from dunnage.findings.differences.verdict import Twin, apart
from dunnage.model.analysis import Estimate, Overload
from dunnage.model.metrics import METRICS
from dunnage.model.plan import Plan


@dataclass(frozen=True)
class Pair:
    """A deployment and its copy."""

    original: str
    copy: str


def twins(plan: Plan) -> tuple[Pair, ...]:
    """Every deployment that has a twin, with it."""
    return tuple(
        Pair(deployment.twin_of, deployment.name)
        for deployment in plan.deployments
        if deployment.twin_of
    )


class Twins:
    """What a study's twins tell, at every metric and setting.

    Intervals hold together over the settings of one metric, `compared(metric)`.
    """

    def __init__(
        self,
        plan: Plan,
        gathered: Gathered,
        compared: Callable[[str], tuple[Setting, ...]],
        look: int,
    ) -> None:
        self.pair = next(iter(twins(plan)), None)
        """The first pair; None where the study has no twin."""
        self._gathered = gathered
        self._compared = compared
        self._look = look
        self._known: dict[tuple[str, Setting], Twin] = {}

    def paired(self, metric: str, setting: Setting) -> Paired:
        """The copy over its original; only where there are twins."""
        if self.pair is None:
            raise LookupError("the study has no twin")
        copy, original = (
            self._gathered.logs(name, setting, metric)
            for name in (self.pair.copy, self.pair.original)
        )
        return Paired.of(copy, original)

    def difference(self, metric: str, setting: Setting) -> Estimate | None:
        """By how much they differ, simultaneously over the settings of the metric."""
        family = max(1, len(self._compared(metric)))
        return looks.difference(self.paired(metric, setting), self._look, family)

    def of(self, metric: str, setting: Setting) -> Twin | None:
        """What is known of the instrument here; None without a twin."""
        if self.pair is None:
            return None
        if (metric, setting) not in self._known:
            self._known[metric, setting] = self._judged(self.pair, metric, setting)
        return self._known[metric, setting]

    def _judged(self, pair: Pair, metric: str, setting: Setting) -> Twin:
        pairs = self.paired(metric, setting)
        if over := overloaded(self._gathered, (pair.original, pair.copy), metric, setting):
            # The blocks in which both kept up would be chosen by what they measured: the calm ones.
            return Twin(pairs.n, None, over)
        return Twin(pairs.n, apart(self.difference(metric, setting)))

    def logs(self, name: str, metric: str, setting: Setting) -> dict[int, float]:
        """Block → log value of a deployment; the mean of both twins for their original.

        Only where their interval holds zero: the difference of two normal values tells nothing of
        their mean, so that choosing by it biases nothing, and the mean makes intervals narrower. A
        block that has one of the two has that one's value.
        """
        own = self._gathered.logs(name, setting, metric)
        if not self.alike(name, metric, setting) or self.pair is None:
            return own
        copy = self._gathered.logs(self.pair.copy, setting, metric)
        return {
            block: (own.get(block, copy.get(block, 0.0)) + copy.get(block, own.get(block, 0.0))) / 2
            for block in sorted(own.keys() | copy.keys())
        }

    def alike(self, name: str, metric: str, setting: Setting) -> bool:
        """Whether both twins stand for a deployment here."""
        found = self.of(metric, setting)
        return (
            self.pair is not None
            and name == self.pair.original
            and (found is not None and found.apart == 0)
        )

    def are(self, *names: str) -> bool:
        """Whether these deployments are the two twins."""
        return self.pair is not None and set(names) == {self.pair.original, self.pair.copy}


def overloaded(
    gathered: Gathered, names: tuple[str, ...], metric: str, setting: Setting
) -> tuple[Overload, ...]:
    """Deployments that could not keep up; none for what is no latency."""
    if not METRICS[metric].latency:
        return ()
    found = []
    for name in names:
        over = gathered.over_capacity(name, setting)
        shares = [run.values["achieved"] for run in over if "achieved" in run.values]
        if over:
            found.append(
                Overload(
                    deployment=name,
                    over=len(over),
                    runs=len(gathered.valid(name, setting)),
                    least=min(shares, default=None),
                )
            )
    return tuple(found)
