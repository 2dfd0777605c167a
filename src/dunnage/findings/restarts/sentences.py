"""What must be said where programs of an orchestrator were restarted, as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dunnage.analysis.groups import grouped
from dunnage.model.analysis import Restarted
from dunnage.wording import alike, numbers, terms


def restarted(stays: Iterable[Restarted]) -> tuple[str, ...]:
    """One sentence for each deployment with such stays; none where nothing was restarted."""
    by_deployment = grouped(stays, lambda each: each.deployment)
    return tuple(_sentence(name, found) for name, found in by_deployment.items())


def _sentence(deployment: str, found: Sequence[Restarted]) -> str:
    programs = {f"{each.program} on {each.host}" for stay in found for each in stay.restarts}
    return (
        f"{terms.plain(deployment)}: {alike.some(programs)} "
        f"{'was' if len(programs) == 1 else 'were'} killed and restarted during "
        f"{numbers.count(len(found), 'stay')} "
        f"({alike.some(terms.plain(stay.stay) for stay in found)}); this alone makes no run invalid"
    )
