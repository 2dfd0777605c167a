"""What the order of a journal's lines, and of its runs' times, tells of what was done to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import pytest
from results import tiny_record

from dunnage.model.record import Record
from dunnage.store.events import (
    BEGINS,
    FAILED,
    FINISHED,
    KEPT,
    LEFT,
    OPENED,
    READY,
    RUN_BEGINS,
    STAY_FAILED,
    STUDY_FINISHED,
)
from dunnage.store.sequence import broken, untimely

Event = dict[str, Any]


def line(event: str, **details: object) -> Event:
    return {"version": 2, "event": event, **details}


def kept(path: str) -> Event:
    return line(KEPT, files={path: {}})


def run(name: str, stay: str = "s1") -> list[Event]:
    return [
        line(RUN_BEGINS, run=name, stay=stay),
        kept(f"runs/{name}/record.json"),
        line(FINISHED, run=name, stay=stay),
    ]


def begun(stay: str) -> list[Event]:
    return [line(BEGINS, stay=stay), kept(f"stays/{stay}/stay.json"), line(READY, stay=stay)]


WHOLE = [
    kept("study.yaml"),
    kept("plan.json"),
    kept("environment.json"),
    line(OPENED),
    *begun("s1"),
    *run("r1"),
    *run("r2"),
    line(LEFT, stay="s1"),
    *begun("s2"),
    line(RUN_BEGINS, run="r3", stay="s2"),
    line(FAILED, run="r3", stay="s2"),
    line(LEFT, stay="s2"),
    line(STAY_FAILED, stay="s2"),
    *begun("s2.2"),
    line(RUN_BEGINS, run="r3", stay="s2.2"),
    line(STAY_FAILED, stay="s2"),
    line(STUDY_FINISHED),
]


def test_no_crash_breaks_a_journal_and_neither_does_what_goes_on_after_it() -> None:
    for first, second in product(range(len(WHOLE) + 1), repeat=2):
        onward = [*WHOLE[:first], *WHOLE[2:second], *WHOLE[2:]]
        assert not broken(WHOLE[:first])
        assert not broken(onward), (first, second)


@pytest.mark.parametrize("odd", [{"event": []}, {}, line(FINISHED, run=[]), line(KEPT, files=[])])
def test_odd_lines_tell_nothing(odd: Event) -> None:
    assert not broken([*WHOLE, odd])


Change = Callable[[Sequence[Event]], Sequence[Event]]


def without(*events: str) -> Change:
    return lambda every: [each for each in every if each["event"] not in events]


BROKEN: dict[str, Change] = {
    "only what is kept": lambda every: [each for each in every if each["event"] == KEPT],
    "no testbed": without(OPENED),
    "no stay begins": without(BEGINS),
    "no stay is ready": without(READY),
    "no run ends": without(FINISHED),
    "no run ends, nor a stay": without(FINISHED, LEFT),
    "backwards": lambda every: every[::-1],
    "two lines changed places": lambda every: [*every[:4], every[5], every[4], *every[6:]],
    "its end comes first": lambda every: [every[-1], *every[:-1]],
    "a run without a stay": lambda every: [*every[:4], *run("r1")],
}


@pytest.mark.parametrize("name", BROKEN)
def test_lines_that_are_missing_or_in_another_order_are_noticed(name: str) -> None:
    assert broken(BROKEN[name](WHOLE))


def record(name: str, started: float, ended: float) -> Record:
    return tiny_record(name).model_copy(update={"started": started, "ended": ended})


def journal(*parts: Sequence[str]) -> list[Event]:
    """Of testbeds that were opened one after the other, and of the runs in each."""
    return [
        event
        for part in parts
        for event in (line(OPENED), *(each for name in part for each in run(name)))
    ]


def test_runs_one_after_the_other_have_their_times() -> None:
    records = [record("a", 1.0, 2.0), record("b", 2.0, 3.0), record("c", 1.0, 2.0)]
    assert untimely(journal(("a", "b"), ("c",)), records) == frozenset()
    assert untimely(journal((), ()), records) == frozenset()
    assert untimely([], records) == frozenset()


def test_runs_of_a_block_together_are_measured_at_once() -> None:
    both = [line(RUN_BEGINS, run="a"), line(FINISHED, run="a"), line(FINISHED, run="b")]
    events = [line(OPENED), *both, *run("c")]
    records = [record("a", 1.0, 2.0), record("b", 1.0, 2.0), record("c", 2.0, 3.0)]
    assert untimely(events, records) == frozenset()
    assert untimely(events, [*records[:2], record("c", 1.5, 3.0)]) == {"c"}


def test_of_a_run_that_was_measured_twice_the_last_time_counts() -> None:
    records = [record("a", 5.0, 6.0), record("b", 3.0, 4.0)]
    assert untimely(journal(("a", "b", "a")), records) == frozenset()
    assert untimely(journal(("a", "b"), ("a",)), records) == frozenset()


def test_the_runs_that_contradict_the_others_are_named_and_no_others() -> None:
    true = [record(name, at, at + 1.0) for at, name in enumerate("abcdefgh")]
    events = journal("abcdefgh")
    assert untimely(events, true) == frozenset()
    late = [*true[:2], record("c", 100.0, 101.0), *true[3:]]
    assert untimely(events, late) == {"c"}
    early = [*true[:6], record("g", -5.0, -4.0), true[7]]
    assert untimely(events, early) == {"g"}
    backwards = [*true[:2], record("c", 2.5, 2.0), *true[3:]]
    assert untimely(events, backwards) == {"c"}
    alike = [record(each.run, 20.0, 21.0) if each.run in "bcdefg" else each for each in true]
    assert untimely(events, alike) == set("bcdefg")
