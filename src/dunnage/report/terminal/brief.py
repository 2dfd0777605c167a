"""The answer that fits a terminal's page: what was found, each comparison on a line, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dunnage.findings.checks.sentences import managed, moving, runs_counted
from dunnage.findings.control.sentences import control_differs, neighbours_withhold
from dunnage.findings.differences import answer, sentences
from dunnage.findings.networks.sentences import networks_that_changed
from dunnage.findings.restarts.sentences import stays_with_restarts
from dunnage.findings.rules.sentences import rules_stay
from dunnage.findings.saturation.sentences import over_capacity
from dunnage.model.analysis import Analysis, Comparison, QuestionAnswer, Verdict
from dunnage.model.plan import Plan
from dunnage.model.study import Study
from dunnage.report.terminal.narrow import ByWidth
from dunnage.report.terminal.notes import Line, advice, grid, labelled, left_out
from dunnage.report.terminal.text import heading, nothing
from dunnage.wording import absent, numbers, parity, terms

ROWS = 12
"""Comparisons that are shown, so that all of it fits 40 lines of 80 columns."""
_COLUMNS = 5
_NAMES = 20
"""Columns of a terminal without which names of deployments and conditions cannot be read."""
_BASELINES = 2
"""Values of a baseline that a line has room for."""
DETAILS = "`dunnage report --details` shows every number and what happened to the runs"


def brief(
    analysis: Analysis,
    study: Study,
    plan: Plan,
    failures: Sequence[str] = (),
    *,
    scale: float | None = None,
) -> RenderableType:
    """What went wrong, one sentence to repeat, the comparisons that decide, and what to do."""
    parts: list[RenderableType] = list(heading(analysis, study, failures, scale))
    why = sentences.nothing_compared(analysis, study, plan)
    parts += [nothing(why, analysis)] if why else list(_found(analysis, study, plan))
    parts.append(grid([*_notes(analysis, study, scale), ("More", DETAILS)]))
    return Group(*parts)


def _found(analysis: Analysis, study: Study, plan: Plan) -> Iterator[RenderableType]:
    if analysis.answers and (lead := sentences.lead(analysis.answers[0], study, plan)):
        yield Text(lead, style="bold")
        yield Text()
    every = [(asked, _settled_first(asked)) for asked in analysis.answers]
    shown = _at_most(ROWS, every)
    cells = [[_row(comparison) for comparison in rows] for _, rows in shown]
    widths = [
        max((row[at].cell_len for rows in cells for row in rows), default=0)
        for at in range(_COLUMNS)
    ]
    reached = answer.reached_by(analysis)
    for (asked, rows), lines in zip(shown, cells, strict=True):
        yield _title(asked, rows[0])
        if base := _baseline(rows, reached):
            yield Text(f"  {base}", style="dim")
        yield _table(lines, widths)
    hidden = [each for _, rows in every for each in rows][sum(len(rows) for _, rows in shown) :]
    if hidden:
        open_ = sum(each.verdict is Verdict.INCONCLUSIVE for each in hidden)
        yield Text(f"and {len(hidden)} more comparisons, {open_} of them inconclusive", style="dim")
    yield Text()


Asked = tuple[QuestionAnswer, list[Comparison]]


def _at_most(rows: int, every: Sequence[Asked]) -> list[Asked]:
    """The first so many comparisons, under their questions."""
    kept = []
    for asked, comparisons in every:
        if part := comparisons[:rows]:
            kept.append((asked, part))
        rows -= len(part)
    return kept


def _table(lines: Sequence[tuple[Text, ...]], widths: Sequence[int]) -> RenderableType:
    """Rows of one question, as wide as those of the others."""
    needs = sum(widths[2:]) + 2 * (_COLUMNS - 1) + _NAMES
    return ByWidth(_columns(lines, widths), Group(*_in_lines(lines)), needs)


def _in_lines(rows: Sequence[tuple[Text, ...]]) -> Iterator[Text]:
    for name, place, *found in rows:
        yield Text.assemble(name, ", ", place)
        yield Text("    ").append_text(Text("  ").join(found))


def _columns(lines: Sequence[tuple[Text, ...]], widths: Sequence[int]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for at, width in enumerate(widths):
        numeric = at == _COLUMNS - 2
        table.add_column(
            min_width=width, overflow="fold", no_wrap=at > 1, justify="right" if numeric else "left"
        )
    for line in lines:
        table.add_row(*line)
    return table


def _settled_first(asked: QuestionAnswer) -> list[Comparison]:
    deciding = [each for each in asked.comparisons if each.primary]
    return sorted(deciding, key=lambda each: each.verdict is Verdict.INCONCLUSIVE)


def _title(asked: QuestionAnswer, first: Comparison) -> Text:
    what = f"{terms.phrase(first.metric)} against {terms.plain(first.baseline)}"
    within = f"tolerance {numbers.tolerance(first.tolerance)}"
    return Text.assemble((terms.plain(asked.question), "bold"), (f"  {what}, {within}", "dim"))


def _baseline(rows: Sequence[Comparison], reached: sentences.Reached) -> str:
    """What the baseline itself reached, so that per cent are of something."""
    first = rows[0]
    places = dict.fromkeys((row.workload, row.level) for row in rows)
    told = [
        f"{numbers.value(first.metric, found.value)} "
        f"({terms.plain(workload)}, {terms.level(level)})"
        for workload, level in places
        if (found := reached.get((first.baseline, workload, level, first.metric))) is not None
    ]
    if not told or len(told) > _BASELINES:
        return ""
    return f"{terms.plain(first.baseline)}: {', '.join(told)}"


def _row(comparison: Comparison) -> tuple[Text, ...]:
    found = comparison.difference
    place = f"{terms.plain(comparison.workload)}, {terms.level(comparison.level)}"
    return (
        Text(f"  {terms.plain(comparison.deployment)}"),
        Text(place),
        Text(terms.mark(comparison.verdict), style=f"bold {terms.MARKS[comparison.verdict][1]}"),
        Text(numbers.seen(found), style="bold"),
        Text(numbers.interval(found)),
    )


def _notes(analysis: Analysis, study: Study, scale: float | None) -> Iterator[Line]:
    yield from labelled(
        ("Control", (control_differs(analysis),)),
        ("Neighbours", (neighbours_withhold(analysis),)),
        ("Restarts", stays_with_restarts(analysis.restarted)),
        ("Rules", rules_stay(analysis.rules_left)),
        ("Network", networks_that_changed(analysis.networks_changed)),
        ("Moves", moving(analysis)),
        ("Manager", managed(analysis)),
        ("Left out", (*sentences.thinned(analysis), sentences.left_out_of_answers(analysis))),
        ("Over capacity", over_capacity(analysis)),
        ("Twins", (_twins(analysis),)),
        ("Parity", (parity.not_compared(analysis.parity.differences),)),
        ("Not known", absent.metrics(analysis.absent_metrics)),
        ("Runs", (runs_counted(analysis),)),
        ("Look", (sentences.look_brief(analysis),)),
        ("Skipped", left_out(analysis.skipped)),
    )
    yield from advice(analysis, study, scale)


def _twins(analysis: Analysis) -> str:
    """Whether identical deployments differ anywhere; empty where there are none."""
    if not analysis.twin:
        return ""
    apart = [
        f"{terms.phrase(found.metric)}, {terms.plain(found.workload)}, "
        f"{terms.level(found.level)}: {numbers.least(found.apart)}"
        for found in analysis.twin
        if found.apart
    ]
    known = [found for found in analysis.twin if found.apart is not None]
    if not known:
        return "too few blocks to know how far two identical deployments differ"
    if not apart:
        return "no difference was found between two identical deployments"
    return f"two identical deployments differ, at least by ({'; '.join(apart)})"
