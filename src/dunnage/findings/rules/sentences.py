"""What rules that are left mean for an answer, as sentences."""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.model.remarks import RulesLeft
from dunnage.wording import numbers, terms


def rules_stay(left: Iterable[RulesLeft]) -> tuple[str, ...]:
    """One sentence for each deployment that stands on nothing, and passes rules of others."""
    return tuple(map(_sentence, left))


def _sentence(found: RulesLeft) -> str:
    span = "" if found.least == found.most else f"{found.least} to "
    makers = terms.listed([terms.plain(each) for each in found.made_by])
    return (
        f"{terms.plain(found.deployment)}: {span}{numbers.count(found.most, 'rule')} for packets "
        f"are in force on each of its hosts, though {makers}, for which they were made, "
        f"{'is' if len(found.made_by) == 1 else 'are'} frozen. What they cost it is in no "
        "difference from it"
    )
