"""Load in turns: what belongs to one deployment, and what its hosts do in the others' turns."""

from __future__ import annotations

from itertools import pairwise

import pytest
from analysis_cases import windows

from dunnage.analysis.turns import Span, idle, own_usage, spans, windows_of
from dunnage.model.record import HostUsage, MachineUsage, Turn, Usage, Window


def turns(rounds: int, seconds: float = 0.6, begin: float = 100.0) -> list[Turn]:
    return [
        Turn(name=name, began=begin + at * seconds, ended=begin + (at + 1) * seconds)
        for at, name in enumerate(["a", "b"] * rounds)
    ]


def test_the_beginning_of_a_turn_does_not_count() -> None:
    found = spans(turns(2), "b", settling=0.2)
    assert [pytest.approx(end) for span in found for end in span] == [100.8, 101.2, 102.0, 102.4]
    assert spans([Turn(name="a", began=0.0, ended=0.05)], "a") == ()


@pytest.mark.parametrize("first", [100.0, 100.03, 99.98])
def test_a_span_counts_as_a_whole_wherever_windows_begin(first: float) -> None:
    """100 000 operations a second in the own turns, and nothing in the others'."""
    taken = turns(4, seconds=0.5)
    own = [turn for turn in taken if turn.name == "b"]

    def until(time: float) -> int:
        return round(100_000 * sum(min(max(time - turn.began, 0.0), 0.5) for turn in own))

    line = tuple(
        Window(start=0.06 * at, length=0.06, operations=until(end) - until(end - 0.06), errors=0)
        for at in range(69)
        for end in [first + 0.06 * (at + 1)]
    )
    kept = windows_of(line, first, own, spans(taken, "b", settling=0.08))
    assert sum(window.operations for window in kept) == pytest.approx(4 * 0.42 * 100_000, abs=8)
    assert sum(window.length for window in kept) == pytest.approx(4 * 0.42)
    assert [window.length for window in kept] == [pytest.approx(0.06)] * 28
    assert all(window.operations == pytest.approx(6000, abs=2) for window in kept)
    for before, after in pairwise(kept):
        assert after.start == pytest.approx(before.start + before.length)


def test_turns_that_follow_each_other_share_the_window_across_their_edge() -> None:
    own = [Turn(name="a", began=0.0, ended=1.0), Turn(name="a", began=1.0, ended=2.0)]
    line = windows([10] * 5, length=0.4)
    kept = windows_of(line, 0.0, own, [Span(0.0, 1.0), Span(1.5, 2.0)])
    assert sum(window.operations for window in kept) == pytest.approx(25 + 12.5, abs=0.5)
    assert windows_of(line, 0.0, [], [Span(0.0, 1.0)]) == ()


def test_what_hosts_do_in_others_turns_is_read_from_whole_pieces_of_them() -> None:
    """3 CPU seconds a second in the own turns, 0.01 in the others'."""
    taken = turns(5, seconds=1.0)

    def used(time: float) -> float:
        own = sum(
            max(0.0, min(time, turn.ended) - turn.began) for turn in taken if turn.name == "a"
        )
        return 3.0 * own + 0.01 * (time - taken[0].began - own)

    moments = [100.0 + 0.2 * at for at in range(51)]
    readings = [(moment, used(moment)) for moment in moments]
    assert idle(readings, taken, "a") == pytest.approx(0.01)
    assert idle(readings[:2], taken, "a") is None


def test_what_a_host_does_anyway_and_operations_that_do_not_count_are_taken_off() -> None:
    """10 s of CPU time, of which 0.1 a second over 20 s are a daemon's; 90 % of operations count.

    A member stands still in others' turns: all of its time was for operations.
    """
    found = HostUsage(
        host="db-1",
        group="db",
        whole=Usage(cpu=10.0, cpu_user=6.0, cpu_system=4.0, received=1000.0, memory_resident=7.0),
        units={"redis-1": Usage(cpu=7.0), "daemon": Usage(cpu=2.5)},
        machine=MachineUsage(),
        samples=10,
        expected_samples=10,
        sampler_cpu=0.1,
    )
    rates = {"": 0.1, "redis-1": 0.0, "daemon": 0.1, "sampler": 0.004}
    own = own_usage(found, rates.get, 20.0, 0.9)
    assert own.whole.cpu == pytest.approx(8.0 * 0.9)
    assert own.whole.cpu_user == pytest.approx(6.0 * 0.72)
    assert own.whole.received == pytest.approx(900.0)
    assert own.whole.memory_resident == 7.0
    assert own.units["redis-1"].cpu == pytest.approx(7.0 * 0.9)
    assert own.units["daemon"].cpu == pytest.approx(0.5 * 0.9)
    assert own.sampler_cpu == pytest.approx(0.02 * 0.9)
    assert own_usage(found, lambda _: None, 20.0, 1.0).whole.cpu == 10.0
