"""How a fact says that it is not known, and why. Pure."""

from __future__ import annotations

import re

UNKNOWN = "unknown"
"""How what could not be read begins; its reason stands behind a colon."""
UNREAD = "unread"
"""Fact of a stay's network: what of that which its deployment asks for nobody could read back, and
why. Absent where all of it was read."""
_UNKNOWN = re.compile(rf"(?:^|: )(?:{UNKNOWN}|not known)\b")
_NO = "this host has no "


def lacking(tool: str) -> str:
    """The reason where a host lacks what could tell."""
    return f"{_NO}{tool}"


def reason(fact: str) -> str:
    """Why a fact is not known, without that it is not."""
    return fact.partition(f"{UNKNOWN}: ")[2] or fact


def is_unknown(fact: str) -> bool:
    """Whether a fact could not be read, also where it stands behind the name of its host."""
    return _UNKNOWN.search(fact) is not None


def is_lacking(fact: str) -> bool:
    """Whether a fact is unknown for want of what could tell: no other reading there can help."""
    known, _, why = fact.partition(": ")
    return known == UNKNOWN and all(each.startswith(_NO) for each in why.split(" and "))
