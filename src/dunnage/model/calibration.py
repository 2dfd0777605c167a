"""What the baseline was found to be capable of, so that a share of it can be made a rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import field_validator

from dunnage.model.check import CheckResult
from dunnage.model.level import Level
from dunnage.model.value import Value

CALIBRATION_VERSION = 3
"""1: first. 2: it may be taken from another result. 3: gates are values."""


class Capacity(Value):
    """What one workload reached in a closed loop."""

    throughput: float
    """Operations per second: the median of the runs that count."""
    runs: Mapping[str, float]
    """Run → its throughput. Their records lie beside those of the study."""
    spoilt: Mapping[str, tuple[CheckResult, ...]] = {}
    """Run that is not valid → the gates that it did not pass. It counts only where no run is
    valid."""

    @field_validator("spoilt", mode="before")
    @classmethod
    def _from_sentences(cls, given: Any) -> Any:
        """Before version 3 it was a sentence for each run."""
        if not isinstance(given, Mapping):
            return given
        return {
            run: (CheckResult.written(found),) if isinstance(found, str) else found
            for run, found in given.items()
        }

    @property
    def doubtful(self) -> bool:
        """Whether no run of it is valid, so that its throughput comes from spoilt ones."""
        return self.runs.keys() <= self.spoilt.keys()


class Calibration(Value):
    """The capacity of one deployment, workload by workload. Written once, before block 1."""

    version: int = CALIBRATION_VERSION
    deployment: str
    threads: int
    capacities: Mapping[str, Capacity]
    taken_from: str | None = None
    """Another result that found it and holds its runs, as `<study>/<time>-<id>`; None: this one."""

    def made(self, level: Level, workload: str) -> Level:
        """The level with the rate that its share of a workload's capacity is: whole, at least 1.

        A level without a share stays as it is.
        """
        if level.share is None:
            return level
        rate = round(level.share * self.capacities[workload].throughput)
        return level.model_copy(update={"rate": float(max(1, rate))})
