"""Latency histograms as the engine writes them: HdrHistogram logs in nanoseconds.

Histograms are added exactly; quantiles are read off the sum and never averaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from hdrh.histogram import HdrHistogram

from dunnage.model.record import Latency

_LOWEST, _HIGHEST, _DIGITS = 1, 3_600_000_000_000, 3
"""One nanosecond to one hour, three significant digits."""
_SECONDS = 1e-9
_STEPS = 8
"""Points for each halving of the distance to one."""
_DEEPEST = 0.9999
MINIMUM_BEYOND = 10
"""Operations that must lie beyond a quantile for it to mean something."""
_BASE, _TAG = b"#[BaseTime: ", b"Tag="


def merged(logs: Sequence[bytes], *tags: str) -> HdrHistogram:
    """Sum of every interval with one of these tags, such as `read.service`, over all logs.

    Warm-up intervals carry other tags and so take no part. Empty when there is no such interval.
    """
    total = empty()
    for log in logs:
        for interval in intervals(log):
            if interval.tag in tags:
                total.decode_and_add(interval.encoded)
    return total


def latency(histogram: HdrHistogram, quantiles: Iterable[str]) -> Latency | None:
    """Summary in seconds with quantiles named `p50`, `p99.9`, …; None when it is empty."""
    if not histogram.get_total_count():
        return None
    return Latency(
        count=histogram.get_total_count(),
        mean=histogram.get_mean_value() * _SECONDS,
        minimum=histogram.get_min_value() * _SECONDS,
        maximum=histogram.get_max_value() * _SECONDS,
        quantiles={
            name: histogram.get_value_at_percentile(float(name.removeprefix("p"))) * _SECONDS
            for name in quantiles
        },
    )


def curve(histogram: HdrHistogram) -> tuple[tuple[float, float], ...]:
    """(quantile as a share of one, seconds), evenly spaced on the logarithm of the tail.

    Ends at p99.99, or sooner at 1 − 10/count: fewer than ten operations beyond a quantile say
    nothing of it. The usual quantiles up to there are among the points.
    """
    shares = tuple(_shares(histogram.get_total_count()))
    return tuple(zip(shares, seconds_at(histogram, shares), strict=True))


def seconds_at(histogram: HdrHistogram, shares: Iterable[float]) -> list[float]:
    """Seconds at each quantile, given as a share of one, of a histogram that is not empty."""
    reached = np.cumsum(np.ctypeslib.as_array(histogram.counts))
    wanted = [histogram.get_target_count_at_percentile(share * 100) for share in shares]
    return [
        histogram.get_highest_equivalent_value(histogram.get_value_from_index(int(index)))
        * _SECONDS
        for index in np.searchsorted(reached, wanted)
    ]


class Interval(NamedTuple):
    """One interval of a log, whether warm-up or measured."""

    start: float
    """Unix time in seconds."""
    length: float
    """Seconds."""
    tag: str
    """`read.service`, `update.response`, …; one of the warm-up begins with `warmup.`."""
    maximum: str
    """The largest value in milliseconds, as the log has it."""
    encoded: bytes
    """The histogram as `HdrHistogram.decode_and_add` takes it."""

    @property
    def kind(self) -> str:
        """`service`, `response`, `slip`, `failed` or `dropped`."""
        return self.tag.rsplit(".", 1)[-1]


def intervals(log: bytes) -> Iterator[Interval]:
    """Every interval of a log, or of several logs of parts one after the other, as they stand."""
    base = 0.0
    for line in log.splitlines():
        if line.startswith(_BASE):
            base = float(line.removeprefix(_BASE).split()[0])
        elif line.startswith(_TAG):
            tag, start, length, maximum, encoded = line.removeprefix(_TAG).split(b",", 4)
            yield Interval(
                base + float(start), float(length), tag.decode(), maximum.decode(), encoded.strip()
            )


def is_log(log: bytes) -> bool:
    """Whether every interval of a log can be read."""
    total = empty()
    try:
        for interval in intervals(log):
            total.decode_and_add(interval.encoded)
    except Exception:  # whatever the decoder meets in bytes that are none of its own
        return False
    return log.startswith(b"#")


def empty() -> HdrHistogram:
    """A histogram to add others to."""
    return HdrHistogram(_LOWEST, _HIGHEST, _DIGITS)


def _shares(count: int) -> Iterator[float]:
    deepest = min(_DEEPEST, 1 - MINIMUM_BEYOND / count) if count else -1.0
    evenly = (1 - 2 ** (-step / _STEPS) for step in range(_STEPS * 14))
    usual = (0.5, 0.9, 0.95, 0.99, 0.999, _DEEPEST)
    yield from sorted({share for share in (*evenly, *usual) if share <= deepest + 1e-12})
