"""A plot as geometry in percent, drawn by one template: curves, bands, points with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dunnage.drawing.scale import Scale

Place = tuple[float, float]
"""Percent from the left, percent from the top."""


@dataclass(frozen=True)
class Curve:
    """A line through a box of 1000 by 1000; `kind` is empty or `fit`."""

    series: str
    path: str
    kind: str = ""


@dataclass(frozen=True)
class Mark:
    """A point, with the two ends of its interval if it has one."""

    series: str
    x: float
    y: float
    low: float | None
    high: float | None
    text: str
    hollow: bool = False


@dataclass(frozen=True)
class Plot:
    """Axes and everything between them. Places are percentages, so that it stretches."""

    title: str
    unit: str
    label: str
    """What somebody hears who cannot see it."""
    x: tuple[tuple[str, float], ...]
    x_title: str
    y: tuple[tuple[str, float], ...]
    curves: tuple[Curve, ...] = ()
    bands: tuple[Curve, ...] = ()
    marks: tuple[Mark, ...] = ()
    shaded: tuple[float, float] | None = None
    """Left end and width of a part of the axis that does not count, such as a warm-up."""
    zero: float | None = None
    """Place of a line that stands for no difference, from the top."""
    upright: float | None = None
    """Place of a line at one value of the horizontal axis."""


def path(places: Iterable[Place | None]) -> str:
    """An open line through places; None breaks it."""
    return "".join(f"M{'L'.join(_point(place) for place in run)}" for run in _runs(places))


def area(upper: Sequence[Place | None], lower: Sequence[Place | None]) -> str:
    """Closed outlines between two lines over the same horizontal places."""
    both = [
        None if one is None or other is None else (one, other)
        for one, other in zip(upper, lower, strict=True)
    ]
    outlines = []
    run: list[tuple[Place, Place]] = []
    for pair in (*both, None):
        if pair is not None:
            run.append(pair)
        elif run:
            there = [_point(one) for one, _ in run]
            back = [_point(other) for _, other in reversed(run)]
            outlines.append(f"M{'L'.join(there + back)}Z")
            run = []
    return "".join(outlines)


def ticks(scale: Scale, text: Callable[[float], str]) -> tuple[tuple[str, float], ...]:
    """Marks of a vertical axis, from the top."""
    return tuple((text(tick.value), round(100 - tick.at, 2)) for tick in scale.ticks)


def height(scale: Scale, value: float) -> float:
    """Place of a value on a vertical axis, in percent from the top."""
    return round(100 - scale.at(value), 2)


def apart(marks: Iterable[tuple[str, float]], least: float = 7.0) -> tuple[tuple[str, float], ...]:
    """Marks of a horizontal axis with the text of those left out that would touch another."""
    shown: list[tuple[str, float]] = []
    last = -least
    for text, at in marks:
        fits = at - last >= least
        shown.append((text if fits else "", at))
        last = at if fits else last
    return tuple(shown)


def _runs(places: Iterable[Place | None]) -> Iterator[list[Place]]:
    run: list[Place] = []
    for place in places:
        if place is not None:
            run.append(place)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _point(place: Place) -> str:
    return f"{place[0] * 10:.0f},{place[1] * 10:.0f}"
