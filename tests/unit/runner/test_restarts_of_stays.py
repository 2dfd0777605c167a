"""What is restarted of a substrate from a stay's beginning to a run's end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from dunnage.errors import DunnageError, HostLostError, RunError
from dunnage.model.record import Restart
from dunnage.runner.restarts import RestartCount


def restart(time: float, program: str = "kubelet", host: str = "db-1") -> Restart:
    return Restart(host=host, program=program, code=-9, time=time)


@dataclass
class Telling:
    """A substrate that tells what was restarted of it, or fails to."""

    known: dict[str, tuple[Restart, ...]] = field(default_factory=dict)
    error: DunnageError | None = None

    def restarts(self) -> Mapping[str, tuple[Restart, ...]]:
        if self.error is not None:
            raise self.error
        return self.known


def begun(substrate: object) -> RestartCount:
    made: Any = substrate
    return RestartCount.begun(made)


def test_what_came_after_the_beginning_counts_whatever_time_a_clock_gave_it() -> None:
    """A clock that was set back gives later restarts earlier times."""
    early, later, etcd = restart(200.0), restart(100.0), restart(90.0, "etcd", "control-1")
    told = Telling({"control-1": (), "db-1": (early,)})
    count = begun(told)
    assert count.so_far() == ()
    told.known = {"control-1": (etcd,), "db-1": (restart(200.1), later)}
    assert count.so_far() == (etcd, later)


def test_what_nothing_tells_of_is_not_known_and_where_nothing_is_nothing_is_restarted() -> None:
    assert begun(object()).so_far() is None
    assert begun(None).so_far() == ()


@pytest.mark.parametrize("error", [HostLostError("it is gone"), RunError("it cannot be read")])
def test_a_host_that_cannot_tell_makes_it_unknown_and_fails_nothing(error: DunnageError) -> None:
    told = Telling({"db-1": ()})
    count = begun(told)
    told.error = error
    assert count.so_far() is None
    lost_at_first = begun(told)
    told.error = None
    assert lost_at_first.so_far() is None
    assert count.so_far() == ()
