"""Orders of blocks that are balanced for place and for predecessor.

In a Williams square each of k things is equally often in every place, and equally often directly
after each other one (E. J. Williams 1949, Australian Journal of Scientific Research A 2, 149–168).
It has k rows if k is even, 2k if k is odd. Shuffling each block alone balances neither. In a short
study one deployment may then nearly always come last, or after the same other one. Drift inside a
block, or what the other one leaves behind, would look like its effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from dunnage.study.chance import shuffled

_Item = TypeVar("_Item")


def period(count: int) -> int:
    """Blocks after which `count` things are balanced; so are all multiples of it."""
    return count if count % 2 == 0 or count == 1 else 2 * count


def square(count: int) -> list[list[int]]:
    """The rows of one Williams square of the numbers below `count`.

    The first row goes to and fro, 0, 1, k−1, 2, k−2, …, and each other one adds 1 to it, modulo k;
    for an odd k the same rows follow backwards.
    """
    first = [
        (place + 1) // 2 if place % 2 else (count - place // 2) % count for place in range(count)
    ]
    rows = [[(start + step) % count for start in first] for step in range(count)]
    return rows if period(count) == count else [*rows, *(row[::-1] for row in rows)]


def order(items: Sequence[_Item], block: int, words: str) -> list[_Item]:
    """The order of items in a block, which counts from 1; `words` decide the chance.

    Blocks form squares one after the other. In each square the items take the numbers' places by a
    chance of its own, and its rows come in a random sequence. A block's order depends on nothing
    but items, words and its number.
    """
    size = period(len(items))
    number, row = divmod(block - 1, size)
    named = shuffled(items, f"{words}:square:{number}:names")
    rows = shuffled(square(len(items)), f"{words}:square:{number}:rows")
    return [named[place] for place in rows[row]]
