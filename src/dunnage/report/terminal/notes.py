"""What stands below the terminal's answer: everything that must be known to trust it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from dunnage.findings.checks import reasons
from dunnage.findings.conditions.members import watching
from dunnage.findings.control.sentences import (
    control_differs,
    control_holds,
    neighbours_cost,
)
from dunnage.findings.differences import answer
from dunnage.findings.losses.losses import losses
from dunnage.findings.saturation.capacity import capacities
from dunnage.findings.saturation.overload import over_capacity
from dunnage.findings.snapshots.sources import restored
from dunnage.model.analysis import Analysis
from dunnage.wording import alike, numbers, parity, terms, verdict

_REASONS_SHOWN = 5
Line = tuple[str, str]
"""Label and text."""


def grid(lines: Sequence[Line]) -> Table:
    """Labels on the left, each once; texts on the right, broken between words."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    previous = None
    for label, text in lines:
        table.add_row("" if label == previous else label, Text(terms.plain(text)))
        previous = label or previous
    return table


def notes(analysis: Analysis, failures: Sequence[str], *, compared: bool) -> Table:
    """How to read the numbers, what became of the runs, what else differed, what is open."""
    lines = [("Reading", answer.reading(analysis))] if compared else []
    lines += [*_trust(analysis, failures), *_causes(analysis)]
    if compared:
        lines += advice(analysis)
    return grid(lines)


def _trust(analysis: Analysis, failures: Sequence[str]) -> Iterator[Line]:
    yield "Runs", answer.runs_counted(analysis)
    found = reasons.why_not_valid(analysis)
    for reason in found[:_REASONS_SHOWN]:
        yield "", f"{reason.runs} × {reason.text}"
    if len(found) > _REASONS_SHOWN:
        yield "", f"and {len(found) - _REASONS_SHOWN} more reasons: see the report"
    for times, failure in alike.grouped(failures)[:_REASONS_SHOWN]:
        yield "Failed", f"{times} × {failure}"
    complete: dict[int, list[str]] = {}
    for question in analysis.answers:
        if question.comparisons:
            complete.setdefault(question.complete_blocks, []).append(question.question)
    for blocks, questions in complete.items():
        yield "Blocks", f"{numbers.count(blocks, 'complete block')} for {', '.join(questions)}"
    for text in filter(None, (control_differs(analysis), control_holds(analysis))):
        yield "Control", text
    if cost := neighbours_cost(analysis):
        yield "Neighbours", cost
    for text in over_capacity(analysis):
        yield "Over capacity", text
    for text in capacities(analysis):
        yield "Capacity", text
    for text in losses(analysis):
        yield "Known loss", text
    for text in restored(analysis):
        yield "Data", text
    if took := watching(analysis):
        yield "Sampler", took
    for skipped in analysis.skipped:
        yield "Skipped", f"{skipped.deployment}: {skipped.reason}"


def _causes(analysis: Analysis) -> Iterator[Line]:
    lines: dict[tuple[str, str, str], list[str]] = {}
    for question in analysis.answers:
        baselines = {found.deployment: found.baseline for found in question.comparisons}
        for deployment, factors in question.factors.items():
            if factors:
                text = "; ".join(map(parity.factor, factors))
                key = ("Differs in", baselines.get(deployment, "the baseline"), text)
                lines.setdefault(key, []).append(deployment)
        for deployment, items in question.differences.items():
            for item in items:
                text = parity.sentence(item) + parity.origin(item)
                key = ("Also", baselines.get(deployment, "the baseline"), text)
                lines.setdefault(key, []).append(deployment)
    for (label, baseline, text), deployments in sorted(
        lines.items(), key=lambda item: item[0][0] == "Also"
    ):
        yield label, f"{terms.listed(list(dict.fromkeys(deployments)))} from {baseline}: {text}"
    compared = any(question.comparisons for question in analysis.answers)
    if compared and not any(label == "Also" for label, _, _ in lines):
        yield "Also", "nothing else was found to differ"


def advice(analysis: Analysis) -> Iterator[Line]:
    """What would settle each question that is open."""
    answers = {each.question: each for each in analysis.answers}
    for found in analysis.advice:
        if found.settled < found.comparisons:
            yield "Advice", verdict.advice(found, answers[found.question])
