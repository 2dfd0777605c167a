"""Whether a study is getting anywhere, said after the first blocks and not after the last.

A study does not stop because its runs are invalid. What disturbs it may end, and blocks can be
added to a result; the user is told, and decides. It stops by itself where nothing happens at all:
deployments that failed in several blocks, in two stays of each, will fail in the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from dunnage.analysis.checks import against
from dunnage.analysis.groups import grouped
from dunnage.findings.checks.reasons import causes
from dunnage.findings.checks.sentences import spoilt
from dunnage.model.check import CheckResult, Status
from dunnage.model.plan import RunPlan
from dunnage.model.record import Record
from dunnage.model.study import QuestionSpec
from dunnage.wording import alike
from dunnage.wording.numbers import count
from dunnage.wording.terms import listed

IN_A_ROW = 2
"""Blocks in which nothing of a deployment can be used, until that is said, where others' can."""
BARREN = 3
"""Blocks in a row from which no comparison has a pair of runs, until the study stops."""


@dataclass
class Outlook:
    """What became of the runs of this execution so far."""

    valid: set[str] = field(default_factory=set)
    """Runs that can be used."""
    against: dict[str, tuple[CheckResult, ...]] = field(default_factory=dict)
    """Finished run that cannot → the gates that it did not pass."""
    rows: dict[str, int] = field(default_factory=dict)
    """Deployment → the blocks in a row in which none of its runs can be used."""
    told: set[str] = field(default_factory=set)
    """Deployments of which that was said."""
    barren: int = 0

    def finished(self, record: Record) -> None:
        """A run has its record."""
        if record.status is Status.VALID:
            self.valid.add(record.run)
        else:
            self.against[record.run] = against(record.checks)

    @property
    def hopeless(self) -> bool:
        """Whether the next block would be like the last ones."""
        return self.barren >= BARREN

    def after(
        self,
        due: Sequence[RunPlan],
        done: AbstractSet[str],
        failures: Mapping[str, str],
        questions: Mapping[str, QuestionSpec],
    ) -> str:
        """What is to be said when the runs that were due of a block have had their turn, if new.

        `done` are all runs that have a record; `failures` say of deployments why others do not.
        """
        self.barren = 0 if _compared(due, done, questions) else self.barren + 1
        by_deployment = grouped(due, lambda run: run.deployment)
        for name, runs in by_deployment.items():
            usable = any(run.id in self.valid for run in runs)
            self.rows[name] = 0 if usable else self.rows.get(name, 0) + 1
        everything = all(self.rows[name] for name in by_deployment)
        least = 1 if everything else IN_A_ROW
        lost = [name for name in by_deployment if self.rows[name] >= least]
        if not set(lost) - self.told:
            return ""
        self.told |= set(lost)
        runs = [run for name in lost for run in by_deployment[name]]
        names = listed([f"`{name}`" for name in lost])
        whose = "" if everything else f" of {names}"
        before = "" if everything else ", as in the block before"
        counted = f"({count(len(runs), 'run')}){before}"
        why = " ".join(self._why(runs, failures))
        return f"in block {due[0].block} no run{whose} can be used {counted}. {why}"

    def _why(self, runs: Sequence[RunPlan], failures: Mapping[str, str]) -> list[str]:
        """A sentence for each cause, that of most runs first."""
        known = [(run.deployment, self.against[run.id]) for run in runs if run.id in self.against]
        found = [*spoilt(causes(known))]
        if missing := [run.deployment for run in runs if run.id not in self.against]:
            told = alike.grouped(failures[name] for name in missing if name in failures)
            why = told[0][1].rstrip(".") if told else "a stay failed"
            found.append((len(missing), f"{count(len(missing), 'run')} did not happen: {why}."))
        return [text for _, text in sorted(found, key=lambda cause: -cause[0])]


def _compared(
    due: Sequence[RunPlan], done: AbstractSet[str], questions: Mapping[str, QuestionSpec]
) -> bool:
    """Whether a comparison that is asked for has both its sides in this block.

    Where a study, or the part of it that is measured, asks for none: whether there is any run.
    """
    planned = {run.deployment for run in due}
    there = {run.deployment for run in due if run.id in done}
    asked = [
        {question.baseline, name} for question in questions.values() for name in question.against
    ]
    asked = [pair for pair in asked if pair <= planned]
    return any(pair <= there for pair in asked) if asked else bool(there)
