"""What stopping servers for a part of the time costs: pieces of time with stops against without.

Servers are held for some tenths of a second and then left alone for as long, over and over, while
one load goes on. Both pieces of a pair are of the same servers and clients in the same second, so
what else moves throughput meets both alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from dunnage.analysis.distributions import normal_quantile
from dunnage.analysis.intervals import CONFIDENCE, walsh
from dunnage.model.estimate import Estimate
from dunnage.model.record import Window

METHOD = "median of Walsh means over pairs of pieces of time (Hodges and Lehmann 1963)"


class Centre(NamedTuple):
    """The middle of numbers, with the ends of its interval."""

    value: float
    low: float
    high: float


def pairs(
    windows: Sequence[Window], began: float, first: float, length: float
) -> tuple[float, ...]:
    """Log ratios of the throughput while servers are held over that while they are left alone.

    `began` is the time at which windows start to count, `first` that at which the first piece
    begins; a piece lasts `length` seconds, and servers are held in the first, third, … one. A
    window across the edge of two pieces belongs to both by its time. Pairs that the windows do not
    cover, and those in which nothing was answered, are left out.
    """
    if not windows:
        return ()
    edges = [began + windows[0].start, *(began + each.start + each.length for each in windows)]
    sums = [0.0, *accumulate(float(each.operations) for each in windows)]
    skipped = max(0, math.ceil((edges[0] - first) / (2 * length)))
    number = max(0, math.floor((edges[-1] - first) / (2 * length)))
    ends = first + length * np.arange(2 * skipped, 2 * number + 1)
    pieces = np.diff(np.interp(ends, edges, sums))
    held, alone = pieces[0::2], pieces[1::2]
    answered = (held > 0) & (alone > 0)
    return tuple(float(log) for log in np.log(held[answered] / alone[answered]))


def centre(values: Sequence[float], level: float = CONFIDENCE) -> Centre:
    """The median of all pairwise means, and the interval of the signed-rank test around it.

    One piece in ten of a shared machine is far from all others; a mean would follow them. Pairs
    are taken as independent: neighbouring pieces share what disturbs them, so that it cancels in
    each. Needs ten values. Hodges and Lehmann 1963; Hollander and Wolfe 1999, section 3.
    """
    means = walsh(values)
    n = len(values)
    reach = normal_quantile((1 + level) / 2) * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    low = max(0, math.floor(n * (n + 1) / 4 - reach))
    return Centre(float(np.median(means)), float(means[low]), float(means[-1 - low]))


def lost(found: Centre, share: float, n: int) -> Estimate:
    """The share of throughput that is lost where servers are stopped for a share of the time.

    `found` is the centre of the rates of `n` pairs: log ratio over share of time, of pairs that may
    have been measured with somewhat other shares.
    """
    return Estimate(
        value=-math.expm1(share * found.value),
        low=-math.expm1(share * found.high),
        high=-math.expm1(share * found.low),
        n=n,
        unit="share",
        method=METHOD,
    )
