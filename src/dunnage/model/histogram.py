"""Latency histograms as the engine writes them: HdrHistogram logs in nanoseconds.

Histograms are added exactly; quantiles are read off the sum and never averaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hdrh.histogram import HdrHistogram

from dunnage.model.record import Latency

_LOWEST, _HIGHEST, _DIGITS = 1, 3_600_000_000_000, 3
"""One nanosecond to one hour, three significant digits."""
_SECONDS = 1e-9
_STEPS = 8
"""Points for each halving of the distance to one."""


def merged(logs: Sequence[bytes], tag: str) -> HdrHistogram:
    """Sum of every interval with this tag, such as `read.service`, over all logs.

    Warm-up intervals carry another tag and so take no part. Empty when there is no such interval.
    """
    total = HdrHistogram(_LOWEST, _HIGHEST, _DIGITS)
    prefix = f"Tag={tag},".encode()
    for log in logs:
        for line in log.splitlines():
            if line.startswith(prefix):
                total.decode_and_add(line.rsplit(b",", 1)[-1].strip())
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
    """(quantile as a share of one, seconds), closer together towards the tail.

    The last point is the maximum; no point lies where fewer than one operation is left.
    """
    count = histogram.get_total_count()
    if not count:
        return ()
    shares = [*_shares(count), 1.0]
    return tuple(
        (share, histogram.get_value_at_percentile(share * 100) * _SECONDS) for share in shares
    )


def _shares(count: int) -> Iterator[float]:
    step = 0
    while (left := 2 ** (-step / _STEPS)) * count >= 1:
        yield 1 - left
        step += 1
