"""What the terminal shows of two results beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dunnage.analysis.groups import grouped
from dunnage.model.between import CHANGES, Change, ChangeVerdict, ResultComparison, Side
from dunnage.wording import numbers, terms
from dunnage.wording.between import left_out

MARKS: Mapping[ChangeVerdict, tuple[str, str]] = {
    name: (terms.SYMBOLS[verdict], terms.COLOURS[verdict]) for verdict, name in CHANGES.items()
}
"""Verdict → its symbol and colour."""


def comparison(both: ResultComparison) -> RenderableType:
    """Both results, what decides as a table, and what must be known to read it."""
    parts: list[RenderableType] = [
        Text.assemble(("A  ", "bold"), _side(both.a)),
        Text.assemble(("B  ", "bold"), _side(both.b)),
        Text(),
    ]
    deciding = [change for change in both.changes if change.gate]
    if deciding:
        parts += [_table(deciding), Text()]
    others = [change for change in both.changes if not change.gate]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    if others:
        told = [
            c for c in others if c.verdict in (ChangeVerdict.REGRESSION, ChangeVerdict.IMPROVEMENT)
        ]
        grid.add_row("Beside", Text(_others(len(others), told)))
    for number, each in enumerate(both.left_out):
        grid.add_row("Left out" if number == 0 else "", Text(terms.plain(left_out(each))))
    if both.changes:
        grid.add_row("Method", Text(both.method))
    grid.add_row("Caution", Text(both.caution))
    parts.append(grid)
    return Group(*parts)


def _side(side: Side) -> str:
    when = ""
    if side.began is not None and side.ended is not None:
        began, ended = (datetime.fromtimestamp(t, tz=UTC) for t in (side.began, side.ended))
        when = f", {began:%Y-%m-%d %H:%M} to {ended:%Y-%m-%d %H:%M} UTC"
    return terms.plain(
        f"{side.path}: {side.study}, {numbers.count(side.blocks, 'block')}, "
        f"{side.valid} of {numbers.count(side.planned, 'run')} valid{when}"
    )


def _table(changes: Sequence[Change]) -> Table:
    """What decides, deployment by deployment and condition by condition."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("metric", overflow="fold")
    for title in ("A → B", "change", "of the overhead"):
        table.add_column(title, justify="right")
    table.add_column("verdict", no_wrap=True)
    groups = grouped(changes, lambda change: (change.deployment, change.workload, change.level))
    for (deployment, workload, level), of_setting in groups.items():
        heading = f"{terms.plain(deployment)} · {terms.plain(workload)}, {terms.level(level)}"
        table.add_row(Text(heading, style="bold"))
        for change in of_setting:
            table.add_row(*_row(change), end_section=change is of_setting[-1])
    return table


def _row(change: Change) -> Sequence[Text]:
    values = (
        f"{numbers.bare(change.metric, change.a.value)} → "
        f"{numbers.value(change.metric, change.b.value)}"
    )
    interval = numbers.interval(change.change.low, change.change.high)
    symbol, colour = MARKS[change.verdict]
    return (
        Text(f"  {terms.title(change.metric)}"),
        Text(values),
        Text.assemble((numbers.difference(change.change.value), "bold"), f"\n{interval}"),
        _overhead(change),
        Text(f"{symbol} {change.verdict.value}", style=f"bold {colour}"),
    )


def _overhead(change: Change) -> Text:
    if change.overhead is None:
        return Text("-", style="dim")
    interval = numbers.interval(change.overhead.low, change.overhead.high)
    return Text(f"{numbers.difference(change.overhead.value)}\n{interval}")


def _others(count: int, told: Sequence[Change]) -> str:
    """Exploratory changes are told by number; each is in the JSON answer."""
    text = f"{count} more changes decide nothing (`--format json` has them)"
    if not told:
        return text
    named = [f"{c.deployment} {c.metric} {numbers.difference(c.change.value)}" for c in told[:6]]
    more = f" and {len(told) - 6} more" if len(told) > 6 else ""
    return terms.plain(f"{text}; beyond their tolerance: {', '.join(named)}{more}")
