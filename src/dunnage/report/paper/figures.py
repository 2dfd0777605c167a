"""Which of the findings' figures go on paper."""

from __future__ import annotations

from collections.abc import Iterator

from dunnage.drawing.figure import Figure, Panels
from dunnage.drawing.forest import Forest
from dunnage.drawing.stack import Stack
from dunnage.findings.cpu.bars import cpu_bars
from dunnage.findings.differences.forests import forests
from dunnage.findings.scalability.growth import growths
from dunnage.findings.tails.figures import shifts, tails
from dunnage.findings.timeline.figures import times
from dunnage.findings.variance.bars import variance_bars
from dunnage.model.analysis import Analysis

Described = Figure | Panels | Forest | Stack


def figures(analysis: Analysis) -> Iterator[Described]:
    """All that there are values for, in the order of the page."""
    yield from forests(analysis)
    yield from (growth.fitted for growth in growths(analysis) if growth.fitted.points)
    yield from (found.figure for found in (*tails(analysis), *shifts(analysis)))
    yield from (found.panels for found in times(analysis))
    yield from cpu_bars(analysis)
    if variance := variance_bars(analysis):
        yield variance
