"""What the terminal shows: the answer, the plan, and how far a study has come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from dunnage.analysis.intervals import MINIMUM_BLOCKS
from dunnage.findings.analyse import reference
from dunnage.findings.checks.sentences import trouble
from dunnage.findings.differences import answer, sentences
from dunnage.findings.parity.factors import factors
from dunnage.findings.study import sentences as about
from dunnage.model.analysis import Analysis, Comparison
from dunnage.model.check import Status
from dunnage.model.choices import ClientPlace, Data
from dunnage.model.deployment import Deployment
from dunnage.model.plan import Plan
from dunnage.model.study import Study
from dunnage.report.terminal.notes import Line, grid, labelled, left_out, notes
from dunnage.report.terminal.rungs import rungs_tables
from dunnage.study.balance import balance
from dunnage.study.expected_time import calibration_seconds, loss_seconds, snapshot_seconds
from dunnage.units import duration, percent
from dunnage.wording import damage, numbers, parity, terms

WIDE = 110
"""Columns from which a verdict and its difference fit on one line."""
ROOMY = 96
"""Columns from which what a deployment is stands in a column of its own."""
ASIDE = "*"
"""Marks what decides no question."""
_METRICS_A_TABLE = 3
_SHOWN = frozenset({"platform", "network", "endpoint"})
"""Factors that the table of variants has columns for."""
_BOX = box.SIMPLE_HEAD


def answer_table(
    analysis: Analysis,
    study: Study,
    plan: Plan,
    failures: Sequence[str] = (),
    *,
    scale: float | None = None,
) -> RenderableType:
    """What went wrong, the answer in sentences and as a table, and what lets one trust it.

    `failures` are the journal's reasons why stays or runs did not happen, `scale` the share to
    which the study was made smaller.
    """
    parts: list[RenderableType] = list(heading(analysis, study, failures, scale))
    why = sentences.nothing_compared(analysis, study, plan)
    parts.append(nothing(why, analysis) if why else _answer(analysis, study, plan))
    parts += rungs_tables(analysis)
    parts.append(notes(analysis, study, failures, compared=not why, scale=scale))
    return Group(*parts)


def heading(
    analysis: Analysis, study: Study, failures: Sequence[str], scale: float | None
) -> Iterator[Text]:
    """The study's name, and what must be known before any of its numbers."""
    yield Text(terms.plain(analysis.study), style="bold")
    warnings = (
        about.invented(analysis),
        about.emulated(analysis),
        about.scaled(scale),
        about.shared(study),
        damage.brief(analysis.damages),
    )
    for warning in filter(None, warnings):
        yield Text(warning, style="yellow")
    if found := trouble(analysis, failures):
        yield Text.assemble(
            (found.headline, "bold red" if found.grave else "bold yellow"),
            *(f"\n  {terms.plain(cause)}" for cause in found.causes),
        )


def plan_table(plan: Plan, study: Study, seconds: float) -> RenderableType:
    """Blocks and stays in their order, the time they will take, and what is left out."""
    runs = sum(1 for _ in plan.runs())
    stays = sum(len(block.stays) for block in plan.blocks)
    heading = Text.assemble(
        (terms.plain(plan.study), "bold"),
        f": {numbers.count(len(plan.blocks), 'block')}, {numbers.count(stays, 'stay')}, "
        f"{numbers.count(runs, 'run')}, about {duration(seconds)}",
    )
    order = Table("block", "deployments in the order of their stays", "runs", box=_BOX)
    order.columns[0].justify = order.columns[2].justify = "right"
    for block in plan.blocks:
        names = ", ".join(terms.plain(stay.deployment) for stay in block.stays)
        order.add_row(str(block.index), Text(names), str(sum(len(s.runs) for s in block.stays)))
    lines = [
        *labelled(("Differs in", _differences(plan, study))),
        *_beside(plan, study),
        *labelled(("Skipped", left_out(plan.skipped))),
    ]
    if len(plan.deployments) > 1:
        lines.append(("Balance", _balance(plan, study)))
    if study.questions and len(plan.blocks) < MINIMUM_BLOCKS:
        lines.append(("Few blocks", sentences.too_few(len(plan.blocks))))
    return Group(heading, _Variants(plan), order, *([grid(lines)] if lines else []))


def _differences(plan: Plan, study: Study) -> Iterator[str]:
    """What the table of variants does not show of the factors in which they differ."""
    base = plan.deployment(reference(study, plan))
    for deployment in plan.deployments:
        found = [each for each in factors(base, deployment) if each.name not in _SHOWN]
        if found:
            differing = "; ".join(map(parity.factor, found))
            yield f"{terms.plain(deployment.name)} from {terms.plain(base.name)}: {differing}"


def _beside(plan: Plan, study: Study) -> Iterator[Line]:
    """What happens before block 1, after the last, and before stays start."""
    if plan.calibration is not None:
        runs = plan.calibration.stay.runs
        yield (
            "Calibration",
            f"before block 1 a stay of {terms.plain(plan.calibration.deployment.name)} with "
            f"{numbers.count(len(runs), 'run')} at {runs[0].level.label}, about "
            f"{duration(calibration_seconds(plan, study))}: it finds the capacity that rates are "
            "shares of",
        )
    for deployment in plan.losing():
        yield (
            "Known loss",
            f"before block 1 Dunnage finds how long {terms.plain(deployment.name)} must be stopped "
            f"to lose {percent(deployment.loss)} of throughput, and after the last block it "
            f"measures the loss again, about {duration(loss_seconds(plan, study))} in all",
        )
    if study.data is Data.RESTORE:
        yield (
            "Data",
            f"{study.records:,} records are loaded once for each database, in a separate stay, "
            f"about {duration(snapshot_seconds(plan, study))} in all; measured stays start with a "
            "copy of the files",
        )


def _balance(plan: Plan, study: Study) -> str:
    """How often each deployment has each place, and the number of blocks that makes it even."""
    found = balance(plan.blocks, [deployment.name for deployment in plan.deployments])
    if study.load.turns is None:
        text = (
            f"a deployment has each place in a block {numbers.times(*found.place)}, and comes "
            f"right after each other one {numbers.times(*found.after)}"
        )
    else:
        text = f"a deployment is on each group of hosts {numbers.times(*found.place)}"
    return text if found.whole else f"{text}; `blocks: {found.following}` would be even"


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
            Text(terms.plain(name)),
            f"{len(done)}/{len(runs)}",
            str(sum(1 for status in done if status is not Status.VALID)),
            Text.assemble(*(_block(block) for block in blocks.values())),
        )
    total = sum(1 for _ in plan.runs())
    heading = Text.assemble(
        (terms.plain(plan.study), "bold"),
        f": {len(statuses)} of {numbers.count(total, 'run')} done",
    )
    legend = "■ done and valid   ! done, not all valid   ▪ in part   · nothing yet"
    return Group(heading, table, Text(legend, style="dim"))


class _Variants:
    """The deployments; a narrow terminal has what each is below its name, so no name breaks."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        roomy = options.max_width >= ROOMY
        titles = ("what it is", "platform", "network", "endpoint") if roomy else ("what it is",)
        table = Table(box=_BOX)
        for title in ("deployment", *titles):
            table.add_column(title, overflow="fold")
        for deployment in self._plan.deployments:
            facts = _facts(deployment)
            words, *chosen = facts
            lines = [words] * (words != chosen[0]) + [", ".join(chosen)]
            cells = facts if roomy else ("\n".join(lines),)
            name = terms.plain(deployment.name)
            if deployment.twin_of is not None:
                name += f" (twin of {terms.plain(deployment.twin_of)})"
            table.add_row(Text(name, style="bold"), *(Text(cell) for cell in cells))
        yield table


def _facts(deployment: Deployment) -> tuple[str, ...]:
    """What it is in words, then as a study file has it."""
    parts = deployment.parts
    words = f"{parts.platform} {parts.network}".strip() or deployment.platform
    if deployment.client is ClientPlace.CONTAINER:
        words += ", the client in a container"
    facts = (words, deployment.platform, deployment.network, deployment.endpoint)
    return tuple(terms.plain(text) for text in facts)


class _Answer:
    """The table itself; it stacks what a narrow terminal has no room for side by side."""

    def __init__(self, analysis: Analysis, metrics: tuple[str, ...]) -> None:
        self._analysis = analysis
        self._metrics = metrics
        self._reasons = answer.absent_by(analysis)

    def _absent(self, deployment: str, condition: answer.Condition, metric: str) -> Text:
        """What stands in the place of a number: why there is none."""
        place = (deployment, condition.workload, condition.level, metric)
        return Text(terms.plain(self._reasons.get(place, "-")), style="dim")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        joint = "  " if options.max_width >= WIDE else "\n"
        table = Table(box=_BOX, pad_edge=False, show_edge=False)
        table.add_column("Workload, level", overflow="fold")
        for metric in self._metrics:
            table.add_column(Text(terms.title(metric)), overflow="fold")
        every = answer.conditions(self._analysis)
        conditions = [
            condition
            for condition in every
            if any(metric in row for row in condition.rows.values() for metric in self._metrics)
        ]
        for number, condition in enumerate(conditions):
            label = answer.heading(condition, every).removeprefix("Workload ")
            table.add_row(Text(label.replace(", against", ",\nagainst"), style="bold"))
            table.add_row(
                _indented(condition.baseline),
                *(
                    Text(numbers.value(metric, condition.values[metric].value), style="dim")
                    if metric in condition.values
                    else self._absent(condition.baseline, condition, metric)
                    for metric in self._metrics
                ),
            )
            for name, row in condition.rows.items():
                cells = (
                    self._absent(name, condition, metric)
                    if (name, condition.workload, condition.level, metric) in self._reasons
                    else _cell(row.get(metric), joint)
                    for metric in self._metrics
                )
                table.add_row(_indented(name), *cells)
            table.add_row(
                Text("  twins differ by", style="dim"),
                *(_twins(condition.twins.get(metric)) for metric in self._metrics),
                end_section=number + 1 < len(conditions),
            )
        yield table
        yield Text()


def _answer(analysis: Analysis, study: Study, plan: Plan) -> RenderableType:
    """Each question with a sentence for each verdict, then the numbers of all comparisons."""
    metrics = answer.metrics(analysis)
    tables = [
        _Answer(analysis, metrics[start : start + _METRICS_A_TABLE])
        for start in range(0, len(metrics), _METRICS_A_TABLE)
    ]
    parts: list[RenderableType] = []
    if analysis.answers and (lead := sentences.lead(analysis.answers[0], study, plan)):
        parts += [Text(lead, style="bold"), Text()]
    return Group(*parts, _questions(analysis, study, plan), Text(), *tables)


def _questions(analysis: Analysis, study: Study, plan: Plan) -> RenderableType:
    reached = answer.reached_by(analysis)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for number, found in enumerate(analysis.answers):
        question = study.questions.get(found.question)
        asks = about.asks(question, plan) or found.question
        if question is not None:
            asks += f" Tolerance {numbers.tolerance(question.tolerance)}."
        if number:
            table.add_row()
        table.add_row(Text(terms.plain(found.question), style="dim"), Text(asks, style="dim"))
        for claim in sentences.claims(found, study, plan, reached):
            said = claim.sentence
            if claim.deployment not in said:
                said += f" ({claim.deployment})"
            table.add_row(
                Text(terms.mark(claim.verdict), style=f"bold {terms.MARKS[claim.verdict][1]}"),
                Text(said),
            )
    return table


def nothing(why: str, analysis: Analysis) -> RenderableType:
    """Why there is no comparison, and what the deployments reached all the same."""
    reached = answer.reached(analysis)
    parts: list[RenderableType] = [Text(why, style="bold"), Text()]
    if reached.columns:
        table = Table(box=_BOX, pad_edge=False, show_edge=False)
        for title in ("Measured", *reached.columns):
            table.add_column(Text(title), overflow="fold")
        for name, cells in reached.rows:
            table.add_row(Text(name), *map(Text, cells))
        parts += [table, Text()]
    return Group(*parts)


def _twins(found: Comparison | None) -> Text:
    if found is None or not found.difference.n:
        return Text("-", style="dim")
    seen = found.difference
    return Text(f"{numbers.seen(seen)}\n{numbers.interval(seen)}", style="dim")


def _indented(name: str) -> Text:
    return Text("  " + terms.plain(name))


def _cell(comparison: Comparison | None, joint: str) -> Text:
    if comparison is None:
        return Text("-", style="dim")
    estimate = comparison.difference
    star = "" if comparison.primary else ASIDE
    return Text.assemble(
        (terms.mark(comparison.verdict) + star, f"bold {terms.MARKS[comparison.verdict][1]}"),
        joint,
        (numbers.seen(estimate), "bold"),
        "\n",
        (numbers.interval(estimate), ""),
    )


def _block(statuses: list[Status | None]) -> tuple[str, str]:
    if all(status is None for status in statuses):
        return "·", "dim"
    if any(status not in (None, Status.VALID) for status in statuses):
        return "!", "yellow"
    return ("▪", "") if None in statuses else ("■", "green")
