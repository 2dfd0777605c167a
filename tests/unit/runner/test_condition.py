"""A new deployment is driven before its first run, by what leaves its data as they are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from planned import one_run

from dunnage.model.choices import Phase
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder
from dunnage.model.plan import RunPlan
from dunnage.model.record import Measurement, OperationStats
from dunnage.runner import condition as module
from dunnage.runner.condition import condition
from dunnage.runner.stay import Stay


def run(core: str, threads: int | None = 8, phase: Phase = Phase.RUN) -> RunPlan:
    level = Level(threads=threads) if threads else Level(rate=100.0)
    return one_run(core, phase=phase, level=level)


class Conditioning:
    """A stay that writes down what it was driven with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float, *runs: RunPlan) -> None:
        self.driven: list[tuple[str, float | None, int | None]] = []
        self.journal: list[dict[str, object]] = []
        self.places: list[str] = []
        self.stay = cast(
            "Stay",
            SimpleNamespace(
                name="s",
                plan=SimpleNamespace(runs=runs),
                conditioned=False,
                target=None,
                equipment=SimpleNamespace(
                    study=SimpleNamespace(
                        load=SimpleNamespace(conditioning=seconds, connections=64, timeout=1.0)
                    ),
                    writer=SimpleNamespace(journal=self._journal),
                ),
            ),
        )
        monkeypatch.setattr(module, "drive", self._drive)

    def _journal(self, event: str, **details: object) -> None:
        self.journal.append({"event": event, **details})

    def _drive(self, _stay: Stay, order: LoadOrder, place: str) -> tuple[list[Any], Measurement]:
        self.places.append(place)
        self.driven.append((order.workload.core, order.duration, order.level.threads))
        stats = OperationStats(count=10, errors={"timeout": 3}, service=None, response=None)
        return [], cast("Measurement", SimpleNamespace(operations={"all": stats}))


def test_every_workload_that_inserts_nothing_gets_its_part_of_the_time_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = (run("C"), run("A", 32), run("D"), run("A", 8))
    made = Conditioning(monkeypatch, 30.0, *runs)
    condition(made.stay, runs[0])
    condition(made.stay, runs[1])
    assert made.driven == [("A", 15.0, 32), ("C", 15.0, 32)]
    assert made.journal == [{"event": "conditioned", "stay": "s", "operations": 20}]


def test_only_reads_prepare_for_workloads_that_all_insert(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = (run("D", None),)
    made = Conditioning(monkeypatch, 30.0, *runs)
    condition(made.stay, runs[0])
    assert made.driven == [("C", 30.0, 64)]


def test_a_measured_load_is_not_prepared_for_and_the_next_run_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = (run("A", phase=Phase.LOAD), run("C"))
    made = Conditioning(monkeypatch, 30.0, *runs)
    condition(made.stay, runs[0])
    assert made.driven == []
    condition(made.stay, runs[1])
    assert made.driven == [("C", 30.0, 8)]


def test_a_study_that_asks_for_none_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Conditioning(monkeypatch, 0.0, run("A"))
    condition(made.stay, run("A"))
    assert made.driven == []
    assert made.journal == []


def test_no_two_stays_that_are_driven_at_once_share_a_directory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    native, docker = (
        run("C").model_copy(update={"id": f"b01-{name}-C-t8"}) for name in ("native", "docker")
    )
    places = []
    for planned in (native, docker):
        made = Conditioning(monkeypatch, 4.0, planned)
        condition(made.stay, planned)
        places += made.places
    assert len(set(places)) == 2
