"""What the kernel held back from the members, the daemons beside them, and what watching took."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dunnage.analysis.groups import grouped
from dunnage.drawing.figure import Tabled
from dunnage.model.analysis import Analysis
from dunnage.model.conditions import Conditions
from dunnage.units import duration, percent, size
from dunnage.wording import terms

_FIELDS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "throttled": ("Throttled, of the time", percent),
    "swap": ("Swapped", size),
    "resident": ("Largest member", size),
    "cache": ("Its page cache", size),
    "charged": ("Of its memory limit", percent),
    "daemons_share": ("Daemons, of processor time", percent),
    "sampler": ("Sampler, CPU s", lambda seconds: f"{seconds:.2f}"),
}
"""What is shown, under which title, and how it is written."""


@dataclass(frozen=True)
class Held(Tabled):
    """The worst of all runs of each deployment, under any condition."""

    absent: tuple[str, ...]
    """What is not known, each a sentence."""


def held(analysis: Analysis) -> Held | None:
    """One row for each deployment; None where nothing was read back."""
    known = [
        each
        for each in analysis.conditions
        if any(getattr(each, field) is not None for field in _FIELDS)
    ]
    by_deployment = grouped(known, lambda each: terms.plain(each.deployment))
    if not by_deployment:
        return None
    return Held(
        columns=tuple(title for title, _ in _FIELDS.values()),
        rows=tuple((name, _cells(every)) for name, every in by_deployment.items()),
        absent=terms.together(
            (terms.plain(conditions.deployment), f"{name.replace('_', ' ')}: {terms.plain(reason)}")
            for conditions in analysis.conditions
            for name, reason in conditions.absent.items()
        ),
    )


def watching(analysis: Analysis) -> str:
    """What watching took of the processors at most, as a sentence; empty where it is not known."""
    known = [each.sampler for each in analysis.conditions if each.sampler is not None]
    if not known:
        return ""
    return f"watching all hosts took at most {duration(max(known))} of CPU time in a run"


def _cells(every: Sequence[Conditions]) -> tuple[str, ...]:
    cells = {}
    for field, (_, said) in _FIELDS.items():
        known = [value for one in every if (value := getattr(one, field)) is not None]
        cells[field] = said(max(known)) if known else "-"
    if not any(one.memory_limit is not None for one in every):
        cells["charged"] = "no limit"
    return tuple(cells.values())
