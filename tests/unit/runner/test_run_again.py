"""A disturbed run is measured again while there is patience, which a journal remembers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from planned import one_run

from dunnage.errors import DunnageError, RunError, StayError
from dunnage.model.check import CheckResult, Status, Why
from dunnage.model.plan import RunPlan
from dunnage.model.record import Record
from dunnage.runner import run
from dunnage.runner.interrupt import Stop
from dunnage.runner.patience import Patience
from dunnage.runner.run import carry_out, until_undisturbed
from dunnage.store.events import AGAIN

PLAN = one_run()
STOLEN = CheckResult(check="steal", status=Status.INVALID, why=Why.MEASURED)


def record(*checks: CheckResult) -> Record:
    return Record(
        run=PLAN.id,
        stay="b1-native",
        block=1,
        deployment=PLAN.deployment,
        workload=PLAN.workload,
        level=PLAN.level,
        repeat=1,
        position=0,
        started=100.0,
        ended=107.5,
        status=Status.INVALID if checks else Status.VALID,
        checks=checks,
        measurement=None,
        usage=(),
    )


class Notebook:
    """What a writer of results is told."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.records: list[Record] = []

    def journal(self, event: str, **details: Any) -> None:
        self.events.append({"event": event, **details})

    def record(self, found: Record) -> None:
        self.records.append(found)


def staying(writer: Notebook) -> Any:
    equipment = SimpleNamespace(writer=writer)
    return SimpleNamespace(name="b1-native", equipment=equipment, spoiled=False)


def working(writer: Notebook, seconds: float = 60.0) -> Any:
    """Work with so much patience, which keeps what the user is told."""
    said: list[str] = []
    return SimpleNamespace(
        equipment=SimpleNamespace(writer=writer),
        done=set(),
        patience=Patience(seconds),
        stop=Stop(),
        watcher=SimpleNamespace(say=said.append),
        said=said,
    )


def measuring(monkeypatch: pytest.MonkeyPatch, *found: Record | DunnageError) -> None:
    """Let the attempts of a run end like this, one after the other."""
    left = list(found)

    def measure(_stay: Any, _plan: RunPlan, _attempt: int) -> Record:
        one = left.pop(0)
        if isinstance(one, DunnageError):
            raise one
        return one

    monkeypatch.setattr(run, "measure", measure)


def test_what_was_spent_is_written_down_and_a_resumed_study_has_only_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writer = Notebook()
    measuring(monkeypatch, record(STOLEN), record())
    made = carry_out(staying(writer), PLAN, working(writer, 10.0))
    assert made.status is Status.VALID and len(made.earlier) == 1
    again = {"event": AGAIN, "run": PLAN.id, "stay": "b1-native", "seconds": 7.5}
    assert writer.events == [again]
    assert not Patience.left(10.0, writer.events).spend(7.5)
    assert Patience.left(10.0, writer.events).spend(2.5)
    assert Patience.left(10.0, [{"event": "run begins", "seconds": 9.0}]).spend(7.5)


def test_without_patience_the_disturbed_run_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Notebook()
    measuring(monkeypatch, record(STOLEN))
    made = carry_out(staying(writer), PLAN, working(writer, 7.0))
    assert made.earlier == () and writer.events == []


def test_an_attempt_that_breaks_off_spoils_the_stay_and_leaves_the_first_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writer = Notebook()
    measuring(monkeypatch, record(STOLEN), RunError("the generator died"))
    stay, work = staying(writer), working(writer)
    made = carry_out(stay, PLAN, work)
    assert stay.spoiled
    assert made == writer.records[-1] == record(STOLEN)
    assert "could not be measured again: the generator died" in work.said[-1]


def test_a_disturbed_attempt_stays_where_the_next_one_ends_the_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writer = Notebook()
    work = working(writer)
    measuring(monkeypatch, record(STOLEN), StayError("redis-1 died"))
    with pytest.raises(StayError):
        carry_out(staying(writer), PLAN, work)
    assert writer.records == [record(STOLEN)]
    assert work.done == {PLAN.id}


@pytest.mark.parametrize("breaks_off", [False, True])
def test_runs_that_belong_together_are_measured_again_together_and_kept_before_that(
    breaks_off: bool,
) -> None:
    writer = Notebook()
    stays = [staying(writer), staying(writer)]
    kept: list[int] = []

    def measured(attempt: int) -> list[Record]:
        kept.append(len(writer.records))
        if breaks_off and attempt == 2:
            raise RunError("a generator died")
        return [record(), record(STOLEN) if attempt == 1 else record()]

    made = until_undisturbed(measured, stays, working(writer))
    assert kept == [0, 2]
    assert [len(one.earlier) for one in made] == ([0, 0] if breaks_off else [1, 1])
    assert [stay.spoiled for stay in stays] == [breaks_off, breaks_off]
    assert list(made) == writer.records[-2:]
