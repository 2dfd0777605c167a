"""The Universal Scalability Law, fitted to the throughput of a closed loop.

C(N) = λN / (1 + σ(N−1) + κN(N−1)): Gunther, "A simple capacity model of massively parallel
transaction systems" (1993); "Guerrilla Capacity Planning" (2007).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEPS = 50

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """One fit. All parameters are at least 0, and σ at most 1."""

    rate: float
    contention: float
    coherency: float

    def throughput(self, threads: float) -> float:
        """Operations per second at this many threads."""
        pairs = threads * (threads - 1)
        return self.rate * threads / (1 + self.contention * (threads - 1) + self.coherency * pairs)

    @property
    def peak(self) -> float:
        """N* = √((1−σ)/κ), at least 1; infinite where κ is 0."""
        if self.coherency == 0:
            return math.inf
        return max(1.0, math.sqrt((1 - self.contention) / self.coherency))

    @property
    def highest(self) -> float:
        """Throughput at N*, or what it tends to without one."""
        if self.coherency > 0:
            return self.throughput(self.peak)
        return self.rate / self.contention if self.contention > 0 else math.inf


def fit(threads: Floats, logs: Floats, weights: Floats) -> Law | None:
    """Non-linear least squares of the logs of throughput; None where no finite λ fits.

    N/C(N) = a + bN + cN(N−1) with λ = 1/(a+b), σ = b/(a+b), κ = c/(a+b): for a, b, c ≥ 0 exactly
    the laws with 0 ≤ σ ≤ 1 and κ ≥ 0. Gauss–Newton on the logs, each step by non-negative least
    squares (Lawson and Hanson), so that a parameter that vanishes is 0 and not nearly 0.
    """
    from scipy.optimize import nnls  # takes half a second to load, and only fits need it

    root = np.sqrt(weights)
    design = np.column_stack((np.ones_like(threads), threads, threads * (threads - 1)))
    scale = np.maximum(design.max(axis=0), 1.0)
    unit = design / scale
    centre = float((np.log(threads) - logs).mean())
    wanted = np.log(threads) - logs - centre
    parameters = nnls(unit * (root / np.exp(wanted))[:, None], root)[0]
    best = _squares(unit, parameters, wanted, root)
    for _ in range(_STEPS):
        fitted = unit @ parameters
        if not (fitted > 0).all():
            return None
        step = nnls(unit * (root / fitted)[:, None], root * (1 + wanted - np.log(fitted)))[0]
        squares = _squares(unit, step, wanted, root)
        if not squares < best:
            break
        parameters, best = step, squares
    a, b, c = (float(p) for p in parameters / scale)
    if a + b <= 0:
        return None
    return Law(math.exp(-centre) / (a + b), b / (a + b), c / (a + b))


def _squares(unit: Floats, parameters: Floats, wanted: Floats, root: Floats) -> float:
    fitted = unit @ parameters
    if not (fitted > 0).all():
        return math.inf
    return float(((root * (np.log(fitted) - wanted)) ** 2).sum())


def r_squared(values: Floats, fitted: Floats) -> float | None:
    """Share of the variance of values that a fit explains; None where there is none to explain."""
    total = float(((values - values.mean()) ** 2).sum())
    return 1 - float(((values - fitted) ** 2).sum()) / total if total > 0 else None
