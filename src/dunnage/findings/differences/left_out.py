"""Runs of both sides of a comparison that do not count, and whether one side has more of them.

Gates look at what a deployment does, so that what they leave of it may be its better moments. Where
they leave out about as much of both sides, this is the machine's affair. Where they do not, the
comparison is one of chosen runs, and nothing is claimed of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dunnage.analysis.frequency import OWN, Frequency, apart
from dunnage.analysis.gather import Gathered
from dunnage.analysis.groups import grouped
from dunnage.analysis.runs import Setting
from dunnage.findings.differences.scope import Pairing
from dunnage.model.analysis import LeftOut, RunSummary, Thinned
from dunnage.model.check import Status
from dunnage.model.plan import Plan, RunPlan

MISSING, PARITY = "missing", "parity"
"""What stands in the place of a gate: a run did not happen; its stay was not like the others."""


@dataclass(frozen=True)
class Sides:
    """What was left out of each deployment, in blocks that were begun."""

    plan: Plan
    gathered: Gathered

    def at(self, pairing: Pairing) -> tuple[LeftOut, LeftOut]:
        """Of the deployment and of its baseline, at the comparison's workload and level."""
        here = (pairing.setting,)
        own, other = pairing.deployment, pairing.baseline
        return self._of(own, [own], here), self._of(other, [other], here)

    def thinned(self, pairing: Pairing) -> Thinned | None:
        """How both sides differ, where chance does not explain it; None where it does.

        All workloads and levels are tested together at which both sides have valid runs, as a gate
        that looks at what a deployment does leaves out some of each. It is told only of those at
        which the side that lost more in all lost more, too. What a platform does may be too seldom
        to tell in one deployment, so where two platforms differ, all deployments of the one are
        tested against all of the other, too. A study has many comparisons of the same two
        platforms, so the chance of that is multiplied by the number of such pairs (Bonferroni).
        """
        names = pairing.deployment, pairing.baseline
        settings = [
            setting
            for setting in self.gathered.settings
            if all(self.gathered.valid(name, setting) for name in names)
        ]
        if not settings:
            return None
        here = (pairing.setting,)
        alone = self._thinned([(name, [name]) for name in names], settings, here)
        platforms = [self.plan.deployment(name).platform for name in names]
        if alone or len(set(platforms)) == 1:
            return alone
        sides = [(platform, self._on[platform]) for platform in platforms]
        together = self._thinned(sides, settings, here, choices=math.comb(len(self._on), 2))
        return together and together.model_copy(update={"platforms": True})

    def _thinned(
        self,
        sides: Sequence[tuple[str, Sequence[str]]],
        settings: Collection[Setting],
        here: Collection[Setting],
        choices: int = 1,
    ) -> Thinned | None:
        """The same of two sides, each with its name and its deployments, in all settings and in the
        comparison's. They are one of so many `choices` of two."""
        whole, now = ([self._of(*side, each) for side in sides] for each in (settings, here))
        chance = choices * apart(*map(_frequency, whole))
        if chance >= OWN or not _same_way(whole, now):
            return None
        return Thinned(deployment=whole[0], baseline=whole[1], chance=chance)

    def _of(
        self, called: str, deployments: Sequence[str], settings: Collection[Setting]
    ) -> LeftOut:
        """Of all these deployments, which are called so together."""
        planned = [
            run
            for name in deployments
            for run in self._planned.get(name, ())
            if _setting(run) in settings
        ]
        out = [run for run in planned if not self._counts(run)]
        gates = Counter(gate for run in out for gate in _gates(self._seen.get(run.id)))
        return LeftOut(
            deployment=called,
            runs=len(out),
            of_runs=len(planned),
            blocks=len({(run.block, run.deployment) for run in out}),
            of_blocks=len({(run.block, run.deployment) for run in planned}),
            gates=dict(gates.most_common()),
        )

    def _counts(self, run: RunPlan) -> bool:
        seen = self._seen.get(run.id)
        return seen is not None and seen.status == Status.VALID

    @cached_property
    def _planned(self) -> Mapping[str, Sequence[RunPlan]]:
        """Deployment → its runs in blocks of which some run has ended."""
        begun = {run.block for run in self.gathered.runs}
        planned = (run for run in self.plan.runs() if run.block in begun)
        return grouped(planned, lambda run: run.deployment)

    @cached_property
    def _on(self) -> Mapping[str, Sequence[str]]:
        """Platform → its deployments."""
        deployments = grouped(self.plan.deployments, lambda each: each.platform)
        return {platform: [each.name for each in own] for platform, own in deployments.items()}

    @cached_property
    def _seen(self) -> Mapping[str, RunSummary]:
        return {run.run: run for run in self.gathered.runs}


def _setting(run: RunPlan) -> Setting:
    return Setting(run.workload.name, run.level.name)


def _gates(run: RunSummary | None) -> tuple[str, ...]:
    """What left a run out, each once."""
    if run is None:
        return (MISSING,)
    found = [check.check for check in run.checks] + [PARITY] * bool(run.differences)
    return tuple(dict.fromkeys(found))


def _frequency(side: LeftOut) -> Frequency:
    return Frequency(side.blocks, side.of_blocks)


def _same_way(whole: Sequence[LeftOut], here: Sequence[LeftOut]) -> bool:
    """Whether the side of which more was left out in all is that of which more was here."""
    (own, other), (own_here, other_here) = (map(_share, each) for each in (whole, here))
    return (own - other) * (own_here - other_here) > 0


def _share(side: LeftOut) -> float:
    return _frequency(side).share
