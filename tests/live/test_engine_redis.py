"""The engine against a real Redis on a loopback of its own."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from open_loads import insist_random_arrivals
from own_redis import FIRST_KEY, RECORDS, Place, errors, opened, order, targeted, working

from dunnage.model.choices import Phase
from dunnage.model.level import Level

pytestmark = pytest.mark.live

STRINGS = {"shape": "string"}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with opened(tmp_path) as home:
        yield home


def test_records_lie_in_ycsbs_own_shape(place: Place) -> None:
    place.start(6379)
    measured = place.load(order(phase=Phase.LOAD))
    assert measured.operations["insert"].count == RECORDS
    assert place.cli(6379, "dbsize") == str(RECORDS + 1)
    assert place.cli(6379, "zcard", "_indices") == str(RECORDS)
    assert place.cli(6379, "hlen", FIRST_KEY) == "10"
    assert place.cli(6379, "hstrlen", "user8517097267634966620", "field9") == "100"


def test_records_lie_as_plain_strings(place: Place) -> None:
    place.start(6379)
    result = place.result(targeted(order(phase=Phase.LOAD), options=STRINGS))
    assert result["operations"] == {"insert": RECORDS}
    assert (result["errors"], result["shape"]) == ({}, "string")
    assert place.cli(6379, "dbsize") == str(RECORDS)  # there is no index
    assert place.cli(6379, "type", FIRST_KEY) == "string"
    assert place.cli(6379, "strlen", FIRST_KEY) == "1000"


@pytest.mark.parametrize("core", ["A", "B", "C", "D", "E", "F"])
def test_every_core_workload_runs_without_an_error(place: Place, core: str) -> None:
    place.start(6379)
    place.load(order(phase=Phase.LOAD))
    measured = place.load(order(core))
    assert errors(measured) == {}
    assert measured.operations["all"].count > 0
    assert measured.remotes == ("127.0.0.1:6379",)


@pytest.mark.parametrize("fields", ["all-by-name", "one"])
def test_fields_that_are_asked_for_by_name_are_found(place: Place, fields: str) -> None:
    place.start(6379)
    place.load(order(phase=Phase.LOAD))
    content = order("F")
    content["workload"]["read_fields"] = fields
    measured = place.load(content)
    assert errors(measured) == {}
    assert measured.operations["all"].count > 0


@pytest.mark.parametrize("fields", ["all", "one"])
@pytest.mark.parametrize("core", ["A", "B", "C", "D", "F"])
def test_plain_strings_are_driven_without_an_error(place: Place, core: str, fields: str) -> None:
    place.start(6379)
    place.load(targeted(order(phase=Phase.LOAD), options=STRINGS))
    content = working(order(core), read_fields=fields)
    result = place.result(targeted(content, options=STRINGS))
    assert (result["errors"], result["shape"]) == ({}, "string")
    assert sum(result["operations"].values()) > 0
    # One field is written where it is: no string has become longer or shorter.
    assert place.cli(6379, "strlen", FIRST_KEY) == "1000"


def test_a_plain_string_that_is_not_there_is_an_error(place: Place) -> None:
    place.start(6379)
    content = targeted(order("C", operations=100, duration=None, warmup=0.0), options=STRINGS)
    assert place.result(content)["errors"] == {"read": {"not_found": 100}}
    one_field = place.result(working(content, read_fields="one"))
    assert one_field["errors"] == {"read": {"not_found": 100}}


def test_plain_strings_cannot_be_scanned(place: Place) -> None:
    said = place.refused(targeted(order("E"), options=STRINGS))
    assert "plain strings have no index to scan; use the `shape` `hash`" in said


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({}, "all"),
        ({}, "all-by-name"),
        ({}, "one"),
        (STRINGS, "all"),
        (STRINGS, "one"),
    ],
)
def test_records_that_are_not_what_was_written_are_told(
    place: Place, options: dict[str, str], fields: str
) -> None:
    place.start(6379)

    def compared(content: dict[str, Any]) -> dict[str, Any]:
        return place.result(targeted(working(content, integrity=True), options=options))

    loaded = compared(order(phase=Phase.LOAD))
    assert (loaded["errors"], loaded["operations"]) == ({}, {"insert": RECORDS})
    content = working(order("F"), read_fields=fields)
    run = compared(content)
    assert run["errors"] == {}
    assert run["verified"] == sum(run["operations"].values()) > 0

    fields_and_values = [word for number in range(10) for word in (f"field{number}", "x")]
    wrong = ("set", FIRST_KEY, "x" * 1000) if options else ("hset", FIRST_KEY, *fields_and_values)
    place.cli(6379, *wrong)
    first = working(order("C", operations=200, duration=None, warmup=0.0), records=1)
    read = compared(working(first, read_fields=fields, requests={"kind": "uniform"}))
    assert read["errors"] == {"read": {"mismatch": 200}}
    assert read["verified"] == 0
    assert any(FIRST_KEY in message for message in read["messages"])


def test_poisson_arrivals_offer_the_rate_and_have_response_times(place: Place) -> None:
    place.start(6379)
    place.load(order(phase=Phase.LOAD))
    content = order("B", level=Level(rate=2000), duration=3.0)
    content["level"]["arrivals"] = "poisson"
    insist_random_arrivals(place.load(content), 2000.0)


def test_a_record_that_is_not_there_is_an_error(place: Place) -> None:
    place.start(6379)
    measured = place.load(order("C", operations=100, duration=None, warmup=0.0))
    assert errors(measured) == {"not_found": 100}


def test_a_cluster_is_discovered_and_moved_slots_are_followed(place: Place) -> None:
    ports = (6379, 6380, 6381)
    for port in ports:
        place.start(port, "--cluster-enabled", "yes")
    place.cluster(ports, replicas=0)
    members = [f"127.0.0.1:{port}" for port in ports]
    loaded = place.load(order(phase=Phase.LOAD, topology="cluster"))
    assert (errors(loaded), loaded.remotes) == ({}, tuple(members))
    sizes = [int(place.cli(port, "dbsize")) for port in ports]
    assert sum(sizes) == RECORDS + 1
    assert min(sizes) > 0

    receiver = place.cli(6380, "cluster", "myid")
    argv = (
        "--cluster",
        "reshard",
        members[0],
        "--cluster-from",
        place.cli(6379, "cluster", "myid"),
    )
    mover = threading.Thread(
        target=place.cli,
        args=(6379, *argv, "--cluster-to", receiver, "--cluster-slots", "500", "--cluster-yes"),
    )
    mover.start()
    try:
        measured = place.load(order("F", topology="cluster", duration=2.0))
    finally:
        mover.join()
    assert errors(measured) == {}
    scanned = place.load(order("E", topology="cluster"))
    assert errors(scanned) == {}


def test_writes_wait_for_replicas_and_too_few_acknowledgements_are_errors(place: Place) -> None:
    place.start(6379)
    place.replica(6380, primary=6379)

    def waiting(replicas: int) -> dict[str, Any]:
        content = order(phase=Phase.LOAD, topology="replicas", level=Level(threads=8))
        return working(targeted(content, options={"wait": replicas}), records=8)

    well = place.result(waiting(1))
    assert well["errors"] == {}
    assert well["consistency"] == {"read": "primary", "write": "WAIT 1"}
    # The keys are in the index by now, which says so by a number that is no number of replicas.
    assert place.result(waiting(1))["errors"] == {}
    assert place.result(waiting(2))["errors"] == {"insert": {"server": 8}}


def test_a_write_that_no_replica_acknowledges_is_an_error(place: Place) -> None:
    place.start(6379)
    content = order(phase=Phase.LOAD, level=Level(threads=8), timeout=1.0)
    result = place.result(working(targeted(content, options={"wait": 1}), records=8))
    assert result["errors"] == {"insert": {"server": 8}}
    assert result["messages"][0] == "0 of 1 replicas acknowledged the write"


@pytest.mark.parametrize("core", ["A", "E"])
def test_reads_go_to_the_replicas_and_writes_to_the_primary(place: Place, core: str) -> None:
    place.start(6379)
    place.load(order(phase=Phase.LOAD))
    addresses = ["127.0.0.1:6379", "127.0.0.1:6380", "127.0.0.1:6381"]
    for port in (6380, 6381):
        place.replica(port, primary=6379)
    content = order(core, topology="replicas")
    result = place.result(targeted(content, addresses=addresses, options={"read_from": "replica"}))
    assert result["errors"] == {}
    assert result["consistency"] == {"read": "replica", "write": "primary"}
    assert result["remotes"] == addresses
    assert place.calls(6379, "hgetall") == place.calls(6379, "zrangebyscore") == 0
    for port in (6380, 6381):
        assert place.calls(port, "hgetall") > 0
        assert (place.calls(port, "zrangebyscore") > 0) == (core == "E")
    assert place.calls(6379, "hset") > RECORDS


def test_a_primary_is_no_replica_to_read_from(place: Place) -> None:
    for port in (6379, 6380):
        place.start(port)
    content = targeted(
        order("C", topology="replicas", timeout=0.5),
        addresses=["127.0.0.1:6379", "127.0.0.1:6380"],
        options={"read_from": "replica"},
    )
    assert "`127.0.0.1:6380`: not a replica: master" in place.refused(content)


def test_reads_go_to_the_replicas_of_a_cluster(place: Place) -> None:
    ports = range(6379, 6385)
    for port in ports:
        place.start(port, "--cluster-enabled", "yes")
    place.cluster(ports, replicas=1)
    wanting = targeted(order("C", topology="cluster"), options={"read_from": "replica"})
    place.load(order(phase=Phase.LOAD, topology="cluster"))
    roles = {port: place.cli(port, "role").splitlines()[0] for port in ports}
    assert sorted(roles.values()) == ["master"] * 3 + ["slave"] * 3
    replicas = [port for port, role in roles.items() if role == "slave"]
    place.until(
        lambda: sum(int(place.cli(port, "dbsize")) for port in replicas) == RECORDS + 1,
        "what was written at the replicas",
    )
    result = place.result(wanting)
    assert result["errors"] == {}
    assert result["consistency"] == {"read": "replica", "write": "primary"}
    for port, role in roles.items():
        assert (place.calls(port, "hgetall") > 0) == (role == "slave")


def test_a_server_that_goes_away_and_comes_back_costs_errors_but_not_the_run(place: Place) -> None:
    server = place.start(6379)
    place.load(order(phase=Phase.LOAD))
    content = order("A", duration=8.0, warmup=0.0)

    def restart() -> None:
        time.sleep(1.0)
        server.kill()
        server.wait()
        (place.directory / "6379").rename(place.directory / "before")
        place.start(6379)

    trouble = threading.Thread(target=restart)
    trouble.start()
    measured = place.load(content)
    trouble.join()
    assert errors(measured)["connection"] > 0
    assert measured.windows[-1].operations > 0


@pytest.mark.quiet
def test_a_stall_of_two_seconds_is_in_the_response_times(place: Place) -> None:
    """Known answer at load ρ: the queue drains at 1 − ρ, so response p99 = 2 − 0.15 (1 − ρ) s."""
    server = place.start(6379)
    place.load(order(phase=Phase.LOAD))
    closed = place.load(order("C", level=Level(threads=64), duration=2.0))
    capacity = closed.operations["all"].count / closed.seconds
    rate, seconds = 2000.0, 15.0
    stopped: list[float] = []

    def stall() -> None:
        time.sleep(7)
        began = time.monotonic()
        server.send_signal(signal.SIGSTOP)
        time.sleep(2)
        server.send_signal(signal.SIGCONT)
        stopped.append(time.monotonic() - began)

    trouble = threading.Thread(target=stall)
    trouble.start()
    measured = place.load(order("C", level=Level(rate=rate), duration=seconds, warmup=1.0))
    trouble.join()
    everything = measured.operations["all"]
    assert errors(measured) == {}
    assert everything.response is not None
    assert everything.service is not None
    assert everything.response.count == seconds * rate
    expected = stopped[0] - 0.01 * seconds * (1 - rate / capacity)
    assert everything.response.quantiles["p99"] == pytest.approx(expected, rel=0.03)
    assert everything.response.maximum == pytest.approx(stopped[0], rel=0.03)
    assert everything.service.quantiles["p99"] < 0.1
