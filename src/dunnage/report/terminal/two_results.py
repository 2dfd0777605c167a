"""What the terminal shows of two results beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dunnage.analysis.groups import grouped
from dunnage.findings.two_results import sentences
from dunnage.model.between import CHANGES, Change, ChangeVerdict, ResultComparison, Side
from dunnage.report.terminal.narrow import ByWidth
from dunnage.report.terminal.notes import Line, grid
from dunnage.wording import numbers, terms

MARKS: Mapping[ChangeVerdict, tuple[str, str]] = {
    name: terms.MARKS[verdict] for verdict, name in CHANGES.items()
}
"""Verdict → its symbol and colour."""

_TABLE = 66
"""Columns from which the table of changes has room for its names."""


def comparison(both: ResultComparison) -> RenderableType:
    """Both results, what decides as a table, and what must be known to read it."""
    parts: list[RenderableType] = [
        Text.assemble(("A  ", "bold"), _side(both.a)),
        Text.assemble(("B  ", "bold"), _side(both.b)),
        Text(),
    ]
    deciding = [change for change in both.changes if change.gate]
    if deciding:
        parts += [ByWidth(_table(deciding), _lines(deciding), _TABLE), Text()]
    return Group(*parts, grid(list(_notes(both))))


def _notes(both: ResultComparison) -> Iterator[Line]:
    if others := [change for change in both.changes if not change.gate]:
        yield "Beside", _others(others)
    for text in sentences.all_left_out(both.left_out):
        yield "Left out", text
    for text in sentences.not_known(both):
        yield "Not known", text
    if both.changes:
        yield "Method", sentences.METHOD
        yield "Caution", sentences.CAUTION


def _side(side: Side) -> str:
    return terms.plain(
        f"{side.path}: {side.study}, {numbers.count(side.blocks, 'block')}, "
        f"{side.valid} of {numbers.count(side.planned, 'run')} valid{_when(side)}"
    )


def _when(side: Side) -> str:
    """When it was measured, or when by a clock that runs ahead of ours and is nobody's."""
    if side.began is None or side.ended is None:
        return ""
    began, ended = (datetime.fromtimestamp(t, tz=UTC) for t in (side.began, side.ended))
    day = "" if began.date() == ended.date() else f"{ended:%Y-%m-%d} "
    when = f", {began:%Y-%m-%d %H:%M} to {day}{ended:%H:%M} UTC"
    return f"{when} by the simulated clock of its fakes" if side.invented else when


def _table(changes: Sequence[Change]) -> Table:
    """What decides, deployment by deployment and condition by condition."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    table.add_column("metric, A → B", overflow="fold")
    for title in ("change", "of overhead"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    groups = grouped(changes, lambda change: (change.deployment, change.workload, change.level))
    for (deployment, workload, level), of_setting in groups.items():
        heading = f"{terms.plain(deployment)} · {terms.plain(workload)}, {terms.level(level)}"
        table.add_row(Text(heading, style="bold"))
        for change in of_setting:
            table.add_row(*_row(change), end_section=change is of_setting[-1])
    return table


def _lines(changes: Sequence[Change]) -> RenderableType:
    """The same, a line for each number."""
    lines: list[Text] = []
    groups = grouped(changes, lambda change: (change.deployment, change.workload, change.level))
    for (deployment, workload, level), of_setting in groups.items():
        heading = f"{terms.plain(deployment)} · {terms.plain(workload)}, {terms.level(level)}"
        lines.append(Text(heading, style="bold"))
        for change in of_setting:
            metric, changed, overhead, verdict = _row(change)
            lines += [Text.assemble("  ", line) for line in metric.split()]
            told = changed.split()
            lines.append(Text("  ").append_text(Text("  ").join([verdict, *told])))
            if change.overhead is not None:
                lines.append(Text("  of overhead ").append_text(Text("  ").join(overhead.split())))
    return Group(*lines)


def _row(change: Change) -> Sequence[Text]:
    values = (
        f"{numbers.bare(change.metric, change.a.value)} → "
        f"{numbers.value(change.metric, change.b.value)}"
    )
    interval = numbers.interval(change.change)
    symbol, colour = MARKS[change.verdict]
    return (
        Text.assemble(terms.title(change.metric), (f"\n{values}", "dim")),
        Text.assemble((numbers.difference(change.change.value), "bold"), f"\n{interval}"),
        _overhead(change),
        Text(f"{symbol} {change.verdict.value}", style=f"bold {colour}"),
    )


def _overhead(change: Change) -> Text:
    if change.overhead is None:
        return Text("-", style="dim")
    return Text(f"{numbers.difference(change.overhead.value)}\n{numbers.interval(change.overhead)}")


def _others(changes: Sequence[Change]) -> str:
    """Exploratory changes are told by number; each is in the JSON answer."""
    text = f"{len(changes)} more changes decide nothing (`--format json` has them)"
    clear = (ChangeVerdict.REGRESSION, ChangeVerdict.IMPROVEMENT)
    told = [change for change in changes if change.verdict in clear]
    if not told:
        return text
    named = [f"{c.deployment} {c.metric} {numbers.difference(c.change.value)}" for c in told[:6]]
    more = f" and {len(told) - 6} more" if len(told) > 6 else ""
    return f"{text}; beyond their tolerance: {', '.join(named)}{more}"
