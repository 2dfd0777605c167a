"""How two samples of logarithms differ whose blocks are not paired."""

from __future__ import annotations

import math

from dunnage.analysis.distributions import t_quantile
from dunnage.analysis.estimate import CONFIDENCE, MINIMUM_BLOCKS, Paired, sidak
from dunnage.model.estimate import Estimate


def welch(
    a: Paired, b: Paired, *, family: int, confidence: float = CONFIDENCE, what: str
) -> Estimate:
    """Ratio of `b` over `a` minus one; `what` names the logs that were compared.

    Welch (1947): unequal variances, freedom by Satterthwaite rounded down. No interval below six
    blocks on either side.
    """
    mean = b.mean - a.mean
    half: float | None = None
    if min(a.n, b.n) >= MINIMUM_BLOCKS:
        parts = a.sd**2 / a.n, b.sd**2 / b.n
        total = sum(parts)
        freedom = (
            total**2 / (parts[0] ** 2 / (a.n - 1) + parts[1] ** 2 / (b.n - 1)) if total > 0 else 1
        )
        level = sidak(family, confidence)
        half = t_quantile((1 + level) / 2, max(1, int(freedom))) * math.sqrt(total)
    return Estimate(
        value=math.expm1(mean),
        low=None if half is None else math.expm1(mean - half),
        high=None if half is None else math.expm1(mean + half),
        n=min(a.n, b.n),
        unit="share",
        method=f"Welch's t on {what}, simultaneous over {family} comparisons (Šidák)"
        if family > 1
        else f"Welch's t on {what}",
        level=confidence,
    )
