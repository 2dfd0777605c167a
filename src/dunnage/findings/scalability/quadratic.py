"""The quadratic fit of the published studies: one parabola over all runs of a deployment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dunnage.findings.scalability.law import r_squared
from dunnage.model.scalability import FittedPoint, QuadraticFit

MINIMUM_LEVELS = 4
"""A parabola goes through any three."""
_POINTS = 33


def quadratic(metric: str, runs: Sequence[tuple[int, float]]) -> QuadraticFit | None:
    """Least squares over (threads, value) of every run, as R's `lm(y ~ x + I(x^2))` (cloud18).

    None below four levels.
    """
    threads = np.array([float(n) for n, _ in runs])
    values = np.array([value for _, value in runs])
    if len(np.unique(threads)) < MINIMUM_LEVELS:
        return None
    design = np.vander(threads, 3, increasing=True)
    constant, linear, square = (
        float(coefficient) for coefficient in np.linalg.lstsq(design, values, rcond=None)[0]
    )
    grid = np.linspace(threads.min(), threads.max(), _POINTS)
    fitted = constant + linear * threads + square * threads**2
    return QuadraticFit(
        metric=metric,
        constant=constant,
        linear=linear,
        quadratic=square,
        r_squared=r_squared(values, fitted),
        runs=len(runs),
        points=tuple(
            FittedPoint(
                threads=float(n), value=constant + linear * float(n) + square * float(n) ** 2
            )
            for n in grid
        ),
    )
