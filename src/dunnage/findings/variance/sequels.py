"""Throughput of every run in the order in which they ran, so that drift shows."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.drawing.figure import Axis, Figure, Point
from dunnage.drawing.scale import Scale, linear
from dunnage.model.analysis import Analysis, RunSummary
from dunnage.model.metrics import METRICS
from dunnage.wording import numbers, terms

_METRIC = "throughput"


def sequels(analysis: Analysis) -> tuple[Figure, ...]:
    """One figure for each condition; every second block is shaded."""
    groups: dict[tuple[str, str], list[RunSummary]] = {
        (summary.workload, summary.level): [] for summary in analysis.summaries
    }
    blocks: dict[int, list[int]] = {}
    for run in analysis.runs:
        blocks.setdefault(run.block, []).append(run.position)
        if _METRIC in run.values:
            groups.setdefault((run.workload, run.level), []).append(run)
    spans = {block: (min(at), max(at) + 1) for block, at in sorted(blocks.items())}
    middles = {(first + last) / 2: block for block, (first, last) in spans.items()}
    positions = Scale(0, max((last for _, last in spans.values()), default=1), tuple(middles))
    x = Axis("block", positions, lambda middle: str(middles[middle]), room=8.0, grid=False)
    return tuple(
        _sequel(terms.condition(*key), runs, x, tuple(spans.values())[::2])
        for key, runs in groups.items()
        if runs
    )


def _sequel(
    title: str, runs: Sequence[RunSummary], x: Axis, shaded: tuple[tuple[float, float], ...]
) -> Figure:
    return Figure(
        title=title,
        label=f"Throughput of every run by its position in the study, {title}; the table of runs "
        "has the numbers",
        x=x,
        y=Axis(
            f"{terms.phrase(_METRIC)}, {METRICS[_METRIC].unit}",
            linear([run.values[_METRIC] for run in runs], wanted=4),
            lambda value: numbers.bare(_METRIC, value),
        ),
        points=tuple(
            Point(
                terms.plain(run.deployment),
                run.position + 0.5,
                run.values[_METRIC],
                text=f"{terms.plain(run.deployment)}, block {run.block}: "
                f"{numbers.value(_METRIC, run.values[_METRIC])}"
                f"{'' if run.status == 'valid' else f', {run.status}'}",
                hollow=run.status != "valid",
            )
            for run in runs
        ),
        shaded=shaded,
    )
