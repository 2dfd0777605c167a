"""Quantities as people write them (`15s`, `3%`, `512MiB`, `5Hz`) and as code holds them.

Code holds seconds, shares of one, bytes and hertz; the unit stands in the name of the type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticKnownError

from dunnage.errors import shown

LONGEST = 365 * 86_400.0
"""Seconds; a longer duration that a person writes is a typing error."""
BY_HAND: Mapping[str, bool] = {"by hand": True}
"""Context for validating what a person writes now: there a quantity carries its unit, unless it is
0, and bounds of today hold. Files of our own hold bare numbers in base units, and what an older
Dunnage allowed."""

_QUANTITY = re.compile(r"\s*([+-]?[0-9][0-9_]*(?:\.[0-9]+)?)\s*([^\d\s].*)?\s*")
_LONGEST = 40
"""Letters of a quantity; what is longer was not meant to be one."""


@dataclass(frozen=True)
class Units:
    """The units of one kind of quantity, and how it is called and written."""

    noun: str
    example: str
    factors: Mapping[str, float]
    """Unit → the same in the base unit of code."""
    base: str = ""
    """The unit that a bare number lacks; empty for shares, which may stand without one."""


DURATIONS = Units(
    "duration", "15s", {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}, "s"
)
SHARES = Units("share", "3%", {"%": 0.01})
SIZES = Units(
    "size",
    "512MiB",
    {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
    "B",
)
FREQUENCIES = Units("frequency", "5Hz", {"Hz": 1}, "Hz")

UNIT = r")\s*$"
OPTIONAL_UNIT = r")?\s*$"
"""How the pattern of a quantity ends in a JSON Schema."""
_PATTERN = r"^\s*[+-]?[0-9][0-9_]*(\.[0-9]+)?\s*({}"


def quantity(text: object, units: Units, *, by_hand: bool = False) -> float:
    """Return `text` in the base unit of its kind; plain numbers count as base units.

    With `by_hand` only 0 and shares of one may stand without a unit. Raises ValueError with a
    sentence that names the units that would do.
    """
    said = text.strip() if isinstance(text, str) else text
    refused, example = f"{shown(said)} is not a {units.noun}", f"for example `{units.example}`"
    number, unit = str(said), ""
    readable = isinstance(said, str | int | float) and not isinstance(said, bool)
    if not readable or len(number) > _LONGEST:
        raise ValueError(f"{refused}; write {example}")
    if isinstance(said, str):
        match = _QUANTITY.fullmatch(said)
        unit = (match[2] or "").strip() if match else ""
        if match is None or (unit and unit not in units.factors):
            known = ", ".join(f"`{each}`" for each in units.factors)
            raise ValueError(f"{refused}; write a number with a unit of {known}, {example}")
        number = match[1]
    value = float(number.replace("_", ""))
    if by_hand and value and units.base and not unit:
        raise ValueError(f"`{number}` has no unit; write for example `{number}{units.base}`")
    return value * units.factors.get(unit, 1.0)


def alike(number: float, text: object) -> str:
    """Write a number of base units as the kind of quantity that a person wrote: `1s`, `0.5%`."""
    match = _QUANTITY.fullmatch(str(text))
    unit = match[2].strip() if match and match[2] else ""
    if unit in SHARES.factors:
        return f"{number * 100:g}%"
    for whole in ("GiB", "MiB", "KiB") if unit in SIZES.factors and number else ():
        if number % SIZES.factors[whole] == 0:
            return f"{number / SIZES.factors[whole]:g}{whole}"
    kinds = (DURATIONS, SIZES, FREQUENCIES)
    return f"{number:g}" + next((each.base for each in kinds if unit in each.factors), "")


def _reader(units: Units) -> Callable[[Any, ValidationInfo], float]:
    def read(value: Any, info: ValidationInfo) -> float:
        by_hand = info.context == BY_HAND
        found = quantity(value, units, by_hand=by_hand)
        if by_hand and units is DURATIONS and found > LONGEST:
            raise ValueError(f"{shown(value)} is more than a year; check its unit")
        return found

    return read


def _schema(units: Units) -> WithJsonSchema:
    known = "|".join(re.escape(unit) for unit in units.factors)
    return WithJsonSchema(
        {
            "anyOf": [
                {"type": "number"},
                {"type": "string", "pattern": _PATTERN.format(known) + OPTIONAL_UNIT},
            ],
            "description": f"A {units.noun}, for example {units.example}.",
        }
    )


def bounded_by_hand(*, ge: float | None = None, le: float | None = None) -> AfterValidator:
    """A bound on what a person writes now; what was stored may be outside it."""

    def within(value: float, info: ValidationInfo) -> float:
        if info.context == BY_HAND:
            if ge is not None and value < ge:
                raise PydanticKnownError("greater_than_equal", {"ge": ge})
            if le is not None and value > le:
                raise PydanticKnownError("less_than_equal", {"le": le})
        return value

    return AfterValidator(within)


Seconds = Annotated[float, BeforeValidator(_reader(DURATIONS)), _schema(DURATIONS)]
"""A duration in seconds, written `15s`, `200ms`, `2min`."""
Share = Annotated[float, BeforeValidator(_reader(SHARES)), _schema(SHARES)]
"""A share of one, written `3%` or `0.03`."""
Bytes = Annotated[float, BeforeValidator(_reader(SIZES)), _schema(SIZES)]
"""A size in bytes, written `512MiB`."""
Hertz = Annotated[float, BeforeValidator(_reader(FREQUENCIES)), _schema(FREQUENCIES)]
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
