"""A quantity held in SI units, in the unit that people read it in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dunnage.wording import numbers

_STEPS: Mapping[str, tuple[tuple[float, str], ...]] = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
    "s/op": ((1.0, "s/op"), (1e-3, "ms/op"), (1e-6, "µs/op")),
    "B": ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1.0, "B")),
    "B/s": ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")),
    "B/op": ((1e6, "MB/op"), (1e3, "kB/op"), (1.0, "B/op")),
    "share": ((0.01, "%"),),
    "processors": ((1.0, "processors"),),
}
"""SI unit → what is shown instead, the largest first, each with its size in the SI unit."""


@dataclass(frozen=True)
class Unit:
    """A unit for people; `size` is how much one of it is in the SI unit."""

    label: str
    size: float

    def bare(self, value: float) -> str:
        """The value in this unit without naming it, three significant digits at least."""
        return _digits(value / self.size)

    def signed(self, value: float) -> str:
        """A difference with its sign, without naming the unit: `+1.2`."""
        text = self.bare(abs(value))
        if not float(text.replace(",", "")):
            return text
        return (numbers.MINUS if value < 0 else "+") + text


def unit(held: str, largest: float) -> Unit:
    """The unit in which the largest of some values has at least one digit before the point."""
    steps = _STEPS.get(held, ((1.0, held),))
    size, label = next((step for step in steps if abs(largest) >= step[0]), steps[-1])
    return Unit(label, size)


def _digits(value: float) -> str:
    """Three digits or two decimals; what is a ten-thousandth at most is nothing to a reader."""
    magnitude = abs(value)
    if magnitude < 5e-5:
        return "0"
    digits = 0 if magnitude >= 100 else 1 if magnitude >= 10 else 2 if magnitude >= 0.1 else 4
    return f"{value:,.{digits}f}".replace("-", numbers.MINUS)
