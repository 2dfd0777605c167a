"""The database holds what a run expects: it is loaded when due, and only then."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from planned import one_run
from stage import Hand, Prompter

from dunnage.errors import RunError
from dunnage.model.choices import Phase
from dunnage.model.layout import Step, Target
from dunnage.model.load import LoadOrder
from dunnage.model.record import Measurement, OperationStats
from dunnage.runner import fill as module
from dunnage.runner.fill import fill, settle
from dunnage.runner.snapshots import KeptSnapshot
from dunnage.runner.stay import Stay

TARGET = Target("fake", "ring", (), frozenset(), {"write": 1, "read": 1}, storing={"write": 3})


class Filling:
    """A stay that writes down when it is emptied (`reset`) and loaded (records)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.history: list[str | int] = []
        self.stored_share = 1.0
        self.failing = 10**9
        self.journal: list[str] = []
        self.stay = cast(
            "Stay",
            SimpleNamespace(
                filled=None,
                spoiled=False,
                kept=None,
                clients=("client",) * 40,
                deployment=SimpleNamespace(database=None),
                database=SimpleNamespace(reset=lambda *_: ("reset",)),
                reservation=None,
                target=TARGET,
                platform=Prompter(),
                equipment=SimpleNamespace(
                    testbed=SimpleNamespace(clock=Hand()),
                    study=SimpleNamespace(load=SimpleNamespace(timeout=1.0)),
                    writer=SimpleNamespace(journal=self._journal),
                ),
            ),
        )
        monkeypatch.setattr(module, "take", self._take)
        monkeypatch.setattr(module, "drive", self._drive)

    def _take(self, _platform: object, steps: tuple[str, ...], _clock: object) -> dict[str, Any]:
        self.history.extend(steps)
        return {}

    def _drive(self, _stay: Stay, order: LoadOrder, _place: str) -> tuple[list[Any], Measurement]:
        assert order.phase is Phase.LOAD
        assert order.duration is None
        assert order.operations is None
        assert order.level.threads == order.connections == len(self.stay.clients)
        assert order.target.options == {"write": 3, "read": 1}
        self.history.append(order.workload.records)
        self.failing -= 1
        share = self.stored_share if self.failing >= 0 else 1.0
        count = round(order.workload.records * share)
        stats = OperationStats(count=count, errors={"timeout": 1}, service=None, response=None)
        return [], cast("Measurement", SimpleNamespace(operations={"all": stats}))

    def _journal(self, event: str, **_: object) -> None:
        self.journal.append(event)

    def expect(self, core: str, records: int = 100, phase: Phase = Phase.RUN) -> list[str | int]:
        """Prepare for a run and tell what was done for it."""
        self.history.clear()
        fill(self.stay, one_run(core, records, phase))
        return list(self.history)


@pytest.fixture
def filling(monkeypatch: pytest.MonkeyPatch) -> Filling:
    return Filling(monkeypatch)


@pytest.mark.parametrize("core", list("ABCF"))
def test_a_workload_that_inserts_nothing_leaves_the_database_as_it_was(
    filling: Filling, core: str
) -> None:
    assert filling.expect(core) == [100]
    assert filling.expect(core) == []
    assert filling.expect("C") == []


@pytest.mark.parametrize("core", list("DE"))
def test_after_a_workload_that_inserts_all_is_loaded_anew(filling: Filling, core: str) -> None:
    assert filling.expect(core) == [100]
    assert filling.expect(core) == ["reset", 100]
    assert filling.expect("A") == ["reset", 100]
    assert filling.expect("A") == []


def test_another_number_of_records_is_loaded_anew(filling: Filling) -> None:
    assert filling.expect("A", records=100) == [100]
    assert filling.expect("A", records=200) == ["reset", 200]
    assert filling.expect("A", records=100) == ["reset", 100]


def test_a_measured_load_begins_with_an_empty_database_and_serves_the_next_run(
    filling: Filling,
) -> None:
    assert filling.expect("A", phase=Phase.LOAD) == []
    assert filling.expect("A", phase=Phase.LOAD) == ["reset"]
    assert filling.expect("C") == []
    assert filling.expect("D", phase=Phase.LOAD) == ["reset"]
    assert filling.expect("C") == []
    assert filling.expect("C", records=50) == ["reset", 50]


def test_what_a_broken_off_load_left_is_not_built_upon(filling: Filling) -> None:
    filling.expect("A", phase=Phase.LOAD)
    filling.stay.spoiled = True
    assert filling.expect("C") == ["reset", 100]
    assert filling.expect("C") == []


def test_records_that_were_not_stored_are_an_error_with_their_number(filling: Filling) -> None:
    filling.stored_share = 0.5
    with pytest.raises(RunError, match=r"run-A: loading stored 50 of 100 records.*timeout"):
        filling.expect("A")
    assert filling.stay.filled is None


def test_a_load_of_which_an_operation_failed_is_made_again_and_written_down(
    filling: Filling,
) -> None:
    filling.stored_share, filling.failing = 0.5, 2
    assert filling.expect("A") == [100, "reset", 100, "reset", 100]
    assert filling.journal == ["loading failed", "loading failed"]
    assert filling.expect("A") == []


def test_a_stay_that_started_with_a_snapshot_is_neither_emptied_nor_loaded(
    filling: Filling,
) -> None:
    filling.stay.kept = KeptSnapshot("redis-1", "data-native")
    assert filling.expect("A") == []
    filling.stay.spoiled = True
    assert filling.expect("C") == []


@pytest.mark.parametrize(("told", "size"), [({"data_size": 42}, 42.0), ({}, None)])
def test_a_database_is_waited_for_until_it_rests_and_then_tells_its_size(
    told: dict[str, Any], size: float | None
) -> None:
    steps = (
        Step("rest", "redis-1", ("info",), done=lambda text: text == "idle"),
        Step("data size", "redis-1", ("size",), parse=lambda _: told),
    )
    stay = SimpleNamespace(
        deployment=SimpleNamespace(database=None),
        database=SimpleNamespace(settle=lambda *_: steps),
        reservation=None,
        platform=Prompter([(0, "busy"), (0, "busy"), (0, "idle"), (0, "")]),
        equipment=SimpleNamespace(testbed=SimpleNamespace(clock=Hand())),
    )
    settled = settle(cast("Stay", stay))
    assert settled.data_size == size
    assert settled.seconds == pytest.approx(0.04)
