"""Writes every figure of an analysis into a directory, in every format."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure as Sheet

from dunnage.drawing.figure import Figure, Panels
from dunnage.drawing.forest import Forest
from dunnage.drawing.ladder import Ladders
from dunnage.drawing.stack import Stack
from dunnage.findings.cpu.bars import cpu_bars
from dunnage.findings.differences.forests import forests
from dunnage.findings.rungs.figures import ladders
from dunnage.findings.scalability.growth import growths
from dunnage.findings.tails.figures import shifts, tails
from dunnage.findings.timeline.figures import times
from dunnage.findings.variance.bars import variance_bars
from dunnage.model.analysis import Analysis
from dunnage.model.plan import Plan
from dunnage.report.paper.forest import paint_forest
from dunnage.report.paper.ladder import paint_ladders
from dunnage.report.paper.plot import Numbers, paint_figure, paint_panels
from dunnage.report.paper.stack import paint_stack
from dunnage.report.paper.style import FORMATS, SETTINGS
from dunnage.store.write import write_again
from dunnage.wording import terms

Described = Figure | Panels | Forest | Stack | Ladders
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 80


def write_figures(analysis: Analysis, plan: Plan, directory: Path) -> tuple[Path, ...]:
    """Draw all figures that there are values for; return the files, each figure in every format.

    Only a caller that draws pays for matplotlib. Raises UnwrittenError when nothing can be written.
    """
    written: list[Path] = []
    numbers = {terms.plain(each.name): number for number, each in enumerate(plan.deployments)}
    with mpl.rc_context(SETTINGS):
        for figure in figures(analysis):
            sheet = _paint(figure, numbers)
            name = _free(figure.name, written)
            written += [_save(sheet, directory / f"{name}.{kind}", kind) for kind in FORMATS]
    return tuple(written)


def figures(analysis: Analysis) -> Iterator[Described]:
    """All figures that there are values for, in the order of the page."""
    yield from forests(analysis)
    yield from (growth.fitted for growth in growths(analysis) if growth.fitted.points)
    yield from (found.figure for found in (*tails(analysis), *shifts(analysis)))
    yield from (found.panels for found in times(analysis))
    yield from cpu_bars(analysis)
    yield from ladders(analysis)
    if variance := variance_bars(analysis):
        yield variance


def _paint(figure: Described, numbers: Numbers) -> Sheet:
    match figure:
        case Figure():
            return paint_figure(figure, numbers)
        case Panels():
            return paint_panels(figure, numbers)
        case Forest():
            return paint_forest(figure)
        case Stack():
            return paint_stack(figure)
        case Ladders():
            return paint_ladders(figure, numbers)


def _save(sheet: Sheet, path: Path, kind: str) -> Path:
    options: Mapping[str, object] = FORMATS[kind]
    drawn = io.BytesIO()
    sheet.savefig(drawn, format=kind, **options)  # type: ignore[arg-type]
    return write_again(path, drawn.getvalue())


def _free(name: str, written: list[Path]) -> str:
    """A file name made of letters, digits, `.`, `_` and `-`, that no figure has yet."""
    safe = _UNSAFE.sub("-", name).strip("-.")[:_LONGEST] or "figure"
    taken = {path.stem for path in written}
    number, free = 1, safe
    while free in taken:
        number += 1
        free = f"{safe}-{number}"
    return free
