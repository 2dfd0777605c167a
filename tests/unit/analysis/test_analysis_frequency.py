"""Whether something meets one deployment more often than the others, beside counting all ways."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from dunnage.analysis.frequency import OWN, Frequency, apart, by_themselves, chance


def test_the_chance_of_so_many_times_is_that_of_all_ways_to_share_them() -> None:
    """Every small case, beside counting all ways."""
    for blocks, others in product(range(1, 5), repeat=2):
        for times in range(blocks + others + 1):
            ways = list(combinations(range(blocks + others), times))
            for own in range(max(0, times - others), min(times, blocks) + 1):
                so_often = sum(sum(each < blocks for each in way) >= own for way in ways)
                found = chance(Frequency(own, blocks), Frequency(times - own, others))
                assert found == pytest.approx(so_often / len(ways))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Frequency(0, 18), Frequency(0, 18), 1.0),
        (Frequency(3, 18), Frequency(3, 18), 1.0),
        # With all of n left out of one side and none of the other there is one way of (2n over n).
        (Frequency(4, 4), Frequency(0, 4), 2 / 70),
        (Frequency(0, 4), Frequency(4, 4), 2 / 70),
        # (12 over 6) / (36 over 6), and (30 over 6) of them on one side: 18 over 6 of 36 over 6.
        (Frequency(6, 18), Frequency(0, 18), 2 * 18564 / 1947792),
        (Frequency(1, 3), Frequency(0, 0), 1.0),
    ],
)
def test_two_sides_are_apart_by_twice_the_chance_of_the_smaller_tail(
    one: Frequency, other: Frequency, expected: float
) -> None:
    assert apart(one, other) == pytest.approx(expected)
    assert apart(other, one) == pytest.approx(expected)


ON_KUBERNETES = ("service-ip", "host-port", "inside", "dns")
ELSEWHERE = {"native": "native", "twin": "native", "docker": "docker", "bridge": "docker"}
PLATFORMS = dict.fromkeys(ON_KUBERNETES, "kubernetes") | ELSEWHERE | {"swarm": "swarm"}


def moves(*on_kubernetes: int, elsewhere: int = 0) -> dict[str, Frequency]:
    """In how many of 18 blocks each deployment of `studies/orchestrators.yaml` moved."""
    seen = dict(zip(ON_KUBERNETES, on_kubernetes, strict=True))
    others = dict.fromkeys(PLATFORMS.keys() - seen.keys(), elsewhere)
    return {name: Frequency(moved, 18) for name, moved in (seen | others).items()}


def test_a_deployment_is_unlike_the_others_if_it_is_so_more_often() -> None:
    alone = dict.fromkeys(PLATFORMS, "one platform")
    assert by_themselves(moves(6, 7, 7, 2), alone) == ("host-port", "inside", "service-ip")
    fewer = {name: moves(6, 7, 7, 2)[name] for name in (*ON_KUBERNETES, "native")}
    assert by_themselves(fewer, alone) == ()


def test_a_platform_is_unlike_the_others_where_none_of_its_deployments_is_by_itself() -> None:
    """As in `studies/orchestrators.yaml`, where flannel does work every 5 s and a run took 4 s."""
    few = moves(4, 3, 4, 2)
    assert by_themselves(few, dict.fromkeys(PLATFORMS, "one platform")) == ()
    assert set(by_themselves(few, PLATFORMS)) == set(ON_KUBERNETES)
    assert by_themselves(moves(4, 3, 4, 2, elsewhere=3), PLATFORMS) == ()


def test_a_deployment_of_such_a_platform_that_never_did_so_is_not_called_unlike() -> None:
    assert set(by_themselves(moves(5, 4, 4, 0), PLATFORMS)) == {"service-ip", "host-port", "inside"}


def test_one_deployment_that_does_so_does_not_make_its_platform_unlike() -> None:
    assert by_themselves(moves(12, 0, 1, 0), PLATFORMS) == ("service-ip",)


@pytest.mark.parametrize(
    "seen",
    [
        {},
        {"native": Frequency(9, 12)},
        {"native": Frequency(0, 12), "bridge": Frequency(0, 12)},
        {"native": Frequency(3, 12), "bridge": Frequency(4, 12), "twin": Frequency(3, 12)},
        {"native": Frequency(0, 0), "bridge": Frequency(1, 1)},
    ],
)
def test_what_meets_all_alike_is_nobodys_own(seen: dict[str, Frequency]) -> None:
    assert by_themselves(seen, {name: name for name in seen}) == ()


def test_what_comes_by_lot_is_seldom_called_a_deployments_own() -> None:
    lots = np.random.default_rng(1).binomial(36, 0.1, size=(2000, 4))
    platforms = {"0": "native", "1": "docker", "2": "docker", "3": "kubernetes"}
    studies = (
        {str(at): Frequency(int(each), 36) for at, each in enumerate(study)} for study in lots
    )
    called = sum(bool(by_themselves(study, platforms)) for study in studies)
    assert called / len(lots) < OWN


def test_two_sides_that_lose_blocks_by_lot_are_seldom_called_apart() -> None:
    lots = np.random.default_rng(2).binomial(18, 0.15, size=(2000, 2))
    called = sum(
        apart(Frequency(int(one), 18), Frequency(int(other), 18)) < OWN for one, other in lots
    )
    assert called / len(lots) < OWN
