"""What the order of a journal's lines, and of its runs' times, tells of what was done to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import pytest

from dunnage.store.events import (
    AGAIN,
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
from dunnage.store.sequence import broken

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
    line(RUN_BEGINS, run="r2", stay="s1"),
    kept("runs/r2/record.json"),
    line(AGAIN, run="r2", stay="s1"),
    kept("runs/r2/record.json"),
    line(FINISHED, run="r2", stay="s1"),
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
    "no run again": without(AGAIN),
    "no run ends, nor a stay": without(FINISHED, LEFT),
    "backwards": lambda every: every[::-1],
    "two lines changed places": lambda every: [*every[:4], every[5], every[4], *every[6:]],
    "its end comes first": lambda every: [every[-1], *every[:-1]],
    "a run without a stay": lambda every: [*every[:4], *run("r1")],
}


@pytest.mark.parametrize("name", BROKEN)
def test_lines_that_are_missing_or_in_another_order_are_noticed(name: str) -> None:
    assert broken(BROKEN[name](WHOLE))
