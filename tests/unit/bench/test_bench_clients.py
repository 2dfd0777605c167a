"""Peers of Cassandra and MongoDB: what each is told, and what is read of what it says."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from engine import go_ycsb, latte, stress, ycsb_client
from engine.asked import Place
from engine.core import Core, CoreAsked
from engine.shots import Ran, Shot
from engine.ycsb_core import YcsbCore

FIXTURES = Path(__file__).parents[2] / "fixtures" / "bench"
LOAD, A, C = (CoreAsked(core, 64, 6400) for core in Core)


def options(words: list[str]) -> dict[str, str]:
    return {name: text for name, text in pairwise(words) if name[0] == "-"}


def test_latte_is_told_the_same() -> None:
    told = options(latte.words(A, Path("/out.json")))
    assert told["--functions"] == "read:0.5,update:0.5"
    assert (told["--duration"], told["--warmup"], told["--concurrency"]) == ("6400", "0", "64")
    assert (told["--threads"], told["--connections"], told["-P"]) == ("1", "1", "records=10000")
    functions = [options(latte.words(each, Path("/o")))["--functions"] for each in (LOAD, C)]
    assert functions == ["insert", "read"]


def test_the_script_of_latte_has_what_it_is_told_to_do() -> None:
    script = latte._SCRIPT.read_text()
    assert all(f"pub async fn {name}(ctx, i)" in script for name in ("insert", "read", "update"))
    assert script.count("latte::blob(h + 9, 100)") == 2
    assert "SELECT * FROM ${TABLE} WHERE y_id = ? LIMIT 1" in script  # as the engine reads


def test_latte_tells_operations_and_seconds() -> None:
    result = {"request_count": 64, "elapsed_time_s": 0.5, "error_count": 0, "errors": []}
    assert latte.told(json.dumps({"result": result})) == (64, 0.5)
    failed = {**result, "error_count": 1, "errors": ["timeout"]}
    with pytest.raises(SystemExit, match=r"operations of latte failed: .*timeout"):
        latte.told(json.dumps({"result": failed}))


def test_cassandra_stress_is_told_the_same() -> None:
    common = "no-warmup cl=ONE n=6400 -pop"
    sizes = (
        "-col n=FIXED(10) size=FIXED(100) -rate threads=64 -mode native cql3 connectionsPerHost=1 "
        "-errors skip-read-validation -node 127.0.0.1"
    )
    assert [" ".join(stress.words(stress.FIXED, asked)) for asked in (LOAD, A, C)] == [
        f"write {common} seq=1..6400 {sizes}",
        f"mixed ratio(write=1,read=1) {common} dist=UNIFORM(1..10000) {sizes}",
        f"read {common} dist=UNIFORM(1..10000) {sizes}",
    ]
    of_cql_stress = " ".join(stress.words(stress.PLAIN, C))
    assert "n=10 size=FIXED(100)" in of_cql_stress
    assert "skip-read-validation" not in of_cql_stress  # it has no such word


def test_cassandra_stress_tells_its_results() -> None:
    said = (FIXTURES / "cassandra-stress.txt").read_text()
    assert stress.shot(Ran(said, 2.0)) == Shot(3200, 3200 / 713, 2.0)


def test_cql_stress_tells_its_results_in_its_own_words() -> None:
    said = (
        "Results:\nOp rate                   :     1280 op/s\n"
        "Latency mean              :    6.1 ms\n"
        "Total operations          :       6400\nTotal errors              :          0\n"
    )
    assert stress.shot(Ran(said, 2.0)) == Shot(6400, 5.0, 2.0)
    with pytest.raises(SystemExit, match="failed: 3"):
        stress.shot(Ran(said.replace("         0\n", "         3\n"), 2.0))
    with pytest.raises(SystemExit, match="tells no results: nothing"):
        stress.shot(Ran("nothing", 2.0))


def test_ycsb_is_told_the_same() -> None:
    given = ycsb_client.properties(A)
    assert {name: given[name] for name in ("recordcount", "operationcount", "threadcount")} == {
        "recordcount": "10000",
        "operationcount": "6400",
        "threadcount": "64",
    }
    assert (given["readproportion"], given["updateproportion"]) == ("0.5", "0.5")
    assert given["writeallfields"] == given["readallfields"] == "true"
    assert (given["requestdistribution"], given["insertorder"]) == ("uniform", "ordered")
    assert ycsb_client.properties(LOAD)["recordcount"] == "6400"


def test_ycsb_tells_operations_and_seconds() -> None:
    said = (
        "[OVERALL], RunTime(ms), 2500\n[READ], Operations, 40\n[READ], Return=OK, 40\n"
        "[CLEANUP], Return=OK, 2\n[UPDATE], Return=OK, 24\n"
    )
    assert ycsb_client.shot(Ran(said, 1.5)) == Shot(64, 2.5, 1.5)
    with pytest.raises(SystemExit, match="YCSB failed: READ NOT_FOUND: 3"):
        ycsb_client.shot(Ran(said + "[READ], Return=NOT_FOUND, 3\n", 1.5))
    with pytest.raises(SystemExit, match="YCSB tells no time: broken"):
        ycsb_client.shot(Ran("broken\n", 1.5))


@pytest.mark.parametrize(
    ("asked", "phase", "core"), [(LOAD, "load", "-load"), (A, "run", "-t"), (C, "run", "-t")]
)
def test_ycsb_is_its_core_or_the_one_that_is_named(
    asked: CoreAsked, phase: str, core: str, tmp_path: Path
) -> None:
    told = "[OVERALL], RunTime(ms), 10\\n[READ], Return=OK, 6400\\n"
    program = tmp_path / "ycsb"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {tmp_path}/words\nprintf '{told}'\n")
    program.chmod(0o755)
    binding = ycsb_client.Binding("mongodb", "MongoDocuments", {"mongodb.url": "mongodb://x/y"})
    place = Place(27017, 0)
    assert ycsb_client.by_program(program, binding, place, asked).operations == 6400
    words = (tmp_path / "words").read_text().splitlines()
    assert words[:2] == [phase, "mongodb"]
    assert "mongodb.url=mongodb://x/y" in words
    ycsb = YcsbCore((str(program),), "jars")
    assert ycsb_client.by_core(ycsb, binding, place, asked).seconds == 0.01
    words = (tmp_path / "words").read_text().splitlines()
    at = words.index("site.ycsb.Client")
    assert words[at - 2 : at] == ["-cp", "jars"]
    assert words[at + 1 : at + 4] == [core, "-db", "MongoDocuments"]
    assert "MongoDocuments.java" in ycsb_client.note(None, binding)
    assert "DUNNAGE_PEER_YCSB" in ycsb_client.note(program, binding)


def test_go_ycsb_tells_operations_and_seconds_by_its_last_word() -> None:
    said = (
        "READ   - Takes(s): 1.0, Count: 10, OPS: 10.0, Avg(us): 5\n"
        "Run finished, takes 2.001s\n"
        "READ   - Takes(s): 2.0, Count: 40, OPS: 20.0, Avg(us): 5\n"
        "TOTAL  - Takes(s): 2.0, Count: 64, OPS: 32.0, Avg(us): 5\n"
        "UPDATE - Takes(s): 1.9, Count: 24, OPS: 12.0, Avg(us): 5\n"
    )
    assert go_ycsb.shot(Ran(said, 0.5)) == Shot(64, 2.0, 0.5)
    failed = said + "READ_ERROR - Takes(s): 1.9, Count: 1, OPS: 0.5, Avg(us): 5\n"
    with pytest.raises(SystemExit, match="go-ycsb failed: READ_ERROR"):
        go_ycsb.shot(Ran(failed, 0.5))
    with pytest.raises(SystemExit, match="go-ycsb tells nothing: no"):
        go_ycsb.shot(Ran("no", 0.5))
