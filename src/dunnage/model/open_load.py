"""Results of open loads: which rates were sustained, and the probes of searches."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.estimate import Estimate
from dunnage.model.value import Condition, Value


class OpenLevel(Condition):
    """One deployment under one rate of a workload: what was offered and achieved.

    Over its valid runs. If any of them was over capacity, no latencies are compared: the other runs
    would be selected by what they measured.
    """

    offered: Estimate
    """Intended operations per second."""
    throughput: Estimate | None
    """Operations per second that were answered."""
    achieved: Estimate | None
    """Share of the offered operations that had finished when the window ended."""
    runs: int
    over_capacity: int
    """Number of these runs over capacity."""
    seconds: float
    """Median length of the measured window of those over capacity, else of all."""
    growth: float | None = None
    """Growth of the backlog in seconds per second: median of the runs over capacity."""
    lag: float | None = None
    """Delay of answers behind the schedule at the end, in seconds: median of the same runs."""


class Refusal(Value):
    """One reason why a load of a search was not sustained."""

    what: str
    """A metric of the load or of the objective, or `errors`; `sentence` in records before
    version 5."""
    value: float | str | None
    """In SI units; None if unknown."""
    most: float | None = None
    """Limit of the objective."""


class SearchProbe(Value):
    """One load of one search."""

    run: str
    block: int
    offered: float
    """Operations per second that were intended."""
    achieved: float
    """Operations per second that had finished when the window ended."""
    p99: float | None
    """Response time in seconds."""
    sustained: bool
    refusals: tuple[Refusal, ...] = ()
    """Why it was not sustained."""
    client: bool = False
    """Whether the client could not keep the schedule."""


class SaturationSearch(Condition):
    """The searches of one deployment and workload: one in each valid run."""

    found: Estimate | None
    """Highest sustained rate in operations per second, over blocks; None without a valid run."""
    searches: int
    precision: float
    """How far a found rate may be below one that is too high, as a share."""
    objective: Mapping[str, float] = {}
    """Upper limits of latency at a sustained rate, in seconds, by metric."""
    probes: tuple[SearchProbe, ...] = ()
    """In order of time, run by run."""
