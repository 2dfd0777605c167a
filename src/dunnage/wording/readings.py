"""Readings of gates as text: one amount, or the range of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from dunnage.model.check import Reading
from dunnage.units import duration, percent, size
from dunnage.wording.alike import NAMES_SHOWN, merged, some

SENTENCES = frozenset({"reason", "error", "sentence"})
"""What others said: such texts are drawn together as sentences are."""
_SIGNED = frozenset({"change", "speed", "trend"})
"""Shares that may go either way."""
_UNITS: Mapping[str, Callable[[float], str]] = {
    "share": percent,
    "s": duration,
    "B": size,
    "op/s": lambda rate: f"{rate:g} op/s",
}


def shown(readings: Sequence[Reading], most: int | None = NAMES_SHOWN) -> str:
    """What was read: `4.2 s`, `5.1 to 7.2 %`; of texts so many stand beside each other."""
    numbers = [reading for reading in readings if not isinstance(reading.value, str)]
    if not numbers:
        texts = [str(reading.value) for reading in readings]
        return merged(texts) if readings[0].what in SENTENCES else some(texts, most)
    ranked = sorted(numbers, key=lambda reading: reading.value)
    low, high = _text(ranked[0]), _text(ranked[-1])
    if low == high:
        return low
    number, _, unit = low.rpartition(" ")
    return f"{number if high.endswith(f' {unit}') and number else low} to {high}"


def places(readings: Iterable[Reading], most: int | None = NAMES_SHOWN) -> str:
    """Where it was read: `db-1, db-2`, `redis-1 on db-1`."""
    return some(map(_place, filter(lambda reading: reading.where, readings)), most)


def _place(reading: Reading) -> str:
    return f"{reading.member} on {reading.where}" if reading.member else reading.where


def _text(reading: Reading) -> str:
    value = float(reading.value)
    if reading.what in _SIGNED:
        return percent(value, sign=True)
    said = _UNITS.get(reading.unit)
    return said(value) if said else f"{value:.12g}"
