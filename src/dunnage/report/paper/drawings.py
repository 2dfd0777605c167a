"""Which figures an analysis has, and how each is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Concatenate, ParamSpec

from matplotlib.figure import Figure

from dunnage.findings.differences import answer
from dunnage.findings.tails.figures import inside
from dunnage.findings.timeline.figures import names_of
from dunnage.model.analysis import Analysis, LatencyCurve, Share
from dunnage.model.explanation import LatencyDifference, TimeLine
from dunnage.model.scalability import Scalability
from dunnage.report.paper.comparisons import draw_differences, draw_shift, height_of
from dunnage.report.paper.curves import draw_growth, draw_tail, draw_times
from dunnage.report.paper.stacks import draw_cpu, draw_variance
from dunnage.wording import terms

Numbers = Mapping[str, int]
"""Deployment → its place in the plan, from which colour, marker and dashes follow."""


P = ParamSpec("P")
Draw = Callable[[Figure], None]


@dataclass(frozen=True)
class Drawing:
    """One figure: its name as a file, its height in inches, and how it is drawn."""

    name: str
    height: float
    draw: Draw


def drawings(analysis: Analysis, numbers: Numbers) -> Iterator[Drawing]:
    """All figures that there are values for, in the order of the page."""
    yield from _differences(analysis)
    yield from _growths(analysis, numbers)
    yield from _tails(analysis, numbers)
    yield from _shifts(analysis, numbers)
    yield from _times(analysis, numbers)
    yield from _stacks(analysis)


def _differences(analysis: Analysis) -> Iterator[Drawing]:
    for metric in answer.metrics(answer.all_comparisons(analysis)):
        groups = [
            (condition, [row.cells[metric] for row in condition.rows if metric in row.cells])
            for condition in answer.conditions(analysis)
        ]
        known = [group for group in groups if any(cell.difference.n for cell in group[1])]
        if known:
            draw = _with(draw_differences, metric, known)
            yield Drawing(f"differences-{metric}", height_of(known), draw)


def _growths(analysis: Analysis, numbers: Numbers) -> Iterator[Drawing]:
    groups: dict[str, list[Scalability]] = {}
    for found in analysis.scalability:
        groups.setdefault(found.workload, []).append(found)
    for workload, curves in groups.items():
        yield Drawing(f"scalability-{workload}", 2.4, _with(draw_growth, curves, numbers))


def _tails(analysis: Analysis, numbers: Numbers) -> Iterator[Drawing]:
    groups: dict[tuple[str, str, str], list[LatencyCurve]] = {}
    for curve in analysis.curves:
        if inside(curve):
            groups.setdefault((curve.workload, curve.level, curve.kind), []).append(curve)
    for (workload, level, kind), curves in groups.items():
        draw = _with(draw_tail, terms.condition(workload, level), curves, numbers)
        yield Drawing(f"latency-{kind}-{workload}-{level}", 2.4, draw)


def _shifts(analysis: Analysis, numbers: Numbers) -> Iterator[Drawing]:
    groups: dict[tuple[str, str, str, str], list[LatencyDifference]] = {}
    for found in analysis.latency:
        if found.quantiles:
            key = (found.kind, found.workload, found.level, found.baseline)
            groups.setdefault(key, []).append(found)
    for (kind, workload, level, baseline), each in groups.items():
        draw = _with(draw_shift, terms.condition(workload, level), each, numbers)
        yield Drawing(f"tails-{kind}-{workload}-{level}-{baseline}", 2.2, draw)


def _times(analysis: Analysis, numbers: Numbers) -> Iterator[Drawing]:
    groups: dict[tuple[str, str], list[TimeLine]] = {}
    for line in analysis.timelines:
        groups.setdefault((line.workload, line.level), []).append(line)
    for (workload, level), lines in groups.items():
        panels = len(names_of(lines))
        if panels:
            draw = _with(draw_times, terms.condition(workload, level), lines, numbers)
            yield Drawing(f"time-{workload}-{level}", 0.6 + 0.85 * panels, draw)


def _stacks(analysis: Analysis) -> Iterator[Drawing]:
    groups: dict[tuple[str, str], list[Share]] = {}
    for share in analysis.shares:
        groups.setdefault((share.workload, share.level), []).append(share)
    for (workload, level), shares in groups.items():
        bars = len({share.deployment for share in shares})
        draw = _with(draw_cpu, terms.condition(workload, level), shares)
        yield Drawing(f"cpu-{workload}-{level}", _height(bars), draw)
    splits = [split for split in analysis.variance if split.parts]
    if splits:
        yield Drawing("variance", _height(len(splits)), _with(draw_variance, splits))


def _with(draw: Callable[Concatenate[Figure, P], None], *given: P.args, **_: P.kwargs) -> Draw:
    """The same drawing with everything given but the figure."""
    return lambda figure: draw(figure, *given, **_)


def _height(bars: int) -> float:
    return 0.95 + 0.24 * bars
