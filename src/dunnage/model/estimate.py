"""A number with its interval: the only way in which an estimate travels."""

from __future__ import annotations

from dunnage.model.value import Value


class Estimate(Value):
    """A value with its interval. `n` is the number of blocks; `method` says how it was made.

    `low` and `high` are None where there are too few blocks for an interval.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    unit: str
    method: str
    level: float = 0.95
    """Coverage of the interval, simultaneous over the family it belongs to."""
