"""Host addresses that are known only inside a member when it starts, such as a pod's."""

from __future__ import annotations

import re
from collections.abc import Mapping

LATE = re.compile(r"@late:([^@\s]+)@")


def late_host(member: str) -> str:
    """The placeholder of a member's address, for files and arguments."""
    return f"@late:{member}@"


def fill(text: str, hosts: Mapping[str, str]) -> str:
    """Replace the placeholder of every member in `hosts` by its host; leave the others alone.

    A member's own address may be filled in later than its peers', so what is not known yet is not
    an error here; `unfilled` tells what is left.
    """
    return LATE.sub(lambda match: hosts.get(match[1], match[0]), text)


def unfilled(text: str) -> frozenset[str]:
    """The members whose late addresses `text` still waits for."""
    return frozenset(LATE.findall(text))
