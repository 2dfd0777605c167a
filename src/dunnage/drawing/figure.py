"""A figure in the units of its data: axes, and the lines, bands and points between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dunnage.drawing.scale import Scale


@dataclass(frozen=True)
class Tabled:
    """The table behind a figure: what each row is called, and its cells below the columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Axis:
    """A scale, what it measures, and how a value on it is written."""

    title: str
    scale: Scale
    text: Callable[[float], str]
    room: float = 0.0
    """Percent of the axis that a text needs, so that it does not touch the next on a phone."""
    grid: bool = True
    """Whether a line runs through the figure at every tick."""

    def ticks(self) -> tuple[tuple[str, float], ...]:
        """Text and place of every tick; the text is empty where it would touch the one before."""
        shown: list[tuple[str, float]] = []
        last = -self.room
        for value in self.scale.ticks:
            at = self.scale.at(value)
            fits = at - last >= self.room
            shown.append((self.text(value) if fits else "", at))
            last = at if fits else last
        return tuple(shown)


@dataclass(frozen=True)
class Line:
    """A line through (x, y); None breaks it. The series is empty where it is no deployment's."""

    series: str
    places: tuple[tuple[float, float] | None, ...]
    fitted: bool = False
    """Whether it stands beside what was measured, such as another fit or a bound."""

    @classmethod
    def through(cls, series: str, x: Iterable[float], y: Iterable[float | None]) -> Line:
        """A line over x that breaks where y is not known."""
        pairs = zip(x, y, strict=True)
        return cls(series, tuple(None if value is None else (at, value) for at, value in pairs))


@dataclass(frozen=True)
class Band:
    """What lies between two values over x, as (x, low, high); None breaks it."""

    series: str
    places: tuple[tuple[float, float, float] | None, ...]

    @classmethod
    def between(
        cls,
        series: str,
        x: Iterable[float],
        low: Iterable[float | None],
        high: Iterable[float | None],
    ) -> Band:
        """A band over x that breaks where an end is not known."""
        return cls(
            series,
            tuple(
                None if least is None or most is None else (at, least, most)
                for at, least, most in zip(x, low, high, strict=True)
            ),
        )


@dataclass(frozen=True)
class Point:
    """A value with the ends of its interval if it has one."""

    series: str
    x: float
    y: float
    text: str
    """What it stands for, with its numbers."""
    low: float | None = None
    high: float | None = None
    hollow: bool = False

    @property
    def ends(self) -> tuple[float, ...]:
        """The value and what is known of the ends of its interval."""
        return tuple(end for end in (self.y, self.low, self.high) if end is not None)


@dataclass(frozen=True)
class Figure:
    """Two axes and everything between them. A series is named as readers see its deployment."""

    title: str
    label: str
    """What somebody hears who cannot see it."""
    x: Axis
    y: Axis
    lines: tuple[Line, ...] = ()
    bands: tuple[Band, ...] = ()
    points: tuple[Point, ...] = ()
    shaded: tuple[tuple[float, float], ...] = ()
    """Parts of the horizontal axis that are told apart, such as a warm-up."""
    zero: bool = False
    """Whether a line stands for no difference."""
    upright: float | None = None
    """A value of the horizontal axis that a line stands for."""
    dodge: float = 0.0
    """Percent by which neighbouring series stand apart, so that all are seen."""
    name: str = ""
    """What its file is called, without an ending; empty where it has none."""

    @property
    def series(self) -> tuple[str, ...]:
        """Every series once, in the order of its points, then of its lines."""
        points, lines = (each.series for each in self.points), (each.series for each in self.lines)
        return tuple(dict.fromkeys((*points, *lines)))

    def place(self, series: str, x: float, y: float) -> tuple[float, float]:
        """Where a value of a series lies: percent from the left, percent from the bottom."""
        left = self.x.scale.at(x)
        if self.dodge:
            middle = (len(self.series) - 1) / 2
            left = round(left + (self.series.index(series) - middle) * self.dodge, 2)
        return left, self.y.scale.at(y)


@dataclass(frozen=True)
class Panels:
    """Figures that stand above one another on the same horizontal axis."""

    name: str
    title: str
    figures: tuple[Figure, ...]
