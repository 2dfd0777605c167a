"""What must be said where blocks were added after somebody had seen the earlier ones."""

from __future__ import annotations

from datetime import UTC, datetime

from dunnage.analysis.looks import coverage, number
from dunnage.model.analysis import Analysis
from dunnage.wording import numbers


def looks(analysis: Analysis) -> str:
    """Why intervals are wider than 95 %, and when somebody looked; empty at the first look."""
    current = number(analysis.looks)
    if current == 1:
        return ""
    seen = "; ".join(
        f"{numbers.count(look.complete, 'block')} of {look.planned} on "
        f"{datetime.fromtimestamp(look.time, tz=UTC):%Y-%m-%d %H:%M} UTC, then "
        f"{look.added} more were added"
        for look in analysis.looks
        if look.complete
    )
    return (
        f"This is look {current} at the study: {seen}. Adding blocks until a difference "
        f"shows would always find one, so the error rate is divided over the looks: intervals of "
        f"verdicts cover {coverage(current) * 100:.6g} %. Those of all looks hold together with at "
        f"least 92.5 %, whatever the reason to stop."
    )


def brief(analysis: Analysis) -> str:
    """The same in half a sentence; empty at the first look."""
    current = number(analysis.looks)
    if current == 1:
        return ""
    return f"look {current}: the error rate is divided over the looks, so intervals are wider"
