"""From values to places on a figure: percentages of its width or height."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

WIDE = 16
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class Tick:
    """One mark on an axis: its value, and its place in percent."""

    value: float
    at: float


@dataclass(frozen=True)
class Scale:
    """A linear or logarithmic axis over [low, high]."""

    low: float
    high: float
    ticks: tuple[Tick, ...]
    log: bool = False

    def at(self, value: float) -> float:
        """The place of a value in percent from the low end, held inside the figure."""
        return _place(value, self.low, self.high, self.log)


def linear(values: Iterable[float], *, wanted: int = 5) -> Scale:
    """An axis with round ticks that holds all values."""
    found = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(found), max(found)
    if high - low < 1e-12 * max(abs(low), abs(high), 1e-12):
        low, high = low - abs(low) * 0.1 - 1e-9, high + abs(high) * 0.1 + 1e-9
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in _STEPS if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    low, high = first * step, last * step
    return Scale(
        low,
        high,
        tuple(
            Tick(number * step, _place(number * step, low, high, log=False))
            for number in range(first, last + 1)
        ),
    )


def logarithmic(values: Iterable[float]) -> Scale:
    """An axis of 1, 2, 5 and powers of ten that holds all positive values."""
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
    return Scale(
        low, high, tuple(Tick(m, _place(m, low, high, log=True)) for m in inside), log=True
    )


def _place(value: float, low: float, high: float, log: bool) -> float:
    if log:
        value, low, high = math.log(max(value, low)), math.log(low), math.log(high)
    return round(min(max((value - low) / (high - low), 0.0), 1.0) * 100, 2)
