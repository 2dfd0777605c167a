"""What rules that are left mean for an answer, as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dunnage.model.remarks import RulesLeft
from dunnage.wording import numbers, terms


def rules_stay(left: Iterable[RulesLeft]) -> tuple[str, ...]:
    """One sentence for all deployments that pass rules of the same frozen substrates."""
    alike: dict[tuple[str, ...], list[RulesLeft]] = {}
    for each in left:
        alike.setdefault(each.made_by, []).append(each)
    return tuple(map(_sentence, alike.values()))


def _sentence(found: Sequence[RulesLeft]) -> str:
    least, most = min(each.least for each in found), max(each.most for each in found)
    span = "" if least == most else f"{least} to "
    families = found[0].made_by
    makers = terms.listed([terms.plain(each) for each in families])
    whose, them = ("its", "it") if len(found) == 1 else ("their", "them")
    return (
        f"{', '.join(terms.plain(each.deployment) for each in found)}: {span}"
        f"{numbers.count(most, 'rule')} for packets are in force on each of {whose} hosts, also "
        f"those made for {makers}, which {'is' if len(families) == 1 else 'are'} frozen. What "
        f"those cost is in no difference from {them}"
    )
