"""What came of open loads: which rates were kept up with, and what searches for the highest saw."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.estimate import Estimate
from dunnage.model.value import Value


class OpenLevel(Value):
    """One deployment under one rate of a workload: what was offered, and what came of it.

    Over its valid runs. Where some of them were over capacity, its latencies are not compared, and
    those of the runs that kept up neither: they would be chosen by what they measured.
    """

    deployment: str
    workload: str
    level: str
    offered: Estimate
    """Operations per second that were intended."""
    throughput: Estimate | None
    """Operations per second that were answered."""
    achieved: Estimate | None
    """Share of the offered operations that was over when the window ended."""
    runs: int
    over_capacity: int
    """How many of them the deployment could not keep up with."""
    seconds: float
    """Median length of the measured window of those over capacity, else of all."""
    growth: float | None = None
    """Seconds that the backlog grew by in each second: median of the runs over capacity."""
    lag: float | None = None
    """Seconds that answers lay behind the schedule at the end: median of the same runs."""


class Refusal(Value):
    """One reason why a load of a search was not sustained."""

    what: str
    """A metric of the load or of the objective, or `errors`; `sentence` in records before
    version 5."""
    value: float | str | None
    """In SI units; None where it is not known."""
    most: float | None = None
    """What the objective allows."""


class SearchProbe(Value):
    """One load of one search."""

    run: str
    block: int
    offered: float
    """Operations per second that were intended."""
    achieved: float
    """Operations per second that were over when the window ended."""
    p99: float | None
    """Response time in seconds."""
    sustained: bool
    refusals: tuple[Refusal, ...] = ()
    """Why it was not."""
    client: bool = False
    """Whether it was the client that could not keep the schedule."""


class SaturationSearch(Value):
    """The searches of one deployment and workload: one in each valid run."""

    deployment: str
    workload: str
    level: str
    found: Estimate | None
    """Highest sustained rate in operations per second, over blocks; None without a valid run."""
    searches: int
    precision: float
    """How far what one search finds may lie below a rate that is too high, as a share."""
    objective: Mapping[str, float] = {}
    """Latencies in seconds that a sustained rate keeps to, by metric."""
    probes: tuple[SearchProbe, ...] = ()
    """In the order in which they were made, run by run."""
