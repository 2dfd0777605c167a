"""What a plan says of its own balance."""

from __future__ import annotations

import pytest

from dunnage.model.plan import Block, StayPlan
from dunnage.study.balance import balance
from dunnage.study.williams import order

NAMES = ("native", "native-twin", "host", "bridge")


def blocks(count: int) -> list[Block]:
    return [
        Block(
            index=index,
            stays=tuple(
                StayPlan(id=f"b{index}-{name}", block=index, deployment=name, runs=())
                for name in order(NAMES, index, "1")
            ),
        )
        for index in range(1, count + 1)
    ]


@pytest.mark.parametrize(
    ("count", "place", "after", "following"),
    [(4, (1, 1), (1, 1), 8), (12, (3, 3), (3, 3), 16), (6, (1, 2), (1, 2), 8)],
)
def test_places_and_predecessors_are_counted(
    count: int, place: tuple[int, int], after: tuple[int, int], following: int
) -> None:
    found = balance(blocks(count), NAMES)
    assert (found.place, found.after) == (place, after)
    assert found.whole == (place[0] == place[1])
    assert found.following == following


def test_one_deployment_alone_is_even() -> None:
    assert balance([], ("native",)).whole
