"""Quantiles and probabilities of the distributions that tests and intervals rest on.

They are SciPy's, which loads `scipy.special` when it is first used: that takes half a second.
"""

from __future__ import annotations

from functools import lru_cache

import scipy


def normal_probability(z: float) -> float:
    """Φ(z), the share of a standard normal distribution below z."""
    return float(scipy.special.ndtr(z))


def normal_quantile(probability: float) -> float:
    """The z with Φ(z) = `probability`."""
    return float(scipy.special.ndtri(probability))


def t_probability(t: float, freedom: int) -> float:
    """Share of Student's t distribution below t."""
    return float(scipy.special.stdtr(freedom, t))


@lru_cache(maxsize=4096)
def t_quantile(probability: float, freedom: int) -> float:
    """The t below which a share of Student's t distribution lies."""
    return float(scipy.special.stdtrit(freedom, probability))


def f_quantile(probability: float, above: int, below: int) -> float:
    """The F below which a share of its distribution lies, by freedom above and below the line."""
    return float(scipy.special.fdtri(above, below, probability))


def f_probability(f: float, above: int, below: int) -> float:
    """Share of the F distribution beyond f, by freedom above and below the line."""
    return float(scipy.special.fdtrc(above, below, f))


def chi_squared_quantile(probability: float, freedom: int) -> float:
    """The χ² below which a share of its distribution lies."""
    return float(scipy.special.chdtri(freedom, 1 - probability))
