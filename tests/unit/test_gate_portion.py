"""Which proofs a portion of time has room for: every small case of it, and its estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from gate.known import Known
from gate.lanes import STUDIES
from gate.proofs.page import HELD, Result, Row
from gate.proofs.portion import NEVER, Unit, portion, rounds, takes, units
from gate.proofs.prove import AT_ONCE, needed, not_begun
from gate.stages import LIVE_PROOFS, PREPARATIONS, PURE_PROOFS, QUIET_PROOFS, Stage, proving

FIRST = datetime(2026, 11, 1, tzinfo=UTC)


def unit(name: str, seconds: float, day: int = 0, stage: Stage = QUIET_PROOFS) -> Unit:
    """One proof, tried so many days after the first."""
    return Unit(stage, {name: seconds}, FIRST + timedelta(days=day))


def brute_force(waiting: Sequence[Unit], seconds: float) -> list[Unit]:
    """Of all sets that fit those with the oldest, of these those with the next, and so on."""
    oldest = sorted(waiting, key=lambda each: each.when)
    fitting = [
        chosen
        for chosen in product((True, False), repeat=len(oldest))
        if sum(sum(each.tests.values()) for each, one in zip(oldest, chosen, strict=True) if one)
        <= seconds
    ]
    if not fitting:
        return []
    return [each for each, one in zip(oldest, max(fitting), strict=True) if one]


@pytest.mark.parametrize("count", range(4))
def test_the_oldest_that_fit_are_chosen_and_none_beyond_the_time(count: int) -> None:
    cases = 0
    for lengths, days in product(product(range(4), repeat=count), product(range(3), repeat=count)):
        given = enumerate(zip(lengths, days, strict=True))
        waiting = [unit(str(place), length, day) for place, (length, day) in given]
        for seconds in range(-1, sum(lengths) + 2):
            chosen = portion(waiting, seconds)
            assert chosen == brute_force(waiting, seconds)
            assert sum(sum(each.tests.values()) for each in chosen) <= max(seconds, 0)
            cases += 1
    assert cases >= 12**count


def test_without_an_end_all_are_chosen_and_what_has_no_limit_is_in_no_portion() -> None:
    endless, short = unit("endless", math.inf, 0), unit("short", 1, 1)
    assert portion([short, endless], math.inf) == [endless, short]
    assert portion([short, endless], 10_000) == [short]


def test_one_that_does_not_fit_leaves_its_time_to_younger_ones() -> None:
    waiting = [unit("young", 2, 3), unit("long", 9, 2), unit("old", 3, 1)]
    assert [[*each.tests] for each in portion(waiting, 5)] == [["old"], ["young"]]


def test_workers_share_the_tests_of_a_stage_and_stages_follow_each_other() -> None:
    assert PURE_PROOFS.workers == 2
    for lengths in product(range(4), repeat=4):
        loads = [unit(str(place), each, 0, PURE_PROOFS) for place, each in enumerate(lengths)]
        assert max(*lengths, sum(lengths) / 2) <= takes(loads) <= sum(lengths)
        assert takes([*loads, unit("alone", 5)]) == takes(loads) + 5
    assert takes([unit(name, 3, 0, PURE_PROOFS) for name in "ab"]) == 3
    assert takes([unit(name, 3) for name in "ab"]) == 6
    assert takes([]) == 0


def test_tests_of_a_lane_or_a_class_wait_for_each_other() -> None:
    def together(*tests: str) -> float:
        return takes([unit(test, 3, 0, LIVE_PROOFS) for test in tests])

    assert LIVE_PROOFS.workers == 3
    assert together("a.py::test_1", "b.py::test_1", "c.py::test_1") == 3
    assert together("a.py::TestA::test_1", "a.py::TestB::test_1") == 3
    assert together("a.py::test_1", "a.py::test_2") == 6
    in_a_lane = [
        Unit(LIVE_PROOFS, {f"{name}.py::test": 3}, FIRST, {f"{name}.py::test": "kubernetes"})
        for name in "ab"
    ]
    assert takes(in_a_lane) == 6
    proofs = frozenset({"proof", "live"})
    known = [
        Known(f"{STUDIES}a.py::test", proofs, 3),
        Known(f"{STUDIES}b.py::test", proofs, 3),
        Known("a.py::test_a_kubernetes", proofs | {"kubernetes"}, 3),
        Known("b.py::test_another", proofs | {"kubernetes"}, 3),
        Known("c.py::test", proofs, 3),
    ]
    assert takes(units(known, {})) == 6
    assert takes(units(known[:2], {})) == takes(units(known[2:4], {})) == 6


def test_what_something_is_made_once_for_is_one_unit_as_old_as_its_oldest() -> None:
    quiet = frozenset({"proof", "live", "quiet"})
    sharing = [Known(f"a.py::test_{n}", quiet, 60, "a.py case=1") for n in (1, 2)]
    plain = [Known("a.py::test_3", quiet, 60, "a.py::test_3"), Known("b.py::test_4", quiet, 70)]
    elsewhere = Known("a.py::test_5", frozenset({"proof"}), 60, "a.py case=1")
    rows = {
        test: Row(test, "", Result(HELD, FIRST + timedelta(days=day), seconds), "", before)
        for test, day, seconds, before in (
            ("a.py::test_1", 5, 30.0, None),
            ("a.py::test_2", 4, 0.0, None),
            ("a.py::test_3", 3, 2.0, Result(HELD, FIRST, 40.0)),
            ("b.py::test_4", 2, None, None),
        )
    }
    assert units([*sharing, *plain, elsewhere], rows) == [
        Unit(QUIET_PROOFS, {"a.py::test_1": 30, "a.py::test_2": 0}, FIRST + timedelta(days=4)),
        unit("a.py::test_3", 40, 3),
        unit("b.py::test_4", 70, 2),
        Unit(PURE_PROOFS, {"a.py::test_5": 60}, NEVER),
    ]
    del rows["a.py::test_1"]
    assert units(sharing, rows) == [
        Unit(QUIET_PROOFS, {"a.py::test_1": 60, "a.py::test_2": 0}, NEVER)
    ]


def test_a_stage_runs_at_once_and_what_has_the_machine_to_itself_one_by_one_in_a_portion() -> None:
    pure = [unit(name, 1, 0, PURE_PROOFS) for name in "ab"]
    quiet = [unit(name, 1) for name in "cd"]
    chosen = [quiet[0], pure[0], quiet[1], pure[1]]
    assert rounds(chosen, one_by_one=False) == [quiet, pure]
    assert rounds(chosen, one_by_one=True) == [[quiet[0]], pure, [quiet[1]]]
    assert rounds([], one_by_one=True) == []


@pytest.mark.parametrize(
    ("marks", "stage"),
    [
        ({"proof"}, PURE_PROOFS),
        ({"proof", "live"}, LIVE_PROOFS),
        ({"proof", "browser"}, LIVE_PROOFS),
        ({"proof", "live", "quiet"}, QUIET_PROOFS),
        ({"proof", "quiet"}, QUIET_PROOFS),
    ],
)
def test_a_proof_runs_where_its_marks_belong(marks: set[str], stage: Stage) -> None:
    assert proving(marks) == stage


def test_what_was_not_begun_is_named_oldest_first_with_the_next_command() -> None:
    sharing = Unit(QUIET_PROOFS, {"shared 1": 90.0, "shared 2": 0.0}, NEVER)
    left = [unit("younger", 30, 2), unit("endless", math.inf, 1), sharing]
    assert not_begun(left, 2.5) == [
        "Not begun, for they do not fit into what is left of 2.5 min (4):",
        "  never tried, about 1 min 30 s: shared 1 and 1 that go with it",
        "  2026-11-02 00:00, without a limit: endless",
        "  2026-11-03 00:00, about 30 s: younger",
        "Go on with: make proofs MINUTES=2.5",
        "What needs more than all of it: make proofs ONLY='TEST'",
    ]
    many = [unit(str(place), 1) for place in range(AT_ONCE + 3)]
    assert not_begun(many, 1)[AT_ONCE:] == [
        f"  2026-11-01 00:00, about 1 s: {AT_ONCE - 1}",
        "  and 3 more",
        "Go on with: make proofs MINUTES=1",
    ]


def test_what_only_some_proofs_need_is_made_for_these_alone() -> None:
    marks = (("plain", "proof"), ("pods", "kubernetes"), ("booted", "vm"))
    plain, pods, booted = (Known(name, frozenset({mark})) for name, mark in marks)
    without = ["engine", "tools"]
    assert [each.name for each in needed(PREPARATIONS, [plain])] == without
    assert [each.name for each in needed(PREPARATIONS, [plain, pods])] == [*without, "build"]
    assert [each.name for each in needed(PREPARATIONS, [booted])] == [*without, "vm tools"]
