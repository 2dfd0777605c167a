"""How figures on paper look, and what makes the same analysis give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axis import Axis as PaintedAxis
from matplotlib.figure import Figure as Sheet

from dunnage.drawing.figure import Axis

WIDTH = 3.35
"""Inches: one column of the usual two-column formats."""
FORMATS: Mapping[str, Mapping[str, Any]] = {
    "svg": {"metadata": {"Date": None, "Creator": "Dunnage"}},
    "pdf": {"metadata": {"CreationDate": None, "Creator": "Dunnage", "Producer": None}},
    "png": {"metadata": {"Software": None}, "dpi": 300},
}
"""Format → how it is saved. No date and no version, or the bytes would change by themselves."""
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "dunnage",
    "svg.fonttype": "path",  # a reader without the font sees the same figure
    "pdf.fonttype": 42,  # TrueType, embedded: publishers refuse Type 3
    "text.parse_math": False,  # a `$` in a name is a dollar sign and starts no formula
    "text.usetex": False,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "font.size": 7.0,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.0,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.axisbelow": True,
    "grid.color": "#d9d4c9",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.6,
    "figure.facecolor": "white",
}
"""The page's look, without anything that depends on the machine."""
COLOURS = ("#1d1b18", "#7a746a", "#2a5aa0", "#b8531a", "#17703f", "#7d3c98", "#a8325c", "#0b6f7c")
"""Of deployments, as on the page. Told apart by marker and dashes too, never by colour alone."""
MARKERS = ("o", "s", "^", "D")
DASHES: tuple[Any, ...] = (
    "solid",
    (0, (2, 3)),
    "solid",
    (0, (8, 3)),
    (0, (8, 3, 2, 3)),
    (0, (4, 2)),
    "solid",
    (0, (10, 4)),
)
BOUND = "#8b8478"
"""Of lines that stand for a value of an axis."""
SHADED = "#efeadd"
FITTED: Mapping[str, Any] = {"linestyle": (0, (1, 2)), "linewidth": 0.8}
FILLS = ("#2a5aa0", "#86a9d6", "#b8531a", "#b9b2a5", "#5e8f6f", "#7d3c98")
"""Of the parts of a bar."""
HATCHES = ("", "////", "", "....", "", "xxxx")
VERDICTS: Mapping[str, tuple[str, str]] = {
    "overhead": ("#b0281e", "v"),
    "gain": ("#17703f", "^"),
    "equivalent": ("#2a5aa0", "o"),
    "inconclusive": ("#7d5a00", "D"),
}
"""Verdict → colour and marker."""


def sheet(height: float) -> Sheet:
    """An empty figure of one column's width; `height` in inches."""
    return Sheet(figsize=(WIDTH, height), layout="constrained")


def set_ticks(painted: PaintedAxis, axis: Axis) -> None:
    """The ticks of an axis as the page has them."""
    texts, places = zip(*axis.ticks(), strict=True)
    painted.set_ticks(places, texts)


def series(number: int) -> dict[str, Any]:
    """Colour, marker and dashes of the deployment with this number."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": DASHES[number % len(DASHES)],
    }


def line(number: int) -> dict[str, Any]:
    """The same without a marker, for lines of many points."""
    return {key: value for key, value in series(number).items() if key != "marker"}
