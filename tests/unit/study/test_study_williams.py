"""Orders of blocks: exhaustively even over a square, for every number of deployments that fits."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

import pytest

from dunnage.study.williams import order, period, square


@pytest.mark.parametrize("count", range(1, 13))
def test_a_square_has_everything_equally_often_in_each_place_and_after_each_other(
    count: int,
) -> None:
    rows = square(count)
    assert len(rows) == period(count)
    assert all(sorted(row) == list(range(count)) for row in rows)
    places = Counter((item, place) for row in rows for place, item in enumerate(row))
    assert set(places.values()) == {len(rows) // count}
    after = Counter(pair for row in rows for pair in pairwise(row))
    assert {after[pair] for pair in permutations(range(count), 2)} <= {len(rows) // count}


def test_orders_depend_on_words_and_number_alone_and_differ_between_squares() -> None:
    names = ["a", "b", "c", "d"]
    orders = [tuple(order(names, block, "7")) for block in range(1, 41)]
    assert orders == [tuple(order(names, block, "7")) for block in range(1, 41)]
    for start in range(0, 40, 4):
        assert len(set(orders[start : start + 4])) == 4
        for place in range(4):
            assert {each[place] for each in orders[start : start + 4]} == set(names)
    assert len({frozenset(orders[start : start + 4]) for start in range(0, 40, 4)}) > 1
    assert orders != [tuple(order(names, block, "8")) for block in range(1, 41)]
