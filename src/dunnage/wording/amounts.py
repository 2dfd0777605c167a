"""Readings of gates as text: one amount, or the range of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from dunnage.model.check import Reading
from dunnage.units import duration, percent, size

NAMES_SHOWN = 3
"""Hosts, members or addresses that a sentence names."""
_SIGNED = frozenset({"change", "speed", "trend"})
"""Shares that may go either way."""
_UNITS: Mapping[str, Callable[[float], str]] = {
    "share": percent,
    "s": duration,
    "B": size,
    "op/s": lambda rate: f"{rate:g} op/s",
}


def amount(readings: Sequence[Reading]) -> str:
    """What was read: `4.2 s`, `5.1 to 7.2 %`; texts stand beside each other."""
    numbers = [reading for reading in readings if not isinstance(reading.value, str)]
    if not numbers:
        return some(str(reading.value) for reading in readings)
    ranked = sorted(numbers, key=lambda reading: reading.value)
    least, most = _text(ranked[0]), _text(ranked[-1])
    if least == most:
        return least
    number, _, unit = least.rpartition(" ")
    return f"{number if most.endswith(f' {unit}') and number else least} to {most}"


def places(readings: Iterable[Reading]) -> str:
    """Where it was read: `db-1, db-2`."""
    return some(reading.where for reading in readings if reading.where)


def some(names: Iterable[str]) -> str:
    """Names, each once; of many only some: `a, b, c and 2 more`."""
    found = sorted(set(names))
    rest = len(found) - NAMES_SHOWN
    shown = ", ".join(found if rest <= 0 else found[:NAMES_SHOWN])
    return shown if rest <= 0 else f"{shown} and {rest} more"


def _text(reading: Reading) -> str:
    value = float(reading.value)
    if reading.what in _SIGNED:
        return percent(value, sign=True)
    said = _UNITS.get(reading.unit)
    return said(value) if said else f"{value:.12g}"
