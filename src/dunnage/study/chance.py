"""Order and seeds out of the study's own seed: the same words always give the same."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

_Item = TypeVar("_Item")


def shuffled(items: Sequence[_Item], words: str) -> list[_Item]:
    """Return items in a random order that `words` alone decide."""
    order = list(items)
    random.Random(words).shuffle(order)  # noqa: S311 - a schedule, not a secret
    return order


def seed(words: str) -> int:
    """Return a seed that `words` alone decide."""
    return random.Random(words).getrandbits(31)  # noqa: S311
