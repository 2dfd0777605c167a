"""One way to write a number: the terminal, the page and the CSV files say the same string."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from dunnage.model.estimate import Estimate
from dunnage.model.metrics import METRICS

MINUS = "\u2212"
"""A minus sign as wide as a plus sign, so that columns of differences line up."""
NO_INTERVAL = "no interval"


def value(metric: str, number: float) -> str:
    """Write a value held in SI units with the metric's own unit and digits: `1.204 ms`."""
    return f"{bare(metric, number)} {METRICS[metric].unit}"


def bare(metric: str, number: float) -> str:
    """The same without its unit, for columns that carry the unit in their head."""
    known = METRICS[metric]
    text = f"{number * known.scale:,.{known.digits}f}"
    return (text if float(text.replace(",", "")) else text.lstrip("-")).replace("-", MINUS)


def signed(metric: str, number: float) -> str:
    """A difference in the metric's own unit with its sign, without naming the unit: `+1,277.4`."""
    text = bare(metric, number)
    more = number > 0 and text != bare(metric, 0.0)
    return f"{'+' if more else ''}{text}"


def difference(share: float) -> str:
    """Write a difference, a share of one, with its sign: `+9.1 %`."""
    return f"{points(share)} %"


def seen(estimate: Estimate) -> str:
    """Write the difference that was seen, or a dash where no block tells anything of it."""
    return difference(estimate.value) if estimate.n else "-"


def magnitudes(shares: Sequence[float]) -> str:
    """Write how large several differences are: `10.9 to 11.0 %`, or one if they read alike.

    None that is not zero is written as zero: `up to 0.3 %`, `less than 0.1 %`.
    """
    least, most = min(map(abs, shares)), max(map(abs, shares))
    ends = [_digits(least), _digits(most)]
    if least and not float(ends[0]):
        return f"up to {ends[1]} %" if float(ends[1]) else "less than 0.1 %"
    return f"{ends[0]} %" if ends[0] == ends[1] else f"{ends[0]} to {ends[1]} %"


def interval(estimate: Estimate) -> str:
    """Write both ends of an interval of shares: `+9.1 … +12.8 %`, or that there is none."""
    if estimate.low is None or estimate.high is None:
        return NO_INTERVAL
    return f"{points(estimate.low)} … {points(estimate.high)} %"


def tick(share: float) -> str:
    """Write a round difference on an axis, without needless zeros: `+5 %`."""
    text = f"{share * 100:+.3g}".replace("-", MINUS)
    return "0" if abs(share) < 1e-12 else f"{text} %"


def bound(share: float | None) -> str:
    """Write how far something reaches either way: `±1.2 %`, or that it is not known."""
    return "none" if share is None else f"±{most(share)}"


def tolerance(share: float) -> str:
    """Write a tolerance as people do, without needless zeros: `±3 %`."""
    return f"±{share * 100:.3g} %"


def coverage(estimate: Estimate) -> str:
    """Write how much an interval covers: `95 %`."""
    return f"{estimate.level * 100:.3g} %"


def span(metric: str, estimate: Estimate) -> str:
    """Write the interval of a value in its own unit: `46,100 … 49,800 op/s`."""
    if estimate.low is None or estimate.high is None:
        return NO_INTERVAL
    return f"{bare(metric, estimate.low)} … {value(metric, estimate.high)}"


def count(number: int, noun: str, plural: str = "") -> str:
    """Write a number of things: `1 block`, `6 blocks`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def times(least: int, most: int) -> str:
    """Write how often: `3 times`, `1 to 2 times`, `once`."""
    if least == most:
        return "once" if most == 1 else f"{most:,} times"
    return f"{least:,} to {most:,} times"


def most(share: float) -> str:
    """Write how large a difference is at most, rounded away from zero: `4.1 %`."""
    return f"{_digits(_tenths(abs(share), math.ceil) or (0.001 if share else 0.0))} %"


def least(share: float) -> str:
    """Write how large a difference is at least, rounded towards zero: `4.0 %`.

    What is there is never written as zero: `0.03 %`, or `a trace` below a thousandth of a per cent.
    """
    size = abs(share)
    tenths = _tenths(size, math.floor)
    if tenths or not share:
        return f"{_digits(tenths)} %"
    for digits in (2, 3):
        steps = math.floor(round(size * 100 * 10**digits, 6))
        if steps:
            return f"{steps / 10**digits:.{digits}f} %"
    return "a trace"


def _tenths(share: float, whole: Callable[[float], int]) -> float:
    """To a tenth of a per cent, from 100 % on to a whole one, as `_digits` writes it.

    What is one but for the last bits stays as it is.
    """
    steps = 1000 if share < 1 else 100
    return whole(round(share * steps, 6)) / steps


def change(share: float) -> str:
    """Write a difference for people: `10.9 % less`, `4.0 % more`, `no change`."""
    text = _digits(abs(share))
    if not float(text):
        return "no change"
    return f"{text} % {'less' if share < 0 else 'more'}"


def reach(low: float, high: float) -> str:
    """Write an interval for people: `10.3 to 11.6 % less`, `1.2 % less to 0.2 % more`."""
    ends = [_digits(abs(low)), _digits(abs(high))]
    if not any(map(float, ends)):
        return "no change"
    if (low < 0) == (high < 0) or not all(map(float, ends)):
        direction = "less" if low + high < 0 else "more"
        least, most = sorted(ends, key=float)
        return f"{least} to {most} % {direction}"
    return f"{change(low)} to {change(high)}"


def _digits(share: float) -> str:
    return f"{share * 100:.{1 if abs(share) < 1 else 0}f}"


def points(share: float) -> str:
    """Write a difference of shares in percentage points with its sign: `+9.1`, `0.0`."""
    text = _digits(share)
    if float(text) == 0:
        return text.lstrip("-")
    return MINUS + text[1:] if text.startswith("-") else "+" + text
