"""Looking again costs: each analysis after blocks were added has less of the error rate to spend.

Blocks are added after somebody saw what the first ones say, and whoever adds until a difference
shows will find one. So look k gets its own part of the error rate α, decided before any data:

    α₁ = α,    α_k = α · 2^−k  for k ≥ 2        (95 %, then 98.75 %, 99.375 %, 99.6875 %, …)

By Bonferroni's inequality the intervals of all looks hold together with at least 1 − 1.5 α, that
is 92.5 %, whatever rule decided when to look and when to stop: the parts do not depend on the data.
That is alpha spending (Lan and DeMets 1983, Biometrika 70, 659–663) with a spending function that
needs no largest number of blocks: theirs at an information fraction, O'Brien and Fleming's say,
takes the study's full length as fixed before the first look, and here nobody knew at the first look
that there would be a second. For the same reason the first look keeps all of α: a study without
added blocks reads as if nothing could be added. Wrong verdicts stay below 5 % all the same: at an
edge of the tolerance one side of an interval alone can make one, 3.75 % over all looks.

Below six blocks there is no interval and no claim, so such a look takes nothing of α by itself. But
whoever chooses the total by what five blocks say spends all the same: a one-sided rate of α may
become α + exp(−z²/2)/4 (Proschan and Hunsberger 1995, Biometrics 51, 1315–1324), and with t
intervals 2.5 % become 4.9 %. So it is free only where there is no such choice: the total is the
number that the study asks for, six at least, or is still too few for a claim.
"""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.analysis.distributions import normal_quantile
from dunnage.analysis.intervals import CONFIDENCE, MINIMUM_BLOCKS, POWER, Paired, sidak
from dunnage.model.estimate import Estimate
from dunnage.model.look import Look


def number(looks: Sequence[Look]) -> int:
    """Which look the present analysis is, from 1, of those that cost something."""
    return 1 + sum(map(costs, looks))


def costs(look: Look) -> bool:
    """Whether a look spent a part of the error rate; one that saw no valid run did not."""
    return look.complete > 0 and not look.free


def free(seen: int, total: int, asked: int) -> bool:
    """Whether blocks may be added at no cost, after `seen` blocks and up to `total`.

    `asked` is the number that the study asks for.
    """
    fixed = max(MINIMUM_BLOCKS, asked)
    return seen < MINIMUM_BLOCKS and (total < MINIMUM_BLOCKS or total == fixed)


def coverage(look: int) -> float:
    """Coverage that the intervals of the `look`-th analysis have; looks count from 1."""
    return CONFIDENCE if look <= 1 else 1 - (1 - CONFIDENCE) * 2.0**-look


def difference(pairs: Paired, look: int, family: int = 1) -> Estimate | None:
    """Ratio minus one with the interval that the `look`-th analysis has, and a method that says so.

    As `Paired.difference`: every paired difference that a page shows is made here, so that none
    covers more or less than the others.
    """
    found = pairs.difference(coverage(look), family)
    if look <= 1 or found is None or found.low is None:
        return found
    spent = f"look {look} at {found.level * 100:.6g} % (error rate spent over looks)"
    return found.model_copy(update={"method": f"{found.method}, {spent}"})


def following(level: float) -> float:
    """Coverage that the look after the one of coverage `level` has."""
    return coverage(2) if level <= CONFIDENCE else 1 - (1 - level) / 2


def effort(level: float = CONFIDENCE, family: int = 1) -> float:
    """(z[1-α/2] + z[0.8])²: blocks for each square of standard deviation over distance.

    That many blocks let a two-sided test of error rate α find a difference with a power of 80 %
    (normal approximation; Lehr 1992, Statistics in Medicine 11, 1099–1102). Blocks that are added
    are judged at the look after the one of coverage `level`, and all `family` intervals together:
    α is what that look leaves to each (Šidák), 1.25 % for one comparison after the first look,
    which makes it 11.2. The usual n ≈ 8 (s/h)² is the case of one comparison and no further look.
    """
    tail = (1 - sidak(family, following(level))) / 2
    return (normal_quantile(1 - tail) + normal_quantile(POWER)) ** 2
