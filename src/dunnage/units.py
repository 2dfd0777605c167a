"""Quantities as people write them (`15s`, `3%`, `512MiB`, `5Hz`) and as code holds them.

Code holds seconds, shares of one, bytes and hertz; the unit stands in the name of the type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo, WithJsonSchema

from dunnage.errors import shown

BY_HAND: Mapping[str, bool] = {"by hand": True}
"""Context for validating what a person wrote: there a quantity carries its unit, unless it is 0.
Files of our own hold bare numbers in base units."""

_QUANTITY = re.compile(r"\s*([+-]?\d[\d_]*(?:\.\d+)?)\s*([^\d\s].*)?\s*")
_LONGEST = 40
"""Letters of a quantity; what is longer was not meant to be one."""

DURATIONS: Mapping[str, float] = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}
SHARES: Mapping[str, float] = {"%": 0.01}
SIZES: Mapping[str, float] = {
    "B": 1,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
FREQUENCIES: Mapping[str, float] = {"Hz": 1}

UNIT = r")\s*$"
OPTIONAL_UNIT = r")?\s*$"
"""How the pattern of a quantity ends in a JSON Schema."""
_PATTERN = r"^\s*[+-]?\d[\d_]*(\.\d+)?\s*({}"


def quantity(
    text: object, units: Mapping[str, float], noun: str, *, by_hand: bool = False
) -> float:
    """Return `text` in the base unit of `units`; plain numbers count as base units.

    With `by_hand` only 0 and shares of one may stand without a unit. Raises ValueError with a
    sentence that names the units that would do.
    """
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise ValueError(f"{shown(text)} is not a {noun}; write for example `{_example(units)}`")
    if isinstance(text, int | float):
        if by_hand and text != 0 and units is not SHARES:
            raise ValueError(_bare(str(text), units))
        return float(text)
    text = text.strip()
    if len(text) > _LONGEST:
        raise ValueError(f"{shown(text)} is not a {noun}; write for example `{_example(units)}`")
    match = _QUANTITY.fullmatch(text)
    if match is None or (match[2] is not None and match[2].strip() not in units):
        known = ", ".join(f"`{unit}`" for unit in units)
        raise ValueError(
            f"{shown(text)} is not a {noun}; write a number with a unit of {known}, "
            f"for example `{_example(units)}`"
        )
    if by_hand and match[2] is None and units is not SHARES and float(match[1].replace("_", "")):
        raise ValueError(_bare(match[1], units))
    factor = units[match[2].strip()] if match[2] else 1.0
    return float(match[1].replace("_", "")) * factor


def alike(number: float, text: object) -> str:
    """Write a number of base units as the kind of quantity that a person wrote: `1s`, `0.5%`."""
    match = _QUANTITY.fullmatch(str(text))
    unit = match[2].strip() if match and match[2] else ""
    if unit in SHARES:
        return f"{number * 100:g}%"
    kinds = ((DURATIONS, "s"), (SIZES, "B"), (FREQUENCIES, "Hz"))
    return f"{number:g}" + next((base for units, base in kinds if unit in units), "")


def _bare(number: str, units: Mapping[str, float]) -> str:
    unit = next(unit for unit in ("s", "B", "Hz") if unit in units)
    return f"`{number}` has no unit; write for example `{number}{unit}`"


def _example(units: Mapping[str, float]) -> str:
    return {"s": "15s", "%": "3%", "MiB": "512MiB", "Hz": "5Hz"}[
        next(unit for unit in ("s", "%", "MiB", "Hz") if unit in units)
    ]


def _reader(units: Mapping[str, float], noun: str) -> Callable[[Any, ValidationInfo], float]:
    def read(value: Any, info: ValidationInfo) -> float:
        return quantity(value, units, noun, by_hand=info.context == BY_HAND)

    return read


def _schema(units: Mapping[str, float], noun: str) -> WithJsonSchema:
    known = "|".join(re.escape(unit) for unit in units)
    return WithJsonSchema(
        {
            "anyOf": [
                {"type": "number"},
                {"type": "string", "pattern": _PATTERN.format(known) + OPTIONAL_UNIT},
            ],
            "description": f"A {noun}, for example {_example(units)}.",
        }
    )


Seconds = Annotated[
    float, BeforeValidator(_reader(DURATIONS, "duration")), _schema(DURATIONS, "duration")
]
"""A duration in seconds, written `15s`, `200ms`, `2min`."""
Share = Annotated[float, BeforeValidator(_reader(SHARES, "share")), _schema(SHARES, "share")]
"""A share of one, written `3%` or `0.03`."""
Bytes = Annotated[float, BeforeValidator(_reader(SIZES, "size")), _schema(SIZES, "size")]
"""A size in bytes, written `512MiB`."""
Hertz = Annotated[
    float, BeforeValidator(_reader(FREQUENCIES, "frequency")), _schema(FREQUENCIES, "frequency")
]
"""A frequency in hertz, written `5Hz`."""


def duration(seconds: float) -> str:
    """Write a duration for people: `850 ms`, `4.2 s`, `3 min 20 s`, `1 h 05 min`."""
    if round(seconds, 3) < 1:
        return f"{seconds * 1000:.0f} ms"
    if round(seconds) < 60:
        return f"{seconds:.1f} s" if round(seconds, 1) < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def size(count: float) -> str:
    """Write a number of bytes for people, in binary units: `512 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    raise AssertionError("unreachable: the last unit always returns")


def percent(share: float, *, sign: bool = False) -> str:
    """Write a share of one as a percentage with two significant digits or one decimal."""
    digits = 1 if abs(share) < 1 else 0
    return f"{share * 100:+.{digits}f} %" if sign else f"{share * 100:.{digits}f} %"
