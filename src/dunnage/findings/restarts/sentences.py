"""What must be said where programs of a lab's Kubernetes were restarted, as sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from dunnage.analysis.groups import grouped
from dunnage.model.remarks import Restarted
from dunnage.wording import alike, numbers, terms


def stays_with_restarts(stays: Iterable[Restarted]) -> tuple[str, ...]:
    """One sentence for each deployment with such stays; none where nothing was restarted."""
    by_deployment = grouped(stays, lambda each: each.deployment)
    return tuple(_sentence(name, found) for name, found in by_deployment.items())


def _sentence(deployment: str, stays: Sequence[Restarted]) -> str:
    found = alike.some(each for stay in stays for each in _programs(stay))
    return f"{terms.plain(deployment)}: programs that it stands on were restarted: {found}"


def _programs(stay: Restarted) -> Iterator[str]:
    """Each program that was restarted in a stay, with its host, the stay and how often."""
    for program, times in Counter(f"{r.program} on {r.host}" for r in stay.restarts).items():
        often = f", {numbers.times(times, times)}" if times > 1 else ""
        yield f"{program} (stay {terms.plain(stay.stay)}{often})"
