"""One load setting, and how a search finds the highest sustained rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from dunnage.model.value import Spec, Value
from dunnage.units import Seconds, Share

SHORTEST = 1.0
"""Seconds of a run or a probe; a shorter one is mostly start and end."""


class Search(Spec):
    """How each stay finds the highest rate that its deployment sustains."""

    start: float = Field(default=1000.0, ge=1, examples=[1000])
    """Rate near which the search starts, in operations per second."""
    precision: Share = Field(default=0.05, ge=0.005, le=0.5, examples=["5%"])
    """How far the rate found may be below one that is too high."""
    probes: int = Field(default=20, ge=4, le=100, examples=[20])
    """Most probes in one search. A probe is one load."""
    probe: Seconds = Field(default=2.0, ge=SHORTEST, examples=["2s"])
    """Measured time of one probe."""
    objective: Mapping[str, Annotated[Seconds, Field(gt=0)]] = Field(
        default={}, examples=[{"response.p99": "10ms"}]
    )
    """Upper limits of latency at a sustained rate."""


class Level(Value):
    """One load setting: `threads` (closed loop), `rate` or `share` (open load), or a `search`.

    A plan's level may say a share of the capacity of deployment `of`; the record's level has the
    rate that was made of it, too.
    """

    threads: int | None = None
    rate: float | None = None
    share: float | None = None
    of: str | None = None
    search: Search | None = None

    @property
    def open(self) -> bool:
        """Whether operations have intended starts, so that response times mean something."""
        return self.rate is not None or self.share is not None

    @property
    def name(self) -> str:
        """`t32`, `r2000`, `s60` or `search`: short, and safe in a path."""
        if self.search is not None:
            return "search"
        if self.share is not None:
            return f"s{self.share * 100:.12g}"
        return f"t{self.threads}" if self.rate is None else f"r{self.rate:.12g}"

    @property
    def label(self) -> str:
        """`32 threads`, `2000 op/s` or `60 % of native's capacity`, for people."""
        if self.search is not None:
            return "search for saturation"
        if self.share is not None:
            return f"{self.share * 100:.12g} % of {self.of or 'the baseline'}'s capacity"
        return f"{self.threads} threads" if self.rate is None else f"{self.rate:.12g} op/s"

    @property
    def weight(self) -> tuple[int, float]:
        """Sorts levels kind by kind, each from light to heavy."""
        if self.search is not None:
            return 3, 0.0
        if self.share is not None:
            return 2, self.share
        return (0, float(self.threads or 0)) if self.rate is None else (1, self.rate)
