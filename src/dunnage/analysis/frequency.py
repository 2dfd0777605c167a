"""How often something is so of each deployment, and whether chance explains that they differ.

What disturbs a machine meets all deployments alike, as they have their places by lot. What meets
one of them again and again is its own. What disturbs a moment meets several runs of a block, so
blocks are counted and not runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from dunnage.analysis.groups import grouped

OWN = 0.05
"""Chance that some deployment is called unlike the others though all are alike."""


@dataclass(frozen=True)
class Frequency:
    """In how many blocks something was so."""

    times: int
    blocks: int
    """All blocks in which it was looked for."""

    @property
    def share(self) -> float:
        """Of the blocks; 0 where there is none."""
        return self.times / max(self.blocks, 1)


class Measured(Protocol):
    """What was measured once: where it belongs."""

    @property
    def deployment(self) -> str: ...

    @property
    def block(self) -> int: ...


M = TypeVar("M", bound=Measured)


def over_blocks(runs: Iterable[M], so: Callable[[M], bool]) -> dict[str, Frequency]:
    """Deployment → in how many of its blocks something was so of a run."""
    return {
        deployment: Frequency(
            len({run.block for run in own if so(run)}), len({run.block for run in own})
        )
        for deployment, own in grouped(runs, lambda run: run.deployment).items()
    }


def by_themselves(
    frequencies: Mapping[str, Frequency], platforms: Mapping[str, str]
) -> tuple[str, ...]:
    """Deployments of which something is so more often than of the others, by more than chance.

    A deployment may be unlike the others alone, or with all others of its platform: what a platform
    does may be too seldom to tell in one of them. The choice that chance explains least is taken
    first, beside all that are not told to be unlike the others, until one is not told from them. As
    any choice could have been that one, its chance is multiplied by their number (Bonferroni).
    `platforms` maps each deployment to its platform.
    """
    left, found = dict(frequencies), list[str]()
    while choices := _choices(left, platforms):
        chances = {
            names: chance(together(left, left.keys() - names), together(left, names))
            for names in choices
        }
        unlike = min(choices, key=lambda names: chances[names])
        if len(choices) * chances[unlike] >= OWN:
            break
        found += [name for name in left if name in unlike and left[name].times]
        left = {name: each for name, each in left.items() if name not in unlike}
    return tuple(found)


def _choices(names: Collection[str], platforms: Mapping[str, str]) -> list[frozenset[str]]:
    """Each deployment, and all of each platform, where others are left beside them."""
    every = [
        *(frozenset([name]) for name in names),
        *map(frozenset, grouped(names, lambda name: platforms[name]).values()),
    ]
    return [each for each in dict.fromkeys(every) if len(each) < len(names)]


def together(frequencies: Mapping[str, Frequency], without: Collection[str] = ()) -> Frequency:
    """All deployments but some, added up."""
    left = [each for deployment, each in frequencies.items() if deployment not in without]
    return Frequency(sum(each.times for each in left), sum(each.blocks for each in left))


def chance(own: Frequency, others: Frequency) -> float:
    """Probability of so many times or more, if it is so as often as of the others.

    Fisher's exact test, one-sided (Fisher 1934, Statistical Methods for Research Workers, 5th
    edition, section 21.02).
    """
    times, blocks = own.times + others.times, own.blocks + others.blocks
    ways = sum(
        math.comb(times, each) * math.comb(blocks - times, own.blocks - each)
        for each in range(own.times, min(times, own.blocks) + 1)
    )
    return ways / math.comb(blocks, own.blocks)


def apart(one: Frequency, other: Frequency) -> float:
    """Probability that two sides alike differ so much or more, whichever is the more frequent.

    Twice the smaller of the two one-sided probabilities of Fisher's exact test (Yates 1984, Journal
    of the Royal Statistical Society A 147, 426-463), 1 at most.
    """
    return min(1.0, 2 * min(chance(one, other), chance(other, one)))
