"""Ratios of clients that took turns, and the table that shows them."""

from __future__ import annotations

import pytest
from engine.shots import Shot
from engine.table import ENGINE, Line, Ratio, Section, lines, markdown, ratio

FLOOR, PEER = "floor", "peer"


def shot(microseconds: float, throughput: float = 1000.0) -> Shot:
    """A thousand operations of so much CPU each."""
    return Shot(1000, 1000 / throughput, microseconds / 1000)


def value(of: Ratio | None) -> float:
    assert of is not None
    return of.mean


def test_a_ratio_is_the_geometric_mean_within_pairs() -> None:
    assert value(ratio([1, 4, 6], [1, 8, 2])) == pytest.approx((1 * 0.5 * 3) ** (1 / 3))


def test_the_ratio_of_two_clients_is_that_of_what_stands_beside_them() -> None:
    own, other = lines("read", {ENGINE: [shot(6), shot(5)], PEER: [shot(3), shot(10)]}, {})
    assert value(other.cpu_ratio) == pytest.approx(own.cpu / other.cpu)


@pytest.mark.parametrize(("ours", "theirs"), [([1.0, 2.0], [1.0]), ([1.0], [1.0, 2.0]), ([], [])])
def test_values_without_a_partner_have_no_ratio(ours: list[float], theirs: list[float]) -> None:
    with pytest.raises(ValueError, match=r"shorter|longer|non-empty"):
        ratio(ours, theirs)


def test_the_engine_stands_first_and_the_others_beside_it() -> None:
    taken = {
        FLOOR: [shot(4, 2000), shot(5, 1000), shot(4, 1000)],
        ENGINE: [shot(6, 1000), shot(5, 1000), shot(5, 2000)],
        PEER: [shot(10), shot(10), shot(20)],
    }
    own, floor, peer = lines("read", taken, {FLOOR: 1.3})
    assert own == Line("read", ENGINE, own.cpu)
    assert own.cpu == pytest.approx(150 ** (1 / 3) * 1e-6)
    assert floor.client == FLOOR and floor.goal == 1.3
    assert floor.cpu == pytest.approx(80 ** (1 / 3) * 1e-6)
    assert value(floor.cpu_ratio) == pytest.approx((150 / 80) ** (1 / 3))
    assert value(floor.throughput_ratio) == pytest.approx(1.0)
    assert peer.client == PEER and peer.goal is None
    assert value(peer.cpu_ratio) == pytest.approx((150 / 2000) ** (1 / 3))


def test_a_goal_is_not_reached_beside_a_client_that_was_still_becoming_faster() -> None:
    taken = {ENGINE: [shot(1)] * 6, PEER: [shot(10)] * 6}
    for cold, expected in (
        ((), "≤ 0.5: reached |"),
        ((PEER,), "≤ 0.5: not settled, as the client"),
    ):
        section = Section("Redis", [], lines("read", taken, {PEER: 0.5}, cold), [], 1)
        assert expected in markdown(section, 6)
    slow = lines("read", taken, {PEER: 0.05}, [PEER])
    assert "≤ 0.05: missed |" in markdown(Section("Redis", [], slow, [], 1), 6)


def test_a_goal_without_its_client_is_an_error() -> None:
    with pytest.raises(KeyError, match="peer"):
        lines("read", {ENGINE: [shot(1)]}, {PEER: 0.7})


def test_the_table_says_what_was_compared_and_what_was_missing() -> None:
    section = Section(
        title="Redis 7.0.15",
        notes=["Each record is a hash.", "Strings are not compared."],
        lines=[
            Line("read, 32 connections", ENGINE, 5.25e-6),
            Line(
                "read, 32 connections",
                FLOOR,
                4.2e-6,
                Ratio(1.25, (1.1, 1.26)),
                Ratio(1, (0.9, 1.1)),
                1.3,
            ),
            Line("read, 32 connections", PEER, 7e-6, Ratio(0.75), Ratio(1)),
        ],
        missing=["`memtier` was not compared.", "`latte` was not compared."],
        operations=51_200,
    )
    assert (
        markdown(section, 24)
        == """\
## Redis 7.0.15

Each record is a hash.

Strings are not compared.

Each client takes 24 turns of 51,200 operations, where nothing else is said.

| load | client | CPU per operation | CPU: engine / client | goal | throughput: engine / client |
| :-- | :-- | --: | --: | --: | --: |
| read, 32 connections | engine | 5.25 µs |  |  |  |
| read, 32 connections | floor | 4.20 µs | 1.25 (1.10–1.26) | ≤ 1.3: reached | 1.00 (0.90–1.10) |
| read, 32 connections | peer | 7.00 µs | 0.75 |  | 1.00 |

- `memtier` was not compared.
- `latte` was not compared.
"""
    )


def test_where_no_peer_was_missing_the_table_is_the_end() -> None:
    assert markdown(Section("Redis", [], [Line("read", ENGINE, 1e-6)], [], 1), 6).endswith(" |\n")


@pytest.mark.parametrize(
    ("interval", "told"),
    [
        ((1.1, 1.296), "1.20 (1.10–1.30) | ≤ 1.3: reached |"),
        ((1.1, 1.304), "1.200 (1.100–1.304) | ≤ 1.3: not settled |"),
        ((1.1, 1.3), "1.20 (1.10–1.30) | ≤ 1.3: reached |"),
        ((1.304, 2.0), "1.200 (1.304–2.000) | ≤ 1.3: missed |"),
        ((1.296, 2.0), "1.20 (1.30–2.00) | ≤ 1.3: not settled |"),
        (None, "1.20 | ≤ 1.3: not settled |"),
    ],
)
def test_a_goal_is_reached_or_missed_where_the_interval_that_is_shown_says_so(
    interval: tuple[float, float] | None, told: str
) -> None:
    line = Line("read", FLOOR, 1e-6, Ratio(1.2, interval), Ratio(1), 1.3)
    assert f"| {told}" in markdown(Section("Redis", [], [line], [], 1), 6)


def test_each_further_turn_settles_more_and_one_that_was_disturbed_does_not_decide() -> None:
    turns = [1.2, 1.22, 1.18, 1.21, 1.19, 1.35]
    few, many = (ratio(turns * times, [1.0] * 6 * times).interval for times in (1, 4))
    assert few is not None and many is not None
    assert many[1] < few[1] < 1.3 < max(turns)
    assert ratio(turns[:5], [1.0] * 5).interval is None
