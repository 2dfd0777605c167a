"""What is remembered of a machine from earlier results: its twins, its speed and its noise."""

from __future__ import annotations

from dunnage.model.value import Value

REMEMBERED_VERSION = 1
"""1: first."""


class TwinsSaid(Value):
    """The twins of one result."""

    version: int = REMEMBERED_VERSION
    result: str
    """Name of its directory. The last line for it counts."""
    study: str
    time: float
    """Unix time, in seconds."""
    metrics: int
    """Metrics for which the twins have intervals."""
    apart: tuple[str, ...]
    """Metrics with an interval that excludes zero. About one in twenty is expected."""


class Pace(Value):
    """Time of one result outside its measurements, and the noise of its runs."""

    version: int = REMEMBERED_VERSION
    platform: str
    database: str
    stay: float
    """Seconds of a stay outside its runs and conditioning: start, loading, checks, stop."""
    around: float
    """Seconds of a run besides warm-up and measured time."""
    records: int
    """Records in a stay."""
    measured: float
    """Seconds that a run measured."""
    spread: float
    """Standard deviation of log throughput beside deployment and block."""
    within: float
    """Part of its variance that is chance inside the measured time, 0 to 1: longer runs help."""
