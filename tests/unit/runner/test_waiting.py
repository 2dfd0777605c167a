"""A generator that ends by itself may take as long as it goes on; one that hangs is given up."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from stage import Hand, Prompter

from dunnage.contracts.host import Completed
from dunnage.errors import RunError, StayError
from dunnage.generators.engine import EngineGenerator
from dunnage.model.load import Command
from dunnage.runner.waiting import LOG, wait, wait_while_it_goes_on

COMMAND = Command(argv=("load",), directory="/scratch/loading")
PATIENCE = 40.0


class Loading:
    """A generator that has had `answered(seconds)` operations answered after so many seconds."""

    def __init__(
        self, answered: Callable[[float], int], seconds: float = 1e9, code: int = 0
    ) -> None:
        self.clock = Hand()
        self.began = self.clock.now()
        self.answered = answered
        self.seconds = seconds
        self.code = code
        self.looks = 0
        self.platform = Prompter()

    @property
    def lasted(self) -> float:
        return self.clock.now() - self.began

    @property
    def part(self) -> Any:
        unknown = Completed(1, "", "stat: no such file")
        host = SimpleNamespace(name="client-1", get=self._get, run=lambda _: unknown)
        return host, COMMAND, self

    @property
    def stay(self) -> Any:
        testbed = SimpleNamespace(clock=self.clock)
        equipment = SimpleNamespace(testbed=testbed, generator=EngineGenerator())
        return SimpleNamespace(equipment=equipment, platform=self.platform)

    def wait(self, timeout: float) -> int:
        """What a process does."""
        left = self.began + self.seconds - self.clock.now()
        self.clock.sleep(min(timeout, left))
        if left > timeout:
            raise TimeoutError
        return self.code

    def _get(self, path: str) -> bytes:
        assert path == f"{COMMAND.directory}/{LOG}"
        self.looks += 1
        told = {"elapsed": self.lasted, "operations": self.answered(self.lasted)}
        return b"a warning\n" + json.dumps(told).encode() + b'\n{"elapsed": 5'


def test_while_it_goes_on_it_may_take_hours() -> None:
    loading = Loading(lambda seconds: int(seconds / 30), seconds=5 * 3600.0)
    wait_while_it_goes_on(loading.stay, loading.part, PATIENCE)
    assert loading.lasted == 5 * 3600.0


def test_one_that_stands_still_is_given_up_with_what_where_and_what_to_do() -> None:
    loading = Loading(lambda seconds: min(12_000, int(1000 * seconds)))
    with pytest.raises(RunError) as given_up:
        wait_while_it_goes_on(loading.stay, loading.part, PATIENCE)
    assert given_up.value.where == "client-1"
    assert "no operation was answered for 40 s, after 12,000 that were" in given_up.value.what
    assert "a longer `timeout` under `load`" in given_up.value.what
    assert loading.lasted <= 12.0 + PATIENCE + 10.0


def test_one_that_never_tells_anything_is_given_up_too() -> None:
    loading = Loading(lambda _: 0)
    with pytest.raises(RunError, match="after 0 that were"):
        wait_while_it_goes_on(loading.stay, loading.part, PATIENCE)
    assert loading.lasted <= PATIENCE + 10.0


def test_a_member_that_died_is_noticed_while_loading() -> None:
    loading = Loading(lambda _: 0)
    loading.platform = Prompter(dead="redis-1")
    with pytest.raises(StayError, match="out of memory"):
        wait_while_it_goes_on(loading.stay, loading.part, PATIENCE)


def test_one_that_fails_is_told_with_what_it_wrote() -> None:
    loading = Loading(lambda _: 0, seconds=2.0, code=1)
    with pytest.raises(RunError, match="ended with code 1: a warning"):
        wait_while_it_goes_on(loading.stay, loading.part, PATIENCE)


def test_one_with_a_set_time_is_not_asked_and_given_up_when_that_is_over() -> None:
    loading = Loading(lambda seconds: int(seconds))
    with pytest.raises(RunError, match="the generator did not end within 60 s"):
        wait(loading.stay, loading.part, 60.0)
    assert loading.looks == 0
    ended = Loading(lambda _: 0, seconds=59.5)
    wait(ended.stay, ended.part, 60.0)
    assert ended.lasted == 59.5


def test_one_that_fails_without_a_log_is_told_as_one_that_fails() -> None:
    def gone(path: str) -> bytes:
        raise FileNotFoundError(path)

    loading = Loading(lambda _: 0, seconds=2.0, code=1)
    host, *part = loading.part
    host.get = gone
    with pytest.raises(RunError, match="ended with code 1: it wrote nothing"):
        wait(loading.stay, (host, *part), 10.0)
