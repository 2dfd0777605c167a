"""What is remembered of a machine: what its twins said, how fast it is, how restless."""

from __future__ import annotations

from dunnage.model.value import Value

HISTORY_VERSION = 1
"""1: first."""


class TwinsSaid(Value):
    """What the twins of one result said."""

    version: int = HISTORY_VERSION
    result: str
    """Name of its directory; of several lines the last one counts."""
    study: str
    time: float
    """Unix time, in seconds."""
    metrics: int
    """Metrics for which the twins have intervals."""
    apart: tuple[str, ...]
    """Those in which an interval left out zero somewhere, which should happen to one in twenty."""


class Pace(Value):
    """How long one result took for what it did not measure, and how restless its runs were."""

    version: int = HISTORY_VERSION
    platform: str
    database: str
    stay: float
    """Seconds of a stay besides its runs and conditioning: up, filled, inspected, down."""
    around: float
    """Seconds of a run besides warm-up and measured time."""
    records: int
    """Records that a stay held."""
    measured: float
    """Seconds that a run measured."""
    spread: float
    """Standard deviation of log throughput beside deployment and block."""
    within: float
    """Part of its variance that is chance inside the measured time, 0 to 1: longer runs help."""
