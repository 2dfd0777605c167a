"""What the user sees while a study runs: what runs now, what is next, the time left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
)
from rich.table import Column
from rich.text import Text

from dunnage.analysis.checks import against
from dunnage.analysis.groups import grouped
from dunnage.model.check import Status
from dunnage.model.plan import BEFORE, RunPlan, StayPlan
from dunnage.model.record import Record
from dunnage.secrets.texts import masked
from dunnage.units import duration
from dunnage.wording import checks
from dunnage.wording.numbers import count
from dunnage.wording.terms import plain

WIDE = 90
"""Columns from which there is room for a bar and for what is next. What is counted is never cut."""


class Watcher(Protocol):
    """Whoever wants to know how a study is getting on."""

    def stay(self, plan: StayPlan) -> None:
        """A deployment is being brought up."""

    def run(self, plan: RunPlan, upcoming: RunPlan | None) -> None:
        """A run begins; `upcoming` is the one after it."""

    def finished(self, records: Sequence[Record]) -> None:
        """Runs that were measured together have their records."""

    def more(self, runs: int, why: str) -> None:
        """So many runs are to be done besides."""

    def say(self, message: str) -> None:
        """Something the user should know."""


class TimeLeft:
    """Foretells the time left: the planned seconds of a run, scaled by how long runs really took.

    The estimate of the plan is used until a run has finished; after that, elapsed time per
    finished run counts more with every run.
    """

    def __init__(self, planned_seconds: float, runs: int) -> None:
        self._planned = planned_seconds
        self._runs = max(runs, 1)

    def more(self, runs: int) -> None:
        """Reckon with further runs, each as long as the others."""
        self._planned *= (self._runs + runs) / self._runs
        self._runs += runs

    def seconds(self, elapsed: float, finished: int) -> float:
        """Seconds left after `elapsed` seconds and `finished` runs."""
        planned = self._planned / self._runs
        seen = elapsed / finished if finished else planned
        weight = finished / (finished + 2)
        return (self._runs - finished) * (weight * seen + (1 - weight) * planned)


class Display:
    """Progress on standard error: a live bar on a terminal that can show one, a line per stay
    elsewhere."""

    def __init__(self, console: Console, runs: int, done: int, seconds: float) -> None:
        self._console = console
        self._live = console.is_terminal and not console.is_dumb_terminal
        self._left = TimeLeft(seconds, runs - done)
        self._done, self._runs, self._at_start = done, runs, done
        whole, rest = Column(no_wrap=True), Column(no_wrap=True, overflow="ellipsis", ratio=1)
        columns: list[ProgressColumn] = [
            SpinnerColumn(table_column=whole),
            MofNCompleteColumn(table_column=whole.copy()),
            TextColumn("{task.fields[left]} left", table_column=whole.copy()),
            TextColumn("[bold]{task.description}", table_column=rest),
        ]
        if console.width >= WIDE:
            columns.insert(2, BarColumn(bar_width=24, table_column=whole.copy()))
            upcoming = "[dim]{task.fields[upcoming]}"
            columns.append(TextColumn(upcoming, table_column=rest.copy()))
        self._bar = Progress(
            *columns,
            expand=True,
            console=console,
            transient=True,
            disable=not self._live,
        )
        self._task = self._bar.add_task(
            "preparing", total=runs, completed=done, left=duration(seconds), upcoming=""
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def stay(self, plan: StayPlan) -> None:
        """Show which deployment is being brought up."""
        name = f"{_block(plan.block)} · {plan.deployment}"
        self._bar.update(self._task, description=f"{name} · starting", upcoming="")
        if not self._live:
            done, left = self._done, self._left_text()
            self._console.print(f"{done}/{self._runs} runs, {left} left: {name}", highlight=False)

    def run(self, plan: RunPlan, upcoming: RunPlan | None) -> None:
        """Show what runs now and what is next."""
        description = (
            f"{_block(plan.block)} · {plan.deployment} · {plan.workload.name} · {plan.level.label}"
        )
        after = f"next: {_short(plan, upcoming)}" if upcoming else "the last one"
        self._bar.update(
            self._task, description=description, upcoming=after, left=self._left_text()
        )

    def finished(self, records: Sequence[Record]) -> None:
        """Count runs; say at once which are not valid, and why.

        What spoilt several that were measured together is said once.
        """
        self._done += len(records)
        self._bar.update(self._task, completed=self._done, left=self._left_text())
        bad = [record for record in records if record.status is not Status.VALID]
        for (status, why), alike in grouped(bad, lambda each: (each.status, _why(each))).items():
            names = ", ".join(f"`{record.run}`" for record in alike)
            what = f"run {names} is" if len(alike) == 1 else f"runs {names} are"
            self.say(f"{what} {status}: {why}")

    def more(self, runs: int, why: str) -> None:
        """Count runs that were not planned when the study began."""
        self._runs += runs
        self._left.more(runs)
        self._bar.update(self._task, total=self._runs)
        self.say(f"{count(runs, 'run')} more: {why}")

    def say(self, message: str) -> None:
        """Print a line above the bar."""
        self._console.print(Text(plain(masked(message)), style="yellow"), soft_wrap=True)

    def _left_text(self) -> str:
        elapsed = self._bar.tasks[self._task].elapsed or 0.0
        return duration(self._left.seconds(elapsed, self._done - self._at_start))


def _why(record: Record) -> str:
    return "; ".join(
        f"{check.check}: {checks.seen(check)}, should be {checks.allowed(check)}"
        for check in against(record.checks)
    )


def _block(index: int) -> str:
    return "calibration" if index == BEFORE else f"block {index}"


def _short(plan: RunPlan, upcoming: RunPlan) -> str:
    name = f"{upcoming.workload.name} · {upcoming.level.label}"
    return name if upcoming.deployment == plan.deployment else f"{upcoming.deployment} · {name}"
