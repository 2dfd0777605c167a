"""What the terminal shows: the answer, the plan, and how far a study has come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from dunnage.analysis.estimate import MINIMUM_BLOCKS
from dunnage.model.analysis import Analysis, Comparison, Verdict
from dunnage.model.plan import Plan
from dunnage.model.record import Status
from dunnage.model.study import Study
from dunnage.report import answer, numbers, words
from dunnage.units import duration

STYLES: Mapping[Verdict, str] = {
    Verdict.OVERHEAD: "red",
    Verdict.GAIN: "green",
    Verdict.EQUIVALENT: "cyan",
    Verdict.INCONCLUSIVE: "yellow",
}
WIDE = 110
"""Columns from which a verdict and its difference fit on one line."""
EXPLORATORY = "*"
_METRICS_A_TABLE = 3
_REASONS_SHOWN = 5


def answer_table(analysis: Analysis, study: Study) -> RenderableType:
    """The answer as one table, and below it what must be known to trust it."""
    metrics = answer.metrics(answer.all_comparisons(analysis))
    parts: list[RenderableType] = [_heading(analysis, study)]
    parts += [
        _Answer(analysis, metrics[start : start + _METRICS_A_TABLE])
        for start in range(0, len(metrics), _METRICS_A_TABLE)
    ]
    if not metrics:
        parts.append(Text("No comparison could be made: see below.", style="bold"))
    parts.append(_notes(analysis))
    return Group(*parts)


def plan_table(plan: Plan, study: Study, seconds: float) -> RenderableType:
    """Blocks and stays in their order, the time they will take, and what is left out."""
    runs = sum(1 for _ in plan.runs())
    stays = sum(len(block.stays) for block in plan.blocks)
    heading = Text.assemble(
        (words.plain(plan.study), "bold"),
        f": {numbers.count(len(plan.blocks), 'block')}, {numbers.count(stays, 'stay')}, "
        f"{numbers.count(runs, 'run')}, about {duration(seconds)}",
    )
    variants = Table(box=_BOX)
    for title in ("deployment", "what it is", "platform", "network", "endpoint"):
        variants.add_column(title, overflow="fold")
    for deployment in plan.deployments:
        name = words.plain(deployment.name)
        if deployment.twin_of is not None:
            name += f" (twin of {words.plain(deployment.twin_of)})"
        variants.add_row(
            Text(name, style="bold"),
            *(
                Text(words.plain(text))
                for text in (
                    deployment.title,
                    deployment.platform,
                    deployment.network,
                    deployment.endpoint,
                )
            ),
        )
    order = Table("block", "deployments in the order of their stays", "runs", box=_BOX)
    order.columns[0].justify = order.columns[2].justify = "right"
    for block in plan.blocks:
        names = ", ".join(words.plain(stay.deployment) for stay in block.stays)
        order.add_row(str(block.index), Text(names), str(sum(len(s.runs) for s in block.stays)))
    lines = [
        ("Skipped", f"{words.plain(skipped.deployment)}: {words.plain(skipped.reason)}")
        for skipped in plan.skipped
    ]
    if study.questions and len(plan.blocks) < MINIMUM_BLOCKS:
        lines.append(("Few blocks", answer.too_few(len(plan.blocks))))
    return Group(heading, variants, order, *([_grid(lines)] if lines else []))


def status_table(plan: Plan, statuses: Mapping[str, Status]) -> RenderableType:
    """How far each deployment has come in each block; `statuses` maps the ids of finished runs."""
    planned: dict[str, dict[int, list[Status | None]]] = {
        deployment.name: {block.index: [] for block in plan.blocks}
        for deployment in plan.deployments
    }
    for run in plan.runs():
        planned[run.deployment][run.block].append(statuses.get(run.id))
    table = Table(box=_BOX)
    table.add_column("deployment", overflow="fold")
    table.add_column("runs", justify="right", no_wrap=True)
    table.add_column("not valid", justify="right")
    table.add_column("blocks, in order", overflow="fold")
    for name, blocks in planned.items():
        runs = [status for block in blocks.values() for status in block]
        done = [status for status in runs if status is not None]
        table.add_row(
            Text(words.plain(name)),
            f"{len(done)}/{len(runs)}",
            str(sum(1 for status in done if status is not Status.VALID)),
            Text.assemble(*(_block(block) for block in blocks.values())),
        )
    total = sum(1 for _ in plan.runs())
    heading = Text.assemble(
        (words.plain(plan.study), "bold"),
        f": {len(statuses)} of {numbers.count(total, 'run')} done",
    )
    legend = "■ done and valid   ! done, not all valid   ▪ in part   · nothing yet"
    return Group(heading, table, Text(legend, style="dim"))


_BOX = box.SIMPLE_HEAD


class _Answer:
    """The table itself; it stacks what a narrow terminal has no room for side by side."""

    def __init__(self, analysis: Analysis, metrics: tuple[str, ...]) -> None:
        self._analysis = analysis
        self._metrics = metrics

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        joint = "  " if options.max_width >= WIDE else "\n"
        table = Table(box=_BOX, pad_edge=False, show_edge=False)
        table.add_column("Workload, level", overflow="fold")
        for metric in self._metrics:
            table.add_column(Text(words.title(metric)), overflow="fold")
        conditions = [
            condition
            for condition in answer.conditions(self._analysis)
            if any(metric in row.cells for row in condition.rows for metric in self._metrics)
        ]
        for number, condition in enumerate(conditions):
            label = f"{words.plain(condition.workload)}, {words.level(condition.level)}"
            table.add_row(Text(label, style="bold"))
            table.add_row(
                _indented(condition.baseline),
                *(
                    Text(numbers.value(metric, condition.values[metric].value), style="dim")
                    if metric in condition.values
                    else Text("-", style="dim")
                    for metric in self._metrics
                ),
            )
            for row in condition.rows:
                table.add_row(
                    _indented(row.deployment),
                    *(_cell(row.cells.get(metric), joint) for metric in self._metrics),
                )
            table.add_row(
                Text("  A/A bound", style="dim"),
                *(
                    Text(numbers.bound(condition.bound(metric)), style="dim")
                    for metric in self._metrics
                ),
                end_section=number + 1 < len(conditions),
            )
        yield table
        yield Text()


def _indented(name: str) -> Text:
    return Text("  " + words.plain(name))


def _cell(comparison: Comparison | None, joint: str) -> Text:
    if comparison is None:
        return Text("-", style="dim")
    estimate = comparison.difference
    star = "" if comparison.question else EXPLORATORY
    return Text.assemble(
        (words.mark(comparison.verdict) + star, f"bold {STYLES[comparison.verdict]}"),
        joint,
        (numbers.seen(estimate), "bold"),
        "\n",
        (numbers.interval(estimate.low, estimate.high), ""),
    )


def _heading(analysis: Analysis, study: Study) -> Text:
    lines = [f"{name}: {answer.asked(question)}" for name, question in study.questions.items()]
    return Text.assemble(
        (words.plain(analysis.study), "bold"),
        "\n",
        words.plain("\n".join(lines)),
        "\n",
    )


def _notes(analysis: Analysis) -> RenderableType:
    lines = [("Reading", answer.reading(analysis)), *_trust(analysis), *_causes(analysis)]
    lines += [("Undecided", text) for text in answer.undecided(analysis)]
    return _grid(lines)


def _trust(analysis: Analysis) -> Iterator[tuple[str, str]]:
    yield "Runs", answer.runs_counted(analysis)
    reasons = answer.why_not_valid(analysis)
    for reason, number in reasons[:_REASONS_SHOWN]:
        yield "", f"{number} × {reason}"
    if len(reasons) > _REASONS_SHOWN:
        yield "", f"and {len(reasons) - _REASONS_SHOWN} more reasons: see the report"
    complete: dict[int, list[str]] = {}
    for question in analysis.answers:
        complete.setdefault(question.complete_blocks, []).append(words.plain(question.question))
    for blocks, questions in complete.items():
        yield "Blocks", f"{numbers.count(blocks, 'complete block')} for {', '.join(questions)}"
    for skipped in analysis.skipped:
        yield "Skipped", words.plain(skipped)


def _causes(analysis: Analysis) -> Iterator[tuple[str, str]]:
    seen: set[tuple[str, str]] = set()
    for question in analysis.answers:
        baselines = {found.deployment: found.baseline for found in question.comparisons}
        for label, groups in (
            ("Differs in", question.factors),
            ("Also", question.differences),
        ):
            for deployment, items in groups.items():
                sides = f"{deployment} from {baselines.get(deployment, 'the baseline')}"
                text = words.plain(f"{sides}: {'; '.join(items)}")
                if items and (label, text) not in seen:
                    seen.add((label, text))
                    yield label, text
    if not any(any(question.differences.values()) for question in analysis.answers):
        yield "Also", "nothing else was found to differ"


def _grid(lines: list[tuple[str, str]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    previous = None
    for label, text in lines:
        grid.add_row("" if label == previous else label, Text(text))
        previous = label or previous
    return grid


def _block(statuses: list[Status | None]) -> tuple[str, str]:
    """One sign for one block of one deployment."""
    if all(status is None for status in statuses):
        return "·", "dim"
    if any(status not in (None, Status.VALID) for status in statuses):
        return "!", "yellow"
    return ("▪", "") if None in statuses else ("■", "green")
