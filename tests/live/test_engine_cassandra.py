"""The engine against a real Cassandra: a ring of two members on a loopback of its own."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bursts import insist_on_recovery
from coordinators import any_member_coordinates, the_member_with_the_record_coordinates
from open_loads import found, insist_random_arrivals
from own_cassandra import CONNECTIONS, MEMBERS, ONE, RECORDS, Ring, load_order, of_one_copy, order
from own_servers import errors
from read_back import RECORDS as LOADED
from read_back import (
    ReadBack,
    the_engine_finds_what_ycsb_loaded,
    ycsb_finds_what_the_engine_loaded,
)
from ycsb_original import Original

from dunnage.generators.engine import plan
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.level import Level, Search
from dunnage.model.load import LoadOrder
from dunnage.model.record import Ending, Measurement

pytestmark = pytest.mark.live

FIRST_KEY = "user6284781860667377211"
"""The key of the first record that a load phase inserts."""


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ring]:
    """Two members, of which each record is on one; and a keyspace that wants more copies."""
    home = Ring(tmp_path_factory.mktemp("ring"))
    try:
        of_one_copy(home)
        # It has more copies than there are members.
        home.make("copies", 4)
        yield home
    finally:
        home.close()


def test_records_lie_in_ycsbs_own_shape(ring: Ring) -> None:
    asked = f"SELECT * FROM ycsb.usertable WHERE y_id = '{FIRST_KEY}'"  # noqa: S608
    (one,) = ring.cql(MEMBERS[0], asked).answers
    assert one["columns"] == ["y_id", *(f"field{number}" for number in range(10))]
    assert [len(value) for value in one["rows"][0]] == [23, *[100] * 10]


@pytest.mark.parametrize("core", ["A", "B", "C", "D", "E", "F"])
def test_every_core_workload_runs_without_an_error(ring: Ring, core: str) -> None:
    measured = ring.load(order(core))
    assert errors(measured) == {}
    assert measured.operations["all"].count > 0
    # One member was named; the kernel tells of connections to both.
    assert measured.remotes == tuple(f"{member}:9042" for member in MEMBERS)


@pytest.mark.parametrize("fields", ["all-by-name", "one"])
def test_fields_that_are_asked_for_by_name_are_found(ring: Ring, fields: str) -> None:
    content = order("F")
    content["workload"]["read_fields"] = fields
    measured = ring.load(content)
    assert errors(measured) == {}
    assert measured.operations["all"].count > 0


def test_all_connections_are_there_before_the_load_begins(ring: Ring) -> None:
    content = order("C")
    content["target"]["options"]["connections"] = 3
    result = ring.result(content)
    assert result["errors"] == {}
    # To each member three, and one to hear of changes.
    assert result["connections"] == 3 * len(MEMBERS) + 1
    assert result["consistency"] == {"read": "ONE", "write": "ONE"}
    assert result["shape"] == "row"


def test_poisson_arrivals_offer_the_rate_and_have_response_times(ring: Ring) -> None:
    rate, seconds = 1000.0, 4.0
    poisson = load_order("B", level=Level(rate=rate), arrivals=Arrivals.POISSON)
    insist_random_arrivals(ring.load(plan(replace(poisson, duration=seconds), 0, 1)), rate)


@pytest.mark.quiet
def test_a_search_ends_between_what_is_sustained_and_what_is_too_much(ring: Ring) -> None:
    """Both lie where a closed loop is: no open load gets more of a server than all that wait."""
    search = Search(start=500, precision=0.25, probes=20, probe=1.0)

    def drive(rate: float) -> tuple[LoadOrder, Measurement]:
        one = load_order("C", level=Level(rate=rate))
        return one, ring.load(plan(one, 0, 1))

    outcome = found(search, drive)
    closed = ring.load(order("C", level=Level(threads=CONNECTIONS), duration=2.0, warmup=1.0))
    capacity = closed.operations["all"].count / closed.seconds
    assert outcome.ended is Ending.FOUND, outcome
    assert outcome.rate is not None
    assert 0.3 * capacity < outcome.rate < 1.3 * capacity, (capacity, outcome)


@pytest.mark.proof
@pytest.mark.quiet
@pytest.mark.timeout(900)
def test_the_backlog_of_a_minute_is_worked_off_and_nothing_of_it_is_lost(ring: Ring) -> None:
    insist_on_recovery(ring, f"cassandra://{MEMBERS[0]}/ycsb?read_consistency=ONE", RECORDS)


def test_each_member_coordinates_the_operations_on_its_own_records(ring: Ring) -> None:
    the_member_with_the_record_coordinates(ring)


def test_each_member_coordinates_its_part_where_any_may(ring: Ring) -> None:
    any_member_coordinates(ring)


def test_a_record_that_is_not_there_is_an_error(ring: Ring) -> None:
    content = order("C", operations=100, duration=None)
    content["workload"] |= {"records": 10**9, "requests": {"kind": "uniform"}}
    assert errors(ring.load(content)) == {"not_found": 100}


def test_a_consistency_beyond_the_living_members_is_unavailable(ring: Ring) -> None:
    options = {"keyspace": "copies", "read_consistency": "QUORUM", "write_consistency": "QUORUM"}
    content = order(phase=Phase.LOAD, options=options)
    content["workload"]["records"] = 8
    assert errors(ring.load(content)) == {"unavailable": 8}
    content["target"]["options"]["write_consistency"] = "TWO"
    assert errors(ring.load(content)) == {}


def test_what_the_server_refuses_is_told_in_its_words(ring: Ring) -> None:
    refused = ring.cql(MEMBERS[0], "SELECT * FROM ycsb.nowhere", "SELECT now()")
    assert (refused.code, refused.answers) == (1, [])
    assert refused.said == "dunnage-engine: `127.0.0.1:9042`: table nowhere does not exist\n"


def test_a_table_that_is_missing_is_made_by_the_statements_of_the_message(ring: Ring) -> None:
    options = {**ONE, "keyspace": "absent"}
    said = ring.refused(order("C", options=options))
    assert f"no load of `{MEMBERS[0]}:9042`: " in said
    _, statements = said.strip().split("; type in cqlsh: ")
    keyspace, table = statements.removesuffix(";").split("; ")
    made = ring.cql(MEMBERS[0], "--timeout", "60", keyspace, table)
    assert made.code == 0, made.said
    ring.agree()
    loaded = ring.result(order(phase=Phase.LOAD, options=options))
    assert (loaded["errors"], loaded["operations"]) == ({}, {"insert": RECORDS})


def test_tls_that_the_server_does_not_speak_is_refused_at_once(ring: Ring) -> None:
    content = order("C")
    content["target"]["tls"] = {"authority": None, "name": None, "insecure": True}
    said = ring.refused(content)
    assert "no connection: `127.0.0.1:9042`: no TLS with it" in said
    assert "driven without --tls" in said


@pytest.mark.parametrize("fields", ["all", "all-by-name", "one"])
def test_records_that_are_not_what_was_written_are_told(ring: Ring, fields: str) -> None:
    table = ring.table()

    def compared(content: dict[str, Any]) -> dict[str, Any]:
        content["workload"] |= {"integrity": True, "read_fields": fields}
        return ring.result(content)

    options = {**ONE, "table": table}
    loaded = compared(order(phase=Phase.LOAD, options=options))
    assert (loaded["errors"], loaded["operations"]) == ({}, {"insert": RECORDS})
    run = compared(order("F", options=options))
    assert run["errors"] == {}
    assert run["verified"] == sum(run["operations"].values()) > 0

    wrong = ", ".join(f"field{number} = 'x'" for number in range(10))
    change = f"UPDATE ycsb.{table} SET {wrong} WHERE y_id = '{FIRST_KEY}'"  # noqa: S608
    changed = ring.cql(MEMBERS[0], change)
    assert changed.code == 0, changed.said
    reads = order("C", operations=100, duration=None, options=options)
    reads["workload"] |= {"records": 1, "requests": {"kind": "uniform"}}
    read = compared(reads)
    assert read["errors"] == {"read": {"mismatch": 100}}
    assert read["verified"] == 0
    assert any(FIRST_KEY in message for message in read["messages"])


Fresh = Callable[[], ReadBack]
"""Makes one more empty table."""


@pytest.fixture
def fresh(ring: Ring, tmp_path: Path) -> Fresh:
    original = Original(ring.loopback)

    def made() -> ReadBack:
        table = ring.table()
        directory = tmp_path / table
        directory.mkdir()

        def content() -> list[list[Any]]:
            rows = sorted(ring.rows(MEMBERS[1], f"SELECT * FROM ycsb.{table}"))  # noqa: S608
            assert len(rows) == LOADED
            return rows

        levels = "&".join(f"{name}={level}" for name, level in ONE.items())
        return ReadBack(
            original=original,
            address=f"cassandra://{MEMBERS[0]}/ycsb?{levels}",
            adapter="CassandraRows",
            properties={"hosts": MEMBERS[0], "cassandra.keyspace": "ycsb", "table": table},
            directory=directory,
            content=content,
        )

    return made


def test_ycsbs_own_client_reads_what_the_engine_loaded(fresh: Fresh) -> None:
    ycsb_finds_what_the_engine_loaded(fresh())


def test_the_engine_reads_what_ycsbs_own_client_loaded(fresh: Fresh) -> None:
    the_engine_finds_what_ycsb_loaded(fresh(), fresh())


@pytest.mark.quiet
def test_a_stall_of_two_seconds_is_in_the_response_times(ring: Ring) -> None:
    """Known answer at load ρ, T seconds long: response p99 = 2 − T (1 − ρ) / 100 s."""
    closed = ring.load(order("C", level=Level(threads=CONNECTIONS), duration=2.0, warmup=1.0))
    capacity = closed.operations["all"].count / closed.seconds
    rate, seconds = 500.0, 10.0
    # Those under way when it stops must be less than the hundredth part that p99 leaves out.
    assert rate * seconds / 100 > CONNECTIONS
    stopped: list[float] = []

    def stall() -> None:
        time.sleep(5)
        began = time.monotonic()
        os.killpg(ring.servers[0].pid, signal.SIGSTOP)
        time.sleep(2)
        os.killpg(ring.servers[0].pid, signal.SIGCONT)
        stopped.append(time.monotonic() - began)

    trouble = threading.Thread(target=stall)
    trouble.start()
    measured = ring.load(order("C", level=Level(rate=rate), duration=seconds, warmup=1.0))
    trouble.join()
    everything = measured.operations["all"]
    assert errors(measured) == {}
    assert everything.response is not None
    assert everything.service is not None
    assert everything.response.count == seconds * rate
    expected = stopped[0] - seconds / 100 * (1 - rate / capacity)
    assert everything.response.quantiles["p99"] == pytest.approx(expected, rel=0.03)
    assert everything.response.maximum == pytest.approx(stopped[0], rel=0.03)
    assert everything.service.quantiles["p99"] < 0.1
