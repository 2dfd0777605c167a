"""How many runs count, what went wrong with the others, and how steady runs were, as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from dunnage.findings.checks import reasons
from dunnage.findings.checks.reasons import Reason
from dunnage.model.analysis import Analysis
from dunnage.units import percent
from dunnage.wording import alike, numbers, terms

_ENOUGH_VALID = 0.9
"""Share of the planned runs that must be valid for an answer to be trusted."""
_GRAVE = 0.5
_CAUSES_SHOWN = 3


@dataclass(frozen=True)
class Trouble:
    """So many planned runs do not count that it comes first."""

    headline: str
    causes: tuple[str, ...]
    grave: bool
    """Fewer than half of the planned runs count."""


def enough_valid(analysis: Analysis) -> bool:
    """Whether so many of the planned runs are valid that an answer can be trusted."""
    return analysis.valid >= _ENOUGH_VALID * analysis.planned


def trouble(analysis: Analysis, failures: Sequence[str] = ()) -> Trouble | None:
    """Say what went wrong, the cause of most runs first; None where nine in ten runs count.

    `failures` are the journal's reasons why stays or runs did not happen.
    """
    if enough_valid(analysis):
        return None
    some = f"Only {analysis.valid} of" if analysis.valid else "None of the"
    counted = f"{some} {numbers.count(analysis.planned, 'planned run')} can be used"
    found = sorted(
        (*spoilt(reasons.first_causes(analysis)), *_missing(analysis, failures)),
        key=lambda cause: -cause[0],
    )
    shown = [text for _, text in found[:_CAUSES_SHOWN]]
    rest = sum(runs for runs, _ in found[_CAUSES_SHOWN:])
    if rest:
        shown.append(f"{numbers.count(rest, 'run')}: other reasons, listed under Checks.")
    return Trouble(f"{counted}.", tuple(shown), analysis.valid < _GRAVE * analysis.planned)


def spoilt(causes: Mapping[str, Sequence[Reason]]) -> Iterator[tuple[int, str]]:
    """Of each cause: how many runs it spoilt, and that as a sentence."""
    for group in causes.values():
        runs, first = sum(reason.runs for reason in group), group[0]
        seen = f"{first.seen}; wanted: {first.allowed}" if first.allowed else first.seen
        more = f"; and {numbers.count(len(group) - 1, 'reason')} like it" if group[1:] else ""
        yield runs, f"{numbers.count(runs, 'run')}: {first.cause} ({seen}{more})."


def _missing(analysis: Analysis, failures: Sequence[str]) -> Iterator[tuple[int, str]]:
    if analysis.missing:
        why = [text.rstrip(".") for _, text in alike.grouped(failures)]
        told = why[0] if why else "the study was interrupted or is not over yet"
        yield analysis.missing, f"{numbers.count(analysis.missing, 'run')} did not happen: {told}."


def runs_counted(analysis: Analysis) -> str:
    """How many of the planned runs count, and what became of the others."""
    return (
        f"{analysis.valid} of {analysis.planned} valid, {analysis.invalid} invalid, "
        f"{analysis.unknown} unknown, {analysis.missing} missing"
    ) + besides_the_plan(analysis)


def besides_the_plan(analysis: Analysis) -> str:
    """What was measured besides the plan: again after a disturbance, and spare blocks."""
    text = ""
    if analysis.disturbed:
        gates = ", ".join(f"{gate} {number} ×" for gate, number in analysis.disturbed.items())
        text += f"; disturbed attempts were measured again ({gates})"
    spares = sum(look.added for look in analysis.looks if look.spare)
    if spares:
        text += f"; {numbers.count(spares, 'spare block')} for incomplete ones"
    return text


def trend(analysis: Analysis) -> str:
    """What valid runs moved by, as a sentence with the bound; empty where no run tells it."""
    seen = [run.trend for run in analysis.runs if run.status == "valid" and run.trend is not None]
    if not seen:
        return ""
    return (
        "From the first to the last third of the measured window, the throughput of valid runs "
        f"moved by {numbers.difference(min(seen))} to {numbers.difference(max(seen))}, that of "
        f"half of them by at most {numbers.most(median(map(abs, seen)))}. A run that moved "
        "by more than chance explains, by this study's runs under the same load, is not steady and "
        "does not count, unless its deployment does so more often than the others."
    )


def moving(analysis: Analysis) -> tuple[str, ...]:
    """One sentence for each deployment whose throughput moves by itself."""
    return tuple(
        f"{terms.plain(each.deployment)}: throughput moved by more than chance explains within "
        f"a run in {each.moved} of {numbers.count(each.blocks, 'block')}, and in {each.elsewhere} "
        f"of {each.others} blocks of deployments that do not do so by themselves. It is a part of "
        "what this deployment costs, so these runs count"
        for each in analysis.moving
    )


def managed(analysis: Analysis) -> tuple[str, ...]:
    """One sentence for each deployment whose orchestrator's manager is busy by itself."""
    return tuple(
        f"{terms.plain(each.deployment)}: the orchestrator's manager used more of the clients' "
        f"cores than a run may have{_most(each.most)} in {each.over} of "
        f"{numbers.count(each.blocks, 'block')}, and in {each.elsewhere} of {each.others} blocks "
        "of the other deployments. It is a part of what this deployment costs where both share a "
        "machine, so these runs count"
        for each in analysis.managed
    )


def _most(processors: float | None) -> str:
    return "" if processors is None else f", up to {percent(processors)} of one processor,"
