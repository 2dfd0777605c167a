"""What the kernel held back from the members, the daemons beside them, and what watching took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dunnage.model.analysis import Analysis
from dunnage.model.conditions import Conditions
from dunnage.units import duration, percent, size
from dunnage.wording import terms

TITLES = (
    "Throttled, of the time",
    "Swapped",
    "Largest member",
    "Its page cache",
    "Of its memory limit",
    "Daemons, of processor time",
    "Sampler, CPU s",
)
_FIELDS = ("throttled", "swap", "resident", "cache", "charged", "daemons_share", "sampler")


@dataclass(frozen=True)
class Held:
    """The worst of all runs of each deployment, under any condition."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    absent: tuple[str, ...]
    """What is not known, each a sentence."""


def held(analysis: Analysis) -> Held | None:
    """One row for each deployment; None where nothing was read back."""
    by_deployment: dict[str, list[Conditions]] = {}
    for conditions in analysis.conditions:
        if any(getattr(conditions, field) is not None for field in _FIELDS):
            by_deployment.setdefault(terms.plain(conditions.deployment), []).append(conditions)
    if not by_deployment:
        return None
    return Held(
        titles=TITLES,
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
    worst = {
        field: max(
            (value for one in every if (value := getattr(one, field)) is not None), default=None
        )
        for field in _FIELDS
    }
    limited = any(one.memory_limit is not None for one in every)
    return (
        _share(worst["throttled"]),
        _size(worst["swap"]),
        _size(worst["resident"]),
        _size(worst["cache"]),
        _share(worst["charged"]) if limited else "no limit",
        _share(worst["daemons_share"]),
        _seconds(worst["sampler"]),
    )


def _share(share: float | None) -> str:
    return "-" if share is None else percent(share)


def _size(count: float | None) -> str:
    return "-" if count is None else size(count)


def _seconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.2f}"
