"""The runs of a result with their values: which count, and where a deployment was over capacity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dunnage.analysis.groups import grouped
from dunnage.analysis.intervals import block_logs, block_means
from dunnage.model.analysis import Overload, RunSummary
from dunnage.model.check import Status
from dunnage.model.metrics import METRICS


class Setting(NamedTuple):
    """One workload at one level: what a comparison holds fixed."""

    workload: str
    level: str


@dataclass(frozen=True)
class Runs:
    """Runs in the order of the plan. Only valid ones take part."""

    runs: tuple[RunSummary, ...]

    def logs(self, deployment: str, setting: Setting, metric: str) -> dict[int, float]:
        """Block → mean log value of a deployment's valid runs."""
        return block_logs(self._values(deployment, setting, metric))

    def means(self, deployment: str, setting: Setting, metric: str) -> dict[int, float]:
        """Block → arithmetic mean over a deployment's valid runs."""
        return block_means(self._values(deployment, setting, metric))

    def _values(
        self, deployment: str, setting: Setting, metric: str
    ) -> Iterator[tuple[int, float]]:
        for run in self.valid(deployment, setting):
            if counts(run, metric):
                yield run.block, run.values[metric]

    def over_capacity(self, deployment: str, setting: Setting) -> tuple[RunSummary, ...]:
        """Valid runs in which a deployment could not keep up with the open load."""
        return tuple(run for run in self.valid(deployment, setting) if run.over_capacity)

    def overload(self, deployment: str, setting: Setting) -> Overload | None:
        """How often a deployment could not keep up here, and how badly; None where it could."""
        over = self.over_capacity(deployment, setting)
        if not over:
            return None
        return Overload(
            deployment=deployment,
            over=len(over),
            runs=len(self.valid(deployment, setting)),
            least=min((r.values["achieved"] for r in over if "achieved" in r.values), default=None),
        )

    def lost(self, deployment: str, setting: Setting, metric: str) -> bool:
        """Whether a latency says nothing of a deployment here, because it was over capacity.

        The runs that kept up do not stand for it: they are chosen by what they measured.
        """
        return METRICS[metric].latency and bool(self.over_capacity(deployment, setting))

    def count(self, status: Status) -> int:
        """How many runs have this status."""
        return sum(run.status == status for run in self.runs)

    def valid(self, deployment: str, setting: Setting) -> Sequence[RunSummary]:
        """A deployment's valid runs of a setting, in the order of the plan."""
        return self._by_setting.get((deployment, *setting), ())

    @property
    def measured(self) -> tuple[tuple[str, Setting], ...]:
        """Every deployment and setting that has a valid run."""
        return tuple((deployment, Setting(*setting)) for deployment, *setting in self._by_setting)

    @cached_property
    def _by_setting(self) -> Mapping[tuple[str, str, str], Sequence[RunSummary]]:
        valid = (run for run in self.runs if run.status == Status.VALID)
        return grouped(valid, lambda run: (run.deployment, run.workload, run.level))


def counts(run: RunSummary, metric: str) -> bool:
    """Whether a run has a value that means something: over capacity, latencies do not."""
    return metric in run.values and not (run.over_capacity and METRICS[metric].latency)
