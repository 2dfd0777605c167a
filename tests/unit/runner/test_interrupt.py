"""What Ctrl-C does to a study, and what it must not disturb."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from threading import Event
from typing import Any

import pytest
from rich.console import Console

from dunnage import catalog
from dunnage.errors import InterruptedRunError
from dunnage.runner.interrupt import ENDING, ENDING_NOW, LEAVING, Stop
from dunnage.runner.rest import OF_A_LAB, rest_of
from dunnage.study.read import read_study


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """What the signals did before a study was asked to end, which changes some for good."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGQUIT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_one_signal_is_a_wish_and_the_second_ends_now() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Stop() as stop:
        stop.check()
        assert not stop.requested
        signal.raise_signal(signal.SIGTERM)
        assert stop.requested
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(InterruptedRunError, match="every finished run is kept"):
            stop.check()
        assert stop.count == 2
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT])
def test_a_signal_that_ends_a_study_kills_no_process_that_ends_already(
    number: signal.Signals,
) -> None:
    signal.signal(number, signal.SIG_DFL)
    with Stop() as stop:
        signal.raise_signal(number)
        assert stop.requested
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT])
def test_without_a_signal_all_are_as_they_were(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with Stop():
        assert signal.getsignal(number) is not before
    assert signal.getsignal(number) is before


def test_a_terminal_that_goes_ends_the_study_once_however_often_it_is_told() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # these tests may run under `nohup`
    try:
        with Stop() as stop:
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGHUP)
            assert stop.count == 1
            with pytest.raises(InterruptedRunError):
                stop.check()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT])
def test_a_signal_that_was_ignored_from_the_start_stays_so(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with Stop() as stop:
            signal.raise_signal(number)
            assert not stop.requested
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


def test_words_that_nobody_takes_hold_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dunnage.runner.interrupt._PATIENCE", 0.01)
    taken, told = Event(), list[str]()

    def stopped(words: str) -> None:
        taken.wait()
        told.append(words)

    with Stop(stopped):
        signal.raise_signal(signal.SIGINT)
    assert not told
    taken.set()


def test_words_that_cannot_be_told_do_not_keep_later_ones_back() -> None:
    told: list[str] = []

    def failing(words: str) -> None:
        told.append(words)
        raise BrokenPipeError

    with Stop(failing), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert told == [ENDING, ENDING_NOW]


def test_signals_are_given_back_after_an_error_too() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(InterruptedRunError), Stop() as stop:
        signal.raise_signal(signal.SIGINT)
        stop.check()
    assert signal.getsignal(signal.SIGINT) is before


def test_while_nothing_runs_the_first_signal_ends_at_once() -> None:
    with Stop() as stop, pytest.raises(KeyboardInterrupt), stop.at_once():
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()


def test_the_first_signal_is_acknowledged() -> None:
    told: list[str] = []
    with Stop(told.append) as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.requested
    assert told == [ENDING]


class _Struck(io.RawIOBase):
    """A pipe; while the first bytes are written to it, Ctrl-C is pressed."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        struck, self.written = not self.written, self.written + bytes(data)
        if struck:
            signal.raise_signal(signal.SIGINT)
        return len(data)


def test_a_signal_while_a_line_is_written_is_told_and_disturbs_no_stream() -> None:
    pipe = _Struck()
    console = Console(file=io.TextIOWrapper(io.BufferedWriter(pipe)), width=200)
    with Stop(console.print) as stop:
        console.print("0/8 runs, 1 min left: block 1 · native")
        assert stop.requested
    lines = pipe.written.decode().splitlines()
    assert lines == ["0/8 runs, 1 min left: block 1 · native", ENDING]


def test_the_word_is_told_while_the_program_waits() -> None:
    told = Event()
    with Stop(lambda _: told.set()):
        os.kill(os.getpid(), signal.SIGINT)
        assert told.wait(60)


def test_while_a_scope_is_left_signals_are_told_and_disturb_nothing() -> None:
    told: list[str] = []
    left: list[str] = []

    @contextmanager
    def scope() -> Iterator[str]:
        yield "entered"
        signal.raise_signal(signal.SIGINT)
        left.append("whole")

    with Stop(told.append) as stop:
        with stop.until_left(scope()) as entered:
            assert entered == "entered"
        with pytest.raises(InterruptedRunError):
            stop.check()
    assert left == ["whole"]
    assert told == [LEAVING.format(OF_A_LAB)]


def test_after_a_scope_was_left_the_second_signal_ends_now_again() -> None:
    told: list[str] = []
    with Stop(told.append) as stop:
        with stop.until_left(nullcontext()):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert told == [ENDING, ENDING_NOW]


def _be_left_at_once(first: int) -> None:
    """Insist, after so many signals that begin the end; this does not return, though the words are
    taken by nobody."""
    never = Event()

    def stopped(_: str) -> None:
        never.wait()

    with Stop(stopped) as stop:
        signal.raise_signal(signal.SIGINT)
        with suppress(KeyboardInterrupt, InterruptedRunError):
            stop.check() if first == 1 else signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        os._exit(2)


@pytest.mark.parametrize("first", [1, 2])
def test_who_insists_while_it_is_still_removing_ends_it_at_once(first: int) -> None:
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            _be_left_at_once(first)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130


LAB = """\
dunnage: 1
name: own
testbed: {kind: namespace, hosts: {db: 1, client: 1}}
database: {kind: redis, topology: single, image: 'redis:7.0'}
deployments:
  bound: {platform: docker}
workloads: [A]
load: {threads: [1], duration: 2s}
"""
DAEMONS = (
    f"{LAB}substrate:\n  docker: {{kind: existing, contexts: {{db-1: mine, client-1: theirs}}}}\n"
)
NODES = LAB.replace(
    "{kind: namespace, hosts", "{kind: nodes, context: my cluster, image: busy, hosts"
).replace("platform: docker", "platform: kubernetes")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (LAB, OF_A_LAB),
        (
            DAEMONS,
            f"{OF_A_LAB}; daemons of `mine`, `theirs` keep what bears the label `dunnage.stay`",
        ),
        (
            NODES,
            "`dunnage clean --context 'my cluster' --yes` removes the rest in the cluster, which "
            "bears the label `dunnage.testbed` or `dunnage.stay`",
        ),
    ],
    ids=["lab", "daemons", "nodes"],
)
def test_who_insists_is_told_what_removes_the_rest_of_these_hosts(text: str, rest: str) -> None:
    told: list[str] = []
    with Stop(told.append, rest_of(read_study(text, "study.yaml", catalog.OFFER))) as stop:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(InterruptedRunError):
            stop.check()
        signal.raise_signal(signal.SIGINT)
    assert told == [ENDING, LEAVING.format(rest)]
    assert "`dunnage clean" in told[1]
