"""Facts of the networks of two stays: which differ, and of which nobody can tell. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from dunnage.findings.parity.mask import Mask
from dunnage.model.agreement import by_host
from dunnage.model.record import StayRecord
from dunnage.model.unknown import is_lacking, is_unknown

_GIVEN = "option."
"""How options of a network begin: one that is absent was not given."""
_NAMED_AFTER = re.compile(r"\bbr-[0-9a-f]{12}\b")
"""A bridge that Docker named after the id of its network, which is another one in every stay."""


@dataclass(frozen=True)
class Networks:
    """How those of two stays compare, by the names of facts."""

    differing: frozenset[str]
    unread: frozenset[str]
    """What one of them lacks or does not know, and what differs in nothing that both know."""


def between(a: StayRecord, b: StayRecord, hosts: Collection[str]) -> Networks:
    """Compare the networks of two stays host by host, modulo addresses and the stays' own names.

    Networks of two drivers have other facts, so what one lacks tells them apart. Of what both hosts
    have no tool to tell, nothing is said: no result of theirs will ever know it. `hosts` are names
    that a value may begin with.
    """
    masks = Mask.of_both(a, b)
    one, other = (_told(stay, mask, hosts) for stay, mask in zip((a, b), masks, strict=True))
    drivers = a.network.get("driver") != b.network.get("driver")
    found: dict[str, bool | None] = {}
    for key in one.keys() | other.keys():
        if key in one and key in other:
            found[key] = _differ(one[key], other[key])
        else:
            (alone,) = (side[key].values() for side in (one, other) if key in side)
            found[key] = _lacks(alone, apart=drivers or key.startswith(_GIVEN))
    differing = frozenset(key for key, differs in found.items() if differs)
    return Networks(differing, frozenset(key for key, differs in found.items() if differs is None))


def _told(stay: StayRecord, mask: Mask, hosts: Collection[str]) -> Mapping[str, Mapping[str, str]]:
    """Name of a fact → host → its value there, with placeholders; `""` is every host."""
    return {
        key: mask.texts(by_host(_NAMED_AFTER.sub("br-<network>", fact), hosts))
        for key, fact in stay.network.items()
    }


def _differ(one: Mapping[str, str], other: Mapping[str, str]) -> bool | None:
    """Whether a fact differs on a host; None where nobody can tell."""
    pairs = list(_pairs(one, other))
    if any(a != b and not is_unknown(a) and not is_unknown(b) for a, b in pairs):
        return True
    doubtful = (pair for pair in pairs if any(map(is_unknown, pair)))
    return False if all(all(map(is_lacking, pair)) for pair in doubtful) else None


def _lacks(values: Collection[str], *, apart: bool) -> bool | None:
    """The same for a fact that only one of two has; `apart` says that this tells them apart."""
    if all(map(is_lacking, values)):
        return False
    return True if apart and not all(map(is_unknown, values)) else None


def _pairs(one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What both say of each host."""
    for host in sorted({*one, *other} - {""}) or [""]:
        yield one.get(host, one.get("", "")), other.get(host, other.get("", ""))
