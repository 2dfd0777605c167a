"""Loads of which no run could be valid are refused, and odd ones are told, with what to write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dunnage.analysis.steady import flatness
from dunnage.errors import Problem, StudyError
from dunnage.model.load import WINDOW
from dunnage.model.record import Window
from dunnage.study.enough import LEAST_SECONDS, never_valid, operations_needed
from dunnage.study.read import odd, read_stored_study, read_study
from offers import OFFER

TEXT = """\
dunnage: 1
name: worth
testbed: {kind: namespace, hosts: {db: 3, client: 1}}
database: {kind: redis, topology: replicas, members: 3}
deployments:
  native: {platform: native}
  docker: {platform: docker, network: bridge}
twin: native
workloads: [A, C]
records: 1000
load: {LOAD}
"""
TIMED, LOADING = "threads: [32], duration: 4s", "{name: loading, phase: load}"


def study(load: str, *pairs: tuple[str, str]) -> str:
    text = TEXT.replace("LOAD", load)
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def refused(text: str) -> tuple[Problem, ...]:
    with pytest.raises(StudyError) as raised:
        read_study(text, "study.yaml", OFFER)
    # Whatever came of it, the study of a result can be read.
    read_stored_study(text, "study.yaml", OFFER)
    return raised.value.problems


def told(text: str) -> tuple[Problem, ...]:
    return odd(text, read_study(text, "study.yaml", OFFER))


@pytest.mark.parametrize(
    ("load", "line", "what", "hint"),
    [
        (
            "threads: [64], operations: 32",
            11,
            "32 operations leave 32 of 64 threads without work",
            "operations: 64000",
        ),
        ("threads: [1], operations: 1", 11, "fewer than 60 operations cannot", "operations: 1000"),
        ("threads: [8], duration: 1s", 11, "a run of 1.0 s is too short", "`duration: 2s`"),
        ("rate: [2000], operations: 1", 11, "1 operation at 2000 op/s take 0.0005 s", "20000"),
        ("rate: [20], operations: 50", 11, "a run of 2.5 s at 20 op/s has 50", "operations: 200"),
        ("rate: [3], duration: 4s", 11, "at 3 op/s has 12 operations; fewer than 67", "[17]"),
        ("rate: [0.00001%], duration: 4s", 11, "`rate` number 1 is less than 0.1 %", "[60%]"),
        ("rate: [1e12], duration: 4s", 11, "no client starts 1e+12 operations", "at most `1000"),
        ("search: {start: 1e12}", 11, "no client starts 1e+12 operations", "at most `1000"),
        (f"{TIMED}, timeout: 1us", 11, "so a shorter `timeout` is not kept", "timeout: 10s"),
    ],
)
def test_a_load_of_which_no_run_could_be_valid_is_refused_with_what_to_write(
    load: str, line: int, what: str, hint: str
) -> None:
    (problem,) = refused(study(load))
    assert problem.line == line
    assert what in problem.what
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("load", "pair", "line", "what", "hint"),
    [
        (
            "threads: [64], duration: 4s",
            ("records: 1000", "records: 10"),
            9,
            "the 10 records of `loading` leave 54 of 64 threads without work",
            "records: 64000",
        ),
        (
            "rate: [2000], duration: 4s",
            ("records: 1000", "records: 100"),
            9,
            "at 2000 op/s, the 100 records of `loading` are in after 50 ms",
            "records: 20000",
        ),
        (
            "threads: [2, 8], duration: 4s",
            ("client: 1", "client: 3"),
            11,
            "3 clients cannot share 2 `threads`: each needs one",
            "write at least `threads: [3]`, or `client: 2`",
        ),
        (
            "rate: [500], connections: 2, duration: 4s",
            ("client: 1", "client: 3"),
            11,
            "3 clients cannot share 2 `connections`",
            "`connections: 3`, or `client: 2`",
        ),
        (
            "rate: [60%], calibration: {threads: 2}, duration: 4s",
            ("client: 1", "client: 3"),
            11,
            "3 clients cannot share 2 `threads`",
            "`threads: 3`, or `client: 2`",
        ),
    ],
)
def test_it_is_judged_with_the_records_and_the_clients(
    load: str, pair: tuple[str, str], line: int, what: str, hint: str
) -> None:
    (problem,) = refused(study(load, ("[A, C]", f"[A, {LOADING}]"), pair))
    assert problem.line == line
    assert what in problem.what
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("load", "line", "what", "hint"),
    [
        (
            "threads: [8], warmup: 60s, duration: 4s",
            11,
            "the warm-up of every run (1 min 00 s) is longer than what is measured (4.0 s)",
            "`conditioning: 60s`",
        ),
        (
            "threads: [64], operations: 128",
            11,
            "128 operations of 64 threads last only if each takes 500 ms",
            "operations: 64000",
        ),
        (
            "rate: [3], duration: 60s",
            11,
            "3 op/s leave windows of 200 ms without an operation",
            "write at least `rate: [5]`",
        ),
        (
            "threads: [2000], duration: 4s",
            10,
            "2000 operations in flight on 1000 records wait for one another",
            "records: 2000000",
        ),
    ],
)
def test_an_odd_load_is_read_and_told(load: str, line: int, what: str, hint: str) -> None:
    (problem,) = told(study(load))
    assert problem.line == line
    assert what in problem.what
    assert hint in problem.hint


@pytest.mark.parametrize(
    "load",
    [
        TIMED,
        "threads: [8], operations: 2000",
        "threads: [1], duration: 1.2s",
        "rate: [17, 2000, 0.1%, 200%], duration: 4s",
        "search: {start: 1}",
        "threads: [8], turns: 200ms, duration: 1s",
    ],
)
def test_a_load_that_makes_sense_is_neither_refused_nor_told(load: str) -> None:
    assert told(study(load, ("records: 1000", "records: 1000\nsampler: {rate: 20Hz}"))) == ()


@given(number=st.integers(6, 300), operations=st.integers(1, 5000))
def test_what_is_called_too_few_is_what_the_gate_cannot_judge(number: int, operations: int) -> None:
    over = [at * operations // number for at in range(number + 1)]
    windows = [
        Window(start=at * WINDOW, length=WINDOW, operations=over[at + 1] - over[at], errors=0)
        for at in range(number)
    ]
    enough = operations >= operations_needed(number * WINDOW)
    assert (flatness(windows) is not None) == enough


def test_the_bound_is_the_shortest_run_that_has_enough_windows() -> None:
    assert LEAST_SECONDS == 1.2
    assert operations_needed(LEAST_SECONDS) == 60
    assert never_valid(50.0, LEAST_SECONDS) == ""
    assert never_valid(49.0, LEAST_SECONDS)
