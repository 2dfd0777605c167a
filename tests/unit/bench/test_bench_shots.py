"""One client: on one processor, by the kernel's account; and clients in turns."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import pytest
from engine.shots import Processors, Ran, Shot, in_turns, processors, ran, started, told

LAST = max(os.sched_getaffinity(0))


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_shot_tells_what_an_operation_costs() -> None:
    shot = Shot(200, 4.0, 0.5)
    assert shot.cpu_per_operation == 0.0025
    assert shot.throughput == 50


def test_clients_take_turns_in_an_order_that_alternates() -> None:
    order: list[str] = []

    def take(name: str) -> Shot:
        order.append(name)
        return Shot(len(order), 1, 1)

    taken = in_turns({name: partial(take, name) for name in "abc"}, 3)
    assert order == list("abccbaabc")
    assert {name: [shot.operations for shot in shots] for name, shots in taken.items()} == {
        "a": [1, 6, 7],
        "b": [2, 5, 8],
        "c": [3, 4, 9],
    }


def test_server_and_clients_have_a_processor_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5, 2, 3})
    assert processors() == Processors(server=2, client=5)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2})
    with pytest.raises(SystemExit, match="a processor each"):
        processors()


def test_a_client_runs_on_one_processor_and_this_process_as_before() -> None:
    before = os.sched_getaffinity(0)
    done = ran(python("import os; print(os.sched_getaffinity(0))"), LAST)
    assert done.said == f"{{{LAST}}}\n"
    assert os.sched_getaffinity(0) == before


def test_a_program_elsewhere_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.sched_getaffinity
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1} if pid else own(0))
    with pytest.raises(SystemExit, match=r"`sleep 60`: it runs on \[0, 1\], not on \d+ alone"):
        started(["sleep", "60"], LAST)


def test_all_of_a_clients_processor_time_counts_also_that_of_its_children() -> None:
    burns = "import time\nwhile time.process_time() < 0.05: pass"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burns!r}])"
    assert ran(python(burns), LAST).cpu >= 0.049
    assert ran(python(child), LAST).cpu >= 0.049


def test_a_client_reads_what_it_is_given() -> None:
    assert ran(["cat"], LAST, b"a request").said == "a request"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import sys; print('one\\nlast', file=sys.stderr); sys.exit(3)", "last$"),
        ("import os; os._exit(3)", "exit code 3$"),
        ("import os; os.kill(os.getpid(), 9)", "exit code -9$"),
    ],
)
def test_a_client_that_fails_is_told_with_its_last_words(code: str, told: str) -> None:
    with pytest.raises(SystemExit, match=told):
        ran(python(code), LAST)


def test_a_client_that_does_not_end_is_ended() -> None:
    with pytest.raises(SystemExit, match=r"`sleep 60`: it had not ended after 0\.2 s"):
        ran(["sleep", "60"], LAST, limit=0.2)


def test_a_wait_that_is_interrupted_leaves_no_client(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    waited: list[int] = []

    def interrupted(pid: int, _: int) -> None:
        waited.append(pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "wait4", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ran(["sleep", "60"], LAST)
    assert len(waited) == 1
    assert not Path(f"/proc/{waited[0]}").exists()


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(SystemExit, match="`/no/such`: No such file or directory"):
        started(["/no/such"], LAST)


def test_a_client_may_tell_its_shot_itself() -> None:
    assert told(Ran('{"operations": 8, "seconds": 2.5}\n', 0.5)) == Shot(8, 2.5, 0.5)
