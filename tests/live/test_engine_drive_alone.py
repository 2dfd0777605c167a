"""The verb `drive` at a terminal, interrupted, and beside others of its kind, on a real Redis."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from own_redis import RECORDS, Place, opened
from own_servers import ENVIRONMENT

from dunnage.software.engine import engine_path

pytestmark = pytest.mark.live

ADDRESS = ("redis://127.0.0.1", "-p", f"recordcount={RECORDS}")
READS = (*ADDRESS, "--workload", "c")
EARLY = 3
"""The exit code of a load that ended early, with results."""
SILENT = 5
"""Likewise of one at whose end the database did not answer."""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with opened(tmp_path) as home:
        home.start(6379)
        yield home


def driving(place: Place, out: Path, *words: str, **options: Any) -> subprocess.Popen[str]:
    """An engine that drives the database, and writes into `out`."""
    argv = place.inside(str(engine_path()), "drive", *words, "--out", str(out))
    pipe = subprocess.PIPE
    given: dict[str, Any] = {"stdout": pipe, "stderr": pipe, "env": ENVIRONMENT} | options
    return subprocess.Popen(argv, text=True, **given)


def made(place: Place, out: Path, *words: str) -> str:
    """What is printed of a load that ends well."""
    engine = driving(place, out, *words)
    printed, said = engine.communicate()
    assert engine.returncode == 0, said
    return printed


def summary(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return found


def shown(master: int) -> str:
    """All that a terminal was told, once nobody tells it more."""
    told = b""
    while True:
        try:
            told += os.read(master, 65536)
        except OSError:  # the other end is closed
            return told.decode()


def test_a_terminal_shows_how_the_load_goes_and_is_left_clean(place: Place) -> None:
    made(place, place.directory / "loaded", *ADDRESS, "load", "--workload", "c")
    master, terminal = pty.openpty()
    words = (*READS, "--time", "3s", "--threads", "2")
    environment = ENVIRONMENT | {"TERM": "xterm"}
    engine = driving(place, place.directory / "run", *words, stderr=terminal, env=environment)
    os.close(terminal)
    told = shown(master)
    os.close(master)
    assert engine.wait() == 0, told
    assert engine.stdout is not None
    engine.stdout.close()
    assert "connecting to `127.0.0.1:6379`" in told
    line = r"running (\d+) s: (\d+) operations, \d+/s, 0 errors, p99 [\d.]+ [µm]?s"
    lines = re.findall(line, told)
    assert lines, told
    seconds = [int(second) for second, _ in lines]
    assert seconds == sorted(set(seconds))
    count = summary(place.directory / "run")["operations"]["all"]["count"]
    assert max(int(operations) for _, operations in lines) <= count
    # What stands after the last line that was taken away is the message of the end.
    last = told.rpartition("\x1b[K")[2]
    assert last.startswith("dunnage-engine: "), told
    assert f"{count} operations and 0 errors" in told


def test_an_interrupted_load_has_counted_what_the_server_answered(place: Place) -> None:
    made(place, place.directory / "loaded", *ADDRESS, "load", "--workload", "c")
    out = place.directory / "run"
    engine = driving(place, out, *READS, "--time", "1h", "--threads", "4")
    place.until((out / "latency.hlog").exists, "the load")
    engine.send_signal(signal.SIGINT)
    printed, said = engine.communicate()
    assert engine.returncode == EARLY, said
    assert "ended early by a signal" in said
    found = summary(out)
    assert found["ended_early"] is True
    answered = found["operations"]["all"]["count"]
    assert f"{answered} operations in " in printed
    # Those in flight at the end are told apart.
    unfinished = found["operations"]["all"]["unfinished"]
    assert place.calls(6379, "hgetall") == answered + unfinished
    assert unfinished <= 4


def shared(place: Place, seconds: float) -> tuple[float, list[dict[str, Any]]] | None:
    """What two engines made of a load that begins in so many seconds, and when.

    None where one of them was connected too late.
    """
    start = time.time() + seconds
    together = ("load", "--workload", "a", "--threads", "4", "--seed", "7")
    outs = [place.directory / f"part-{part}-{seconds}" for part in (1, 2)]
    engines = [
        driving(
            place,
            out,
            *(*ADDRESS, *together),
            *("--part", f"{part}/2", "--start", f"{start:.6f}"),
        )
        for part, out in enumerate(outs, start=1)
    ]
    said = [engine.communicate()[1] for engine in engines]
    if any("give a later `start`" in one for one in said):
        place.cli(6379, "flushall")
        place.cli(6379, "config", "resetstat")
        return None
    assert [engine.returncode for engine in engines] == [0, 0], said
    return start, [summary(out) for out in outs]


def test_engines_that_share_a_load_begin_at_one_instant_and_insert_each_record_once(
    place: Place,
) -> None:
    # A busy machine may need a later start.
    begun = next(filter(None, (shared(place, seconds) for seconds in (5.0, 20.0, 80.0))), None)
    assert begun is not None, "the engines are connected within 80 s"
    start, found = begun
    assert place.cli(6379, "dbsize") == str(RECORDS + 1)  # with the index
    assert place.calls(6379, "hset") == RECORDS
    assert sum(each["operations"]["insert"]["count"] for each in found) == RECORDS
    assert [each["began"] for each in found] == pytest.approx([start, start], abs=1e-5)
    assert min(each["started"] for each in found) >= start - 1e-5


def test_the_same_load_is_printed_in_each_form(place: Place) -> None:
    made(place, place.directory / "loaded", *ADDRESS, "load", "--workload", "c")
    words = (*READS, "--operations", "300", "--threads", "3")
    forms = {
        form: made(place, place.directory / form, *words, "--format", form)
        for form in ("text", "json", "ycsb")
    }
    assert "redis run: 300 operations in " in forms["text"]
    assert json.loads(forms["json"]) == summary(place.directory / "json")
    assert "[READ], Operations, 300\n" in forms["ycsb"]
    assert "[READ], Return=OK, 300\n" in forms["ycsb"]


def test_a_database_that_is_gone_before_the_end_is_told(place: Place, tmp_path: Path) -> None:
    made(place, tmp_path / "load", ADDRESS[0], "load", *ADDRESS[1:], "--workload", "c")
    timed = ("--rate", "500", "--time", "8s", "--timeout", "1s", "--interval", "200ms")
    engine = driving(place, tmp_path / "gone", *READS, *timed)
    place.until(lambda: place.calls(6379, "hgetall") > 100, "a load")
    place.servers[-1].kill()
    printed, said = engine.communicate()
    assert engine.returncode == SILENT, said
    assert "nothing was answered after " in said
    assert "over capacity" not in printed
    found = summary(tmp_path / "gone")
    assert 0 < found["silent_from"] <= 7
    assert not found["over_capacity"]
    answered = found["operations"]["read"]["count"]
    assert 100 <= answered <= 1 + 500 * found["silent_from"]  # the first one is at its beginning


def test_records_that_nobody_has_loaded_are_to_be_loaded(place: Place, tmp_path: Path) -> None:
    words = (*ADDRESS, "--workload", "a", "--operations", "100")
    engine = driving(place, tmp_path / "empty", *words)
    _, said = engine.communicate()
    assert engine.returncode == 0, said
    absent = summary(tmp_path / "empty")["operations"]["all"]["errors"]["not_found"]
    told = f"{absent} operations found no record where one should be; `load` after the address"
    assert told in said
    part = driving(place, tmp_path / "part", ADDRESS[0], "load", *ADDRESS[1:], "--operations", "10")
    _, said = part.communicate()
    assert part.returncode == 0, said
    assert f"only 10 of {RECORDS} records are known to be in; without --time" in said
