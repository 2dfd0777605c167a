"""The verb `drive` of the engine against a real Redis: what one types who has no study."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bursts import insist_on_recovery
from own_redis import RECORDS, Place, opened, order
from own_servers import summed_up, told

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


def test_a_database_is_loaded_and_driven_by_a_workload_file_and_its_plan_makes_it_again(
    place: Place,
) -> None:
    place.password = PASSWORD
    place.start(6379, lines=(f"requirepass {PASSWORD}",))
    workload = place.directory / "workload"
    workload.write_text(WORKLOAD)
    common = ("drive", "redis://127.0.0.1", "-P", str(workload), "--threads", "4")
    loaded, said = place.typed(*common, "load", DUNNAGE_PASSWORD=PASSWORD)
    assert f"{RECORDS} operations and 0 errors" in said
    assert place.cli(6379, "dbsize") == str(RECORDS + 1)  # with the index
    run, _ = place.typed(*common, DUNNAGE_PASSWORD=PASSWORD)
    again, _ = place.typed("load", "--plan", str(run / "plan.json"), DUNNAGE_PASSWORD=PASSWORD)
    for out in (run, again):
        found = told(out)
        assert found["errors"] == {}
        assert sum(found["operations"].values()) == 1000
        assert found["remotes"] == ["127.0.0.1:6379"]
    for out in (loaded, run, again):
        assert not [file for file in out.iterdir() if MARK.encode() in file.read_bytes()]


@pytest.mark.parametrize("core", ["A", "B", "C", "D", "E", "F"])
def test_a_core_workload_is_the_same_one_in_a_study(core: str) -> None:
    words = ("--workload", core.lower(), "-p", f"recordcount={RECORDS}", "--dry-run")
    argv = (str(engine_path()), "drive", "redis://127.0.0.1", *words)
    made = subprocess.run(argv, check=True, capture_output=True, text=True)
    typed, of_a_study = json.loads(made.stdout)["workload"], order(core)["workload"]
    if not typed["mix"]["scan"]:
        del typed["scan_lengths"], of_a_study["scan_lengths"]
    assert typed == of_a_study


def test_a_burst_and_a_ramp_are_offered_and_counted(place: Place) -> None:
    place.start(6379)
    common = ("drive", "redis://127.0.0.1", "--workload", "c", "-p", f"recordcount={RECORDS}")
    place.typed(*common, "load")
    for words, intended in (
        (("--burst", "800", "--rate", "200"), 500),
        (("--ramp", "100..500", "--arrivals", "constant"), 300),
    ):
        found = told(place.typed(*common, "--time", "1s", *words)[0])
        assert found["errors"] == {}
        assert found["intended"] == intended
        assert sum(found["operations"].values()) + found["backlog"] == intended


def test_a_burst_beyond_what_redis_can_answer_leaves_a_backlog_that_is_worked_off(
    place: Place,
) -> None:
    place.start(6379)
    common = ("drive", "redis://127.0.0.1", "--workload", "c", "-p", f"recordcount={RECORDS}")
    place.typed(*common, "load")
    one = ("--connections", "1", "--arrivals", "constant", "--seed", "1")
    burst = ("--burst", "400000", "--burst-time", "100ms", "--rate", "10", "--time", "30s")
    found = told(place.typed(*common, *one, *burst)[0])
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
    place.typed(*common, "load")
    more_than_one_connection_can = ("--rate", "200000", "--connections", "1")
    out, said = place.typed(
        *common, "--time", "500ms", "--policy", "drop", *more_than_one_connection_can
    )
    found = told(out)
    answered, dropped = found["operations"]["read"], found["dropped"]["read"]
    assert answered > 0
    assert f"and {dropped} left out," in said
    assert answered + dropped + found["backlog"] == found["intended"] == 100_000


@pytest.mark.proof
@pytest.mark.quiet
@pytest.mark.timeout(900)
def test_the_backlog_of_a_minute_is_worked_off_and_nothing_of_it_is_lost(place: Place) -> None:
    place.start(6379)
    place.typed(
        "drive", "redis://127.0.0.1", "load", "--workload", "c", "-p", f"recordcount={RECORDS}"
    )
    insist_on_recovery(place, "redis://127.0.0.1", RECORDS)


def searched(place: Place, goal: str, *words: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The summary of a search, once the server has counted what it says, and its loads in order."""
    place.start(6379)
    common = ("drive", "redis://127.0.0.1", "--workload", "c", "-p", f"recordcount={RECORDS}")
    place.typed(*common, "load")
    out, _ = place.typed(*common, "--search", goal, "--time", "500ms", *words)
    probes = [told(probe) for probe in sorted(out.glob("probe-*"))]
    answered = sum(sum(probe["operations"].values()) for probe in probes)
    # What is under way at an edge of a window, and all of the warm-up, is not in the results.
    assert place.calls(6379, "hgetall") >= answered > 0
    summary = summed_up(out)
    assert summary["operations"]["all"]["errors"] == {}
    return summary, probes


def test_the_rate_that_is_found_was_answered_and_the_next_one_was_not(place: Place) -> None:
    summary, loads = searched(place, "sustained", "--search-precision", "1")
    search = summary["search"]
    assert search["ended"] in ("found", "engine")
    kept = [probe["rate"] for probe in search["probes"] if not probe["refusals"]]
    refused = [probe["rate"] for probe in search["probes"] if probe["refusals"]]
    assert search["rate"] == max(kept) == summary["level"]["rate"]
    assert min(rate for rate in refused if rate not in kept) <= 2 * search["rate"]
    found = [
        sum(each["operations"] for each in load["windows"] if each["start"] >= -1e-9)
        for load, probe in zip(loads, search["probes"], strict=True)
        if probe["rate"] == search["rate"] and not probe["refusals"]
    ]
    # One of a hundred may be missing, and two at the edges of the window.
    assert min(found) >= 0.99 * search["rate"] * summary["seconds"] - 2


def test_more_threads_than_those_that_are_found_bring_no_more(place: Place) -> None:
    summary, _ = searched(place, "throughput")
    found = summary["saturation"]
    assert found["ended"] in ("found", "engine")
    assert [probe["threads"] for probe in found["probes"]] == [
        2**number for number in range(len(found["probes"]))
    ]
    throughput = {probe["threads"]: probe["throughput"] for probe in found["probes"]}
    assert found["throughput"] == throughput[found["threads"]] == summary["throughput"]
    assert summary["level"] == {"kind": "threads", "threads": found["threads"]}
    assert found["highest"] == max(throughput.values()) <= 1.05 * found["throughput"]
    fewer = [each for threads, each in throughput.items() if threads < found["threads"]]
    assert all(1.05 * each < max(throughput.values()) for each in fewer)
