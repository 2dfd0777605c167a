"""What must be said where programs of an orchestrator were restarted, as sentences."""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.analysis.groups import grouped
from dunnage.model.analysis import Restarted
from dunnage.wording import alike, numbers, terms


def restarted(stays: Iterable[Restarted]) -> tuple[str, ...]:
    """One sentence for each deployment with such stays; none where nothing was restarted."""
    return tuple(
        f"{terms.plain(name)}: {alike.some(programs)} {'was' if len(programs) == 1 else 'were'} "
        f"killed and restarted during {numbers.count(len(found), 'stay')} "
        f"({alike.some(terms.plain(each.stay) for each in found)}), whose runs count"
        for name, found in grouped(stays, lambda each: each.deployment).items()
        if (programs := {f"{r.program} on {r.host}" for each in found for r in each.restarts})
    )
