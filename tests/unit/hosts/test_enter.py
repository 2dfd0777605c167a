"""What is waited for when a program is started inside a host, with a script as the engine."""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dunnage.errors import RunError
from dunnage.hosts.first_process import FirstProcess
from dunnage.hosts.namespace import enter
from dunnage.hosts.namespace.enter import Door

INIT = 'if [ "$1" = init ]; then echo "host $$"; echo ready; exec cat; fi'
REPORT = 'while [ "$1" != --report ]; do shift; done'
BEGUN = 'echo "outer $$" >&"$2"; sleep 0.1; echo "inner 7" >&"$2"; eval "exec $2>&-"; echo done'
STUCK = 'echo "outer $$" >&"$2"; exec sleep 60'

Way = Callable[[str], Door]


@pytest.fixture
def way(tmp_path: Path) -> Iterator[Way]:
    """Makes a door whose engine does what is asked for when it enters."""
    begun: list[FirstProcess] = []

    def made(script: str) -> Door:
        engine = tmp_path / "engine"
        engine.write_text("\n".join(("#!/bin/bash", INIT, REPORT, script, "")))
        engine.chmod(0o755)
        begun.append(FirstProcess(engine, "db-1", tmp_path, tmp_path, ()))
        begun[-1].ready()
        return Door(engine, "db-1", begun[-1])

    yield made
    for each in begun:
        each.end()


def test_a_program_whose_machine_stood_still_meanwhile_is_waited_for(
    way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = way(BEGUN)
    real, over = select.select, iter([True] * 20)

    def jumped(*arguments: Any) -> object:
        return ([], [], []) if next(over, False) else real(*arguments)

    monkeypatch.setattr(select, "select", jumped)
    assert door.complete(["true"], (), timeout=30.0).stdout == "done\n"
    assert not next(over, False)


def test_a_program_that_never_begins_is_given_up_and_killed(
    way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = way(STUCK)
    monkeypatch.setattr(enter, "_WAIT", 0.01)
    with pytest.raises(RunError, match="db-1: a program cannot be started: its unit may be frozen"):
        door.complete(["true"], (), timeout=30.0)
