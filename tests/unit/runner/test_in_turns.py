"""Deployments that live at once: all come up side by side, and whoever came up goes down."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import cast

import pytest

from dunnage.analysis.turns import own_usage
from dunnage.errors import StayError
from dunnage.model.record import HostUsage, MachineUsage, Usage
from dunnage.runner.in_turns import side_by_side
from dunnage.runner.stay import Stay


def scope(
    name: str, log: list[str], meet: threading.Barrier | None = None, fails: str = ""
) -> AbstractContextManager[Stay]:
    @contextmanager
    def living() -> Iterator[Stay]:
        if meet is not None:
            meet.wait(10.0)
        if fails == "up":
            raise StayError(f"{name} did not come up")
        try:
            yield cast("Stay", name)
        finally:
            log.append(name)
            if fails == "down":
                raise StayError(f"{name} did not go down")

    return living()


def test_all_come_up_at_the_same_time_and_go_down() -> None:
    log: list[str] = []
    meet = threading.Barrier(3)
    with side_by_side([scope(name, log, meet) for name in "abc"]) as stays:
        assert stays == ["a", "b", "c"]
        assert log == []
    assert sorted(log) == ["a", "b", "c"]


def test_where_one_does_not_come_up_the_others_go_down_and_it_is_told() -> None:
    log: list[str] = []
    scopes = [scope("a", log), scope("b", log, fails="up"), scope("c", log)]
    with pytest.raises(StayError, match="b did not come up"), side_by_side(scopes):
        raise AssertionError("unreachable")
    assert sorted(log) == ["a", "c"]


def test_what_happens_meanwhile_is_told_and_not_what_goes_wrong_while_leaving() -> None:
    log: list[str] = []
    scopes = [scope("a", log), scope("b", log)]
    with pytest.raises(KeyError, match="meanwhile"), side_by_side(scopes):
        raise KeyError("meanwhile")
    assert sorted(log) == ["a", "b"]
    ending = [scope("a", log, fails="down"), scope("b", log)]
    with pytest.raises(StayError, match="a did not go down"), side_by_side(ending):
        log.clear()
    assert sorted(log) == ["a", "b"]


def test_what_a_host_does_anyway_and_operations_that_do_not_count_are_taken_off() -> None:
    """10 s of CPU time, of which 0.1 a second over 20 s are no load; 90 % of operations count."""
    found = HostUsage(
        host="db-1",
        group="db",
        whole=Usage(cpu=10.0, cpu_user=6.0, cpu_system=4.0, received=1000.0, memory_resident=7.0),
        units={"redis-1": Usage(cpu=8.0)},
        machine=MachineUsage(),
        samples=10,
        expected_samples=10,
        sampler_cpu=0.1,
    )
    own = own_usage(found, 0.1, 20.0, 0.9)
    assert own.whole.cpu == pytest.approx(8.0 * 0.9)
    assert own.whole.cpu_user == pytest.approx(6.0 * 0.72)
    assert (own.whole.received, own.whole.memory_resident) == (pytest.approx(900.0), 7.0)
    assert own.units["redis-1"].cpu == pytest.approx(8.0 * 0.72)
    assert own_usage(found, None, 20.0, 1.0).whole.cpu == 10.0
