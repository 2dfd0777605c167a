"""What stands below the terminal's answer: everything that must be known to trust it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table
from rich.text import Text

from dunnage.analysis.groups import grouped
from dunnage.findings.checks import reasons
from dunnage.findings.checks.sentences import managed, moving, runs_counted
from dunnage.findings.conditions.members import watching
from dunnage.findings.control.sentences import control_differs, control_holds, neighbours_cost
from dunnage.findings.differences import sentences
from dunnage.findings.losses.sentences import losses
from dunnage.findings.networks.sentences import networks_that_changed
from dunnage.findings.restarts.sentences import stays_with_restarts
from dunnage.findings.rules.sentences import rules_stay
from dunnage.findings.saturation.sentences import capacities, over_capacity
from dunnage.findings.snapshots.sentences import restored
from dunnage.findings.study import sentences as about
from dunnage.findings.variance.sentences import next_steps
from dunnage.model.analysis import Analysis
from dunnage.model.parity import Cause
from dunnage.model.plan import Skipped
from dunnage.model.study import Study
from dunnage.wording import absent, alike, numbers, parity, terms

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


def labelled(*lines: tuple[str, Iterable[str]]) -> Iterator[Line]:
    """Each text that is not empty, with its label."""
    return ((label, text) for label, texts in lines for text in texts if text)


def left_out(skipped: Iterable[Skipped]) -> tuple[str, ...]:
    """Deployments that cannot run here, each with the reason."""
    return tuple(f"{each.deployment}: {each.reason}" for each in skipped)


def notes(
    analysis: Analysis,
    study: Study,
    failures: Sequence[str],
    *,
    compared: bool,
    scale: float | None = None,
) -> Table:
    """How to read the numbers, what became of the runs, what else differed, what is open."""
    lines = [("Reading", sentences.reading(analysis))] if compared else []
    lines += [*_trust(analysis, failures), *_causes(analysis)]
    lines += labelled(("Not known", about.own_secrets(study)))
    if compared:
        lines += advice(analysis, study, scale)
    return grid(lines)


def _trust(analysis: Analysis, failures: Sequence[str]) -> Iterator[Line]:
    yield "Runs", runs_counted(analysis)
    why = reasons.why_not_valid(analysis)
    for reason in why[:_REASONS_SHOWN]:
        yield "", f"{reason.runs} × {reason.text} ({alike.some(reason.deployments)})"
    if len(why) > _REASONS_SHOWN:
        yield "", f"and {len(why) - _REASONS_SHOWN} more reasons: see the report"
    for times, failure in alike.grouped(failures)[:_REASONS_SHOWN]:
        yield "Failed", f"{times} × {failure}"
    compared = [found for found in analysis.answers if found.comparisons]
    for blocks, found in grouped(compared, lambda asked: asked.complete_blocks).items():
        names = ", ".join(asked.question for asked in found)
        yield "Blocks", f"{numbers.count(blocks, 'complete block')} for {names}"
    yield from labelled(
        ("Control", (control_differs(analysis), control_holds(analysis))),
        ("Neighbours", (neighbours_cost(analysis),)),
        ("Over capacity", over_capacity(analysis)),
        ("Capacity", capacities(analysis)),
        ("Known loss", losses(analysis)),
        ("Data", restored(analysis)),
        ("Restarts", stays_with_restarts(analysis.restarted)),
        ("Rules", rules_stay(analysis.rules_left)),
        ("Network", networks_that_changed(analysis.networks_changed)),
        ("Moves", moving(analysis)),
        ("Manager", managed(analysis)),
        ("Left out", (*sentences.thinned(analysis), sentences.left_out_of_answers(analysis))),
        ("Sampler", (watching(analysis),)),
        ("Not known", absent.metrics(analysis.absent_metrics)),
        ("Skipped", left_out(analysis.skipped)),
    )


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
                if item.cause is Cause.UNSEEN:
                    continue
                text = parity.sentence(item) + parity.origin(item)
                key = ("Also", baselines.get(deployment, "the baseline"), text)
                lines.setdefault(key, []).append(deployment)
    for (label, baseline, text), deployments in sorted(
        lines.items(), key=lambda item: item[0][0] == "Also"
    ):
        yield label, f"{terms.listed(list(dict.fromkeys(deployments)))} from {baseline}: {text}"
    if unseen := parity.not_compared(analysis.parity.differences):
        yield "Parity", unseen
    compared = any(question.comparisons for question in analysis.answers)
    if compared and not unseen and not any(label == "Also" for label, _, _ in lines):
        yield "Also", "no other difference was found"


def advice(analysis: Analysis, study: Study, scale: float | None) -> Iterator[Line]:
    """What to do next."""
    return labelled(("Advice", next_steps(analysis, study, scale)))
