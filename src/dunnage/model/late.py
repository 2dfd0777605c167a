"""Filling in addresses that are known only when a member starts."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PLACEHOLDER = re.compile(r"@late:([^@\s]+)@")


def fill(text: str, hosts: Mapping[str, str]) -> str:
    """Replace the placeholder of every member in `hosts` by its host; leave the others alone.

    A member's own address may be filled in later than its peers', so what is not known yet is not
    an error here; `unfilled` tells what is left.
    """
    return _PLACEHOLDER.sub(lambda match: hosts.get(match[1], match[0]), text)


def unfilled(text: str) -> frozenset[str]:
    """The members whose late addresses `text` still waits for."""
    return frozenset(_PLACEHOLDER.findall(text))
