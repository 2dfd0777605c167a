"""How far the blocks of a plan are balanced: how often each deployment has which place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations

from dunnage.model.plan import Block
from dunnage.study.williams import period


@dataclass(frozen=True)
class Balance:
    """Fewest and most times that a deployment has a place, and that it comes after another one.

    Predecessors are counted inside blocks.
    """

    place: tuple[int, int]
    after: tuple[int, int]
    following: int
    """The next larger number of blocks that is balanced."""

    @property
    def whole(self) -> bool:
        """Whether every deployment has every place, and every predecessor, equally often."""
        return self.place[0] == self.place[1] and self.after[0] == self.after[1]


def balance(blocks: Sequence[Block], deployments: Sequence[str]) -> Balance:
    """Count places and predecessors in the blocks of a plan."""
    orders = [[stay.deployment for stay in block.stays] for block in blocks]
    places = Counter((name, place) for order in orders for place, name in enumerate(order))
    after = Counter(pair for order in orders for pair in pairwise(order))
    every = [(name, place) for name in deployments for place in range(len(deployments))]
    even = period(len(deployments))
    return Balance(
        place=_ends(places[each] for each in every),
        after=_ends(after[each] for each in permutations(deployments, 2)),
        following=(len(blocks) // even + 1) * even,
    )


def _ends(counts: Iterable[int]) -> tuple[int, int]:
    found = list(counts)
    return min(found, default=0), max(found, default=0)
