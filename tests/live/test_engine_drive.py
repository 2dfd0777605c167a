"""The verb `drive` of the engine against a real Redis: what one types who has no study."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from own_redis import RECORDS, Place, opened
from own_servers import ENVIRONMENT

from dunnage.software.engine import engine_path

pytestmark = pytest.mark.live

MARK = "GEHEIM"
PASSWORD = f"{MARK}-of-the-server"
WORKLOAD = f"""# as YCSB's workload A, for few records
recordcount={RECORDS}
operationcount=1000
workload=site.ycsb.workloads.CoreWorkload
readproportion=0.5
updateproportion=0.5
requestdistribution=zipfian
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with opened(tmp_path) as home:
        yield home


def typed(place: Place, *words: str, **variables: str) -> tuple[Path, str]:
    """The directory of a load that ended well, and what was said of it."""
    out = place.directory / f"load-{len(list(place.directory.iterdir()))}"
    argv = place.inside(str(engine_path()), *words, "--out", str(out))
    environment = ENVIRONMENT | variables
    done = subprocess.run(argv, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return out, done.stderr


def result(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "result.json").read_text())
    return found


def test_a_database_is_loaded_and_driven_by_a_workload_file_and_its_plan_makes_it_again(
    place: Place,
) -> None:
    place.password = PASSWORD
    place.start(6379, lines=(f"requirepass {PASSWORD}",))
    workload = place.directory / "workload"
    workload.write_text(WORKLOAD)
    common = ("drive", "redis://127.0.0.1", "-P", str(workload), "--threads", "4")
    loaded, said = typed(place, *common, "load", DUNNAGE_PASSWORD=PASSWORD)
    assert f"{RECORDS} operations and 0 errors" in said
    assert place.cli(6379, "dbsize") == str(RECORDS + 1)  # with the index
    run, _ = typed(place, *common, DUNNAGE_PASSWORD=PASSWORD)
    again, _ = typed(place, "load", "--plan", str(run / "plan.json"), DUNNAGE_PASSWORD=PASSWORD)
    for out in (run, again):
        found = result(out)
        assert found["errors"] == {}
        assert sum(found["operations"].values()) == 1000
        assert found["remotes"] == ["127.0.0.1:6379"]
    for out in (loaded, run, again):
        assert not [file for file in out.iterdir() if MARK.encode() in file.read_bytes()]


def test_a_burst_and_a_ramp_are_offered_and_counted(place: Place) -> None:
    place.start(6379)
    common = ("drive", "redis://127.0.0.1", "--workload", "c", "-p", f"recordcount={RECORDS}")
    typed(place, *common, "load")
    for words, intended in (
        (("--burst", "800", "--rate", "200"), 500),
        (("--ramp", "100..500", "--arrivals", "constant"), 300),
    ):
        found = result(typed(place, *common, "--time", "1s", *words)[0])
        assert found["errors"] == {}
        assert found["intended"] == intended
        assert sum(found["operations"].values()) + found["backlog"] == intended


def test_a_burst_beyond_what_redis_can_answer_leaves_a_backlog_that_is_worked_off(
    place: Place,
) -> None:
    place.start(6379)
    common = ("drive", "redis://127.0.0.1", "--workload", "c", "-p", f"recordcount={RECORDS}")
    typed(place, *common, "load")
    one = ("--connections", "1", "--arrivals", "constant", "--seed", "1")
    burst = ("--burst", "400000", "--burst-time", "100ms", "--rate", "10", "--time", "30s")
    found = result(typed(place, *common, *one, *burst)[0])
    assert found["errors"] == {}
    # One connection answers far fewer than 40,000 in a tenth of a second.
    assert sum(found["late"].values()) > 10_000
    assert sum(found["operations"].values()) + found["backlog"] == found["intended"]
    # With the backlog gone there is no more than the rate.
    assert found["backlog"] <= 1
    assert found["windows"][-1]["operations"] <= 20


def test_what_finds_every_connection_busy_is_left_out_and_counted(place: Place) -> None:
    place.start(6379)
    common = ("drive", "redis://127.0.0.1", "--workload", "c", "-p", f"recordcount={RECORDS}")
    typed(place, *common, "load")
    more_than_one_connection_can = ("--rate", "200000", "--connections", "1")
    out, said = typed(
        place, *common, "--time", "500ms", "--policy", "drop", *more_than_one_connection_can
    )
    found = result(out)
    answered, dropped = found["operations"]["read"], found["dropped"]["read"]
    assert answered > 0
    assert f"and {dropped} left out," in said
    assert answered + dropped + found["backlog"] == found["intended"] == 100_000
