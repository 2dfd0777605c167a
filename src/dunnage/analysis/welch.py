"""How two samples of logarithms differ whose blocks are not paired."""

from __future__ import annotations

import math

from dunnage.analysis.distributions import t_quantile
from dunnage.analysis.intervals import CONFIDENCE, MINIMUM_BLOCKS, Paired, as_ratio, sidak
from dunnage.model.estimate import Estimate


def welch(
    a: Paired, b: Paired, *, family: int, confidence: float = CONFIDENCE, what: str
) -> Estimate:
    """Ratio of `b` over `a` minus one; `what` names the logs that were compared.

    Welch (1947): unequal variances, freedom by Satterthwaite rounded down. No interval below six
    blocks on either side.
    """
    mean, n = b.mean - a.mean, min(a.n, b.n)
    ends: tuple[float, float] | None = None
    if n >= MINIMUM_BLOCKS:
        parts = a.sd**2 / a.n, b.sd**2 / b.n
        total = sum(parts)
        freedom = (
            total**2 / (parts[0] ** 2 / (a.n - 1) + parts[1] ** 2 / (b.n - 1)) if total > 0 else 1
        )
        level = sidak(family, confidence)
        half = t_quantile((1 + level) / 2, max(1, int(freedom))) * math.sqrt(total)
        ends = mean - half, mean + half
    together = f", simultaneous over {family} comparisons (Šidák)" if family > 1 else ""
    return as_ratio(mean, ends, n, f"Welch's t on {what}{together}", confidence)
