"""How many runs count, what was measured besides, and how steady they were, as sentences."""

from __future__ import annotations

from statistics import median

from dunnage.model.analysis import Analysis
from dunnage.wording import numbers


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
        f"half of them by at most {numbers.magnitudes([median(map(abs, seen))])}. A run that moved "
        "by more than chance explains, by this study's runs under the same load, is not steady and "
        "does not count."
    )
