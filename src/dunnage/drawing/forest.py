"""Differences with their intervals, a row for each, on one axis."""

from __future__ import annotations

from dataclasses import dataclass

from dunnage.drawing.figure import Axis
from dunnage.model.analysis import Comparison


@dataclass(frozen=True)
class Group:
    """The rows of one condition."""

    title: str
    about: str
    """The baseline, what it reached, and how far identical deployments differ."""
    tolerance: float
    twins: Comparison | None
    """What identical deployments differ by."""
    rows: tuple[Comparison, ...]


@dataclass(frozen=True)
class Forest:
    """One metric's differences from the baseline, over all conditions."""

    name: str
    metric: str
    title: str
    axis: Axis
    sides: tuple[str, str]
    """What lies left and right of no difference."""
    groups: tuple[Group, ...]
