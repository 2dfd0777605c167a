"""Scales: which values an axis holds, at which it has ticks, and how far along each value lies."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

WIDE = 16
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""
_STEPS = (1, 2, 2.5, 5, 10)


def even(value: float) -> float:
    """The spacing of a linear scale."""
    return value


def beyond(quantile: float) -> float:
    """The spacing of a tail: decades of what lies beyond a quantile, 1 for p90 and 2 for p99."""
    return -math.log10(1 - quantile)


@dataclass(frozen=True)
class Scale:
    """The values from `low` to `high`, spaced as `spacing` says."""

    low: float
    high: float
    ticks: tuple[float, ...]
    spacing: Callable[[float], float] = even
    margin: float = 0.0
    """Percent that is left free at either end."""

    def at(self, value: float) -> float:
        """The place of a value in percent from the low end; one outside is held at its end."""
        held = min(max(value, self.low), self.high)
        low, high, place = (self.spacing(one) for one in (self.low, self.high, held))
        return round(self.margin + (place - low) / (high - low) * (100 - 2 * self.margin), 2)


def wide(values: Iterable[float]) -> bool:
    """Whether positive values lie too far apart for a linear scale."""
    positive = [value for value in values if value > 0]
    return bool(positive) and max(positive) > WIDE * min(positive)


def linear(values: Iterable[float], *, wanted: int = 5) -> Scale:
    """A scale with round ticks that holds all values."""
    found = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(found), max(found)
    if high - low < 1e-12 * max(abs(low), abs(high), 1e-12):
        low, high = low - abs(low) * 0.1 - 1e-9, high + abs(high) * 0.1 + 1e-9
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in _STEPS if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(number * step for number in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


def logarithmic(values: Iterable[float]) -> Scale:
    """A scale of 1, 2, 5 and powers of ten that holds all positive values."""
    found = [value for value in values if value > 0 and math.isfinite(value)] or [1.0, 10.0]
    low, high = min(found), max(found)
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    marks = [mantissa * 10.0**power for power in powers for mantissa in (1, 2, 5)]
    low = max((mark for mark in marks if mark <= low * 1.000001), default=low)
    high = min((mark for mark in marks if mark >= high * 0.999999), default=high)
    if high <= low:
        high = min(mark for mark in marks if mark > low)
    inside = [mark for mark in marks if low * 0.999999 <= mark <= high * 1.000001]
    if len(inside) > 7:
        inside = [mark for mark in inside if f"{mark:e}".startswith("1.")]
    return Scale(low, high, tuple(inside), math.log)
