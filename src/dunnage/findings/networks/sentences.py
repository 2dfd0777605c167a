"""What a network that changed between stays means for an answer, as sentences."""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.model.remarks import NetworkChanged
from dunnage.wording import alike, numbers, terms


def networks_that_changed(changed: Iterable[NetworkChanged]) -> tuple[str, ...]:
    """One sentence for each deployment."""
    return tuple(map(_sentence, changed))


def _sentence(found: NetworkChanged) -> str:
    facts = terms.listed([f"`{terms.plain(each)}`" for each in found.facts])
    stays = alike.some(f"`{terms.plain(each)}`" for each in found.stays)
    return (
        f"{terms.plain(found.deployment)}: {facts} of its network differed from its first stay, "
        f"`{terms.plain(found.first)}`, in {numbers.count(len(found.stays), 'stay')} of "
        f"{found.of_stays}: {stays}. Its numbers are of all these networks together"
    )
