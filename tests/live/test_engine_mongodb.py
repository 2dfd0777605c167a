"""The engine against servers of MongoDB's wire protocol on a loopback of their own."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from bursts import insist_on_recovery
from mongo_server import JAVA, PORT, REAL, MongoPlace, real

from dunnage.generators.engine import plan
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.layout import Address, Target
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder
from dunnage.model.record import Measurement
from dunnage.substrates.kubernetes.certificates import Authority

pytestmark = pytest.mark.live

RECORDS, CONNECTIONS = 500, 32
KEY = "user6284781860667377211"
REMOTE = f"127.0.0.1:{PORT}"
TLS_PORT = 27443


@dataclass
class Mongo:
    """A place whose server is up, and a database in it that is this test's own."""

    place: MongoPlace
    database: str

    def load(self, content: dict[str, Any], **options: Any) -> tuple[Measurement, dict[str, Any]]:
        content["target"]["options"] = {"database": self.database, **options}
        return self.place.load_and_result(content)


@pytest.fixture(scope="module", params=[JAVA, *([REAL] if real() else [])])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MongoPlace]:
    """A place with a server of either kind."""
    home = MongoPlace(tmp_path_factory.mktemp("mongo"), request.param)
    try:
        home.start()
        yield home
    finally:
        home.close()


_NUMBERS = count(1)


@pytest.fixture
def mongo(place: MongoPlace) -> Mongo:
    """A database of the test's own."""
    return Mongo(place, f"ycsb{next(_NUMBERS)}")


def order(
    core: str = "A", phase: Phase = Phase.RUN, level: Level | None = None, **changes: Any
) -> dict[str, Any]:
    address = Address("127.0.0.1", PORT)
    content = plan(
        LoadOrder(
            workload=Workload.model_validate(
                {"name": core, "core": core, "phase": phase, "records": RECORDS}
            ),
            phase=phase,
            level=level or Level(threads=4),
            target=Target("mongodb", "single", (address,), frozenset({address}), {}),
            connections=CONNECTIONS,
            arrivals=Arrivals.CONSTANT,
            warmup=0.1,
            duration=None if phase is Phase.LOAD else 0.5,
            operations=None,
            timeout=20.0,
            seed=1,
        ),
        0,
        1,
    )
    return {**content, **changes}


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.1)


def errors(measured: Measurement) -> dict[str, int]:
    return dict(measured.operations["all"].errors)


def test_records_lie_in_ycsbs_own_shape(mongo: Mongo) -> None:
    measured, result = mongo.load(order(phase=Phase.LOAD))
    assert errors(measured) == {}
    assert measured.operations["insert"].count == RECORDS
    assert measured.remotes == (REMOTE,)
    assert (result["shape"], result["consistency"]) == (
        "document",
        {"read": "readPreference=primary", "write": "w=1"},
    )
    all_of_them = mongo.place.records(mongo.database, limit=2 * RECORDS, batchSize=2 * RECORDS)
    assert len(all_of_them) == RECORDS
    (record,) = mongo.place.records(mongo.database, filter={"_id": KEY})
    assert list(record) == ["_id", *(f"field{number}" for number in range(10))]
    # Bytes are told as twice as many hexadecimal digits.
    assert [len(value) for name, value in record.items() if name != "_id"] == [200] * 10


@pytest.mark.proof
@pytest.mark.quiet
@pytest.mark.timeout(900)
def test_the_backlog_of_a_minute_is_worked_off_and_nothing_of_it_is_lost(mongo: Mongo) -> None:
    mongo.load(order(phase=Phase.LOAD))
    address = f"mongodb://127.0.0.1:{PORT}/{mongo.database}"
    insist_on_recovery(mongo.place, address, RECORDS)


@pytest.mark.parametrize("core", ["A", "B", "C", "D", "E", "F"])
def test_every_core_workload_runs_without_an_error(mongo: Mongo, core: str) -> None:
    mongo.load(order(phase=Phase.LOAD))
    measured, _ = mongo.load(order(core))
    assert errors(measured) == {}
    assert measured.operations["all"].count > 0
    assert measured.remotes == (REMOTE,)


@pytest.mark.parametrize("fields", ["all-by-name", "one"])
def test_fields_that_are_asked_for_by_name_are_found_as_they_were_written(
    mongo: Mongo, fields: str
) -> None:
    def compared(content: dict[str, Any]) -> dict[str, Any]:
        content["workload"] |= {"read_fields": fields, "integrity": True}
        measured, result = mongo.load(content)
        assert errors(measured) == {}
        return result

    compared(order(phase=Phase.LOAD))
    result = compared(order("F", operations=300, duration=None))
    counts = result["operations"]
    assert result["verified"] == counts["read"] + counts["read-modify-write"] > 0


def test_a_record_that_is_not_there_is_an_error(mongo: Mongo) -> None:
    for core in ("C", "E"):
        content = order(core, operations=100, duration=None)
        # Workload E inserts too, and may find what it inserted.
        content["workload"]["mix"] = {**content["workload"]["mix"], "insert": 0.0}
        measured, _ = mongo.load(content)
        assert errors(measured) == {"not_found": 100}


def test_an_update_of_a_record_that_is_not_there_is_an_error(mongo: Mongo) -> None:
    content = order("A", operations=100, duration=None)
    content["workload"]["mix"] = {**content["workload"]["mix"], "read": 0.0}
    measured, _ = mongo.load(content)
    assert errors(measured) == {"not_found": 100}
    assert mongo.place.records(mongo.database) == []


def test_an_insert_of_what_is_there_is_an_error_unless_it_may_replace(mongo: Mongo) -> None:
    mongo.load(order(phase=Phase.LOAD))
    again, result = mongo.load(order(phase=Phase.LOAD))
    assert errors(again) == {"server": RECORDS}
    assert all("E11000" in message for message in result["messages"])
    replaced, _ = mongo.load(order(phase=Phase.LOAD), upsert=True)
    assert errors(replaced) == {}


@pytest.mark.parametrize("concern", [1, 2, "majority"])
def test_write_concerns_are_kept_or_refused_by_the_server(mongo: Mongo, concern: int | str) -> None:
    measured, result = mongo.load(order(phase=Phase.LOAD), w=concern)
    assert result["consistency"]["write"] == f"w={concern}"
    # A `mongod` alone cannot be two; the Java server takes anything.
    refused = concern == 2 and mongo.place.kind == REAL
    assert errors(measured) == ({"server": RECORDS} if refused else {})
    assert measured.operations["insert"].count == (0 if refused else RECORDS)


@pytest.mark.skipif(
    real() is None,
    reason="no `mongod` is on PATH or in DUNNAGE_MONGOD, and the Java server has no replica sets",
)
def test_a_replica_set_of_a_real_server_is_driven_with_every_write_concern(
    tmp_path: Path,
) -> None:
    with closing(MongoPlace(tmp_path, REAL, "--replSet", "rs0")) as place:
        place.start()
        members = [{"_id": 0, "host": REMOTE}]
        place.ask({"replSetInitiate": {"_id": "rs0", "members": members}, "$db": "admin"})
        hello = {"hello": 1, "$db": "admin"}
        until(lambda: (place.ask(hello) or {}).get("isWritablePrimary") is True)
        for concern in ("majority", 1, 0):
            content = order(phase=Phase.LOAD)
            content["target"]["topology"] = "replicas"
            database = f"ycsb{concern}"
            options = {"database": database, "w": concern, "replicaSet": "rs0"}
            content["target"]["options"] = options
            measured, _ = place.load_and_result(content)
            assert errors(measured) == {}
            assert measured.remotes == (REMOTE,)
            many = {"limit": 2 * RECORDS, "batchSize": 2 * RECORDS}
            # Those that nobody acknowledges may come a moment later.
            until(lambda: len(place.records(database, **many)) == RECORDS)  # noqa: B023


@pytest.fixture(scope="module")
def ours() -> Authority:
    return Authority("ours")


@dataclass
class Encrypted:
    """A server's place with something in front of the server that speaks TLS."""

    mongo: Mongo
    authority: Path
    """The certificate of whoever vouches for it."""

    def order(self, authority: Path | None, phase: Phase = Phase.RUN) -> dict[str, Any]:
        content = order(phase=phase)
        content["target"]["addresses"] = [f"127.0.0.1:{TLS_PORT}"]
        content["target"]["options"] = {"database": self.mongo.database}
        insecure = authority is None
        content["target"]["tls"] = {
            "authority": None if insecure else str(authority),
            "name": None,
            "insecure": insecure,
        }
        return content


@pytest.fixture
def encrypted(mongo: Mongo, ours: Authority, tmp_path: Path) -> Iterator[Encrypted]:
    issued = ours.server("mongodb", ("127.0.0.1",))
    certificate, key, authority = (tmp_path / name for name in ("crt", "key", "ca.pem"))
    certificate.write_bytes(issued.certificate)
    key.write_bytes(issued.key)
    authority.write_bytes(ours.certificate)
    with mongo.place.in_front(TLS_PORT, certificate, key):
        yield Encrypted(mongo, authority)


def test_connections_are_encrypted_as_the_result_says(encrypted: Encrypted) -> None:
    place = encrypted.mongo.place
    for phase in (Phase.LOAD, Phase.RUN):
        measured, result = place.load_and_result(encrypted.order(encrypted.authority, phase))
        assert errors(measured) == {}
        assert measured.operations["all"].count > 0
        assert measured.remotes == (f"127.0.0.1:{TLS_PORT}",)
        (way,) = result["encryption"]
        assert way.startswith("TLSv1.3 TLS")
        assert way.endswith(", certificate checked")
    _, result = place.load_and_result(encrypted.order(None))
    assert result["encryption"] == [way.replace("checked", "not checked")]
    _, result = encrypted.mongo.load(order())
    assert result["encryption"] == []


def test_a_certificate_of_somebody_else_is_refused(encrypted: Encrypted, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.pem"
    theirs.write_bytes(Authority("theirs").certificate)
    said = encrypted.mongo.place.refused(encrypted.order(theirs))
    assert "no TLS with it: invalid peer certificate: UnknownIssuer" in said


def test_a_server_without_tls_is_not_spoken_to_in_the_open(encrypted: Encrypted) -> None:
    content = encrypted.order(encrypted.authority)
    content["target"]["addresses"] = [REMOTE]
    assert f"no connection to `{REMOTE}`" in encrypted.mongo.place.refused(content)


def test_a_server_that_goes_away_and_comes_back_costs_errors_but_not_the_run(
    place: MongoPlace,
) -> None:
    place.load_and_result(order(phase=Phase.LOAD))

    def restart() -> None:
        time.sleep(1.0)
        place.stop()
        place.start()

    trouble = threading.Thread(target=restart)
    trouble.start()
    measured, _ = place.load_and_result(order("A", duration=8.0, warmup=0.0))
    trouble.join()
    counts = errors(measured)
    assert counts["connection"] > 0
    # It came back without its records.
    assert counts["not_found"] > 0


@pytest.mark.quiet
def test_a_stall_of_two_seconds_is_in_the_response_times(mongo: Mongo) -> None:
    """Known answer at load ρ, T seconds long: response p99 = 2 − T (1 − ρ) / 100 s."""
    mongo.load(order(phase=Phase.LOAD))
    level = Level(threads=CONNECTIONS)
    closed, _ = mongo.load(order("C", level=level, duration=3.0, warmup=3.0))
    capacity = closed.operations["all"].count / closed.seconds
    rate, seconds = 500.0, 10.0
    # Those under way when it stops must be less than the hundredth part that p99 leaves out.
    assert rate * seconds / 100 > CONNECTIONS
    stopped: list[float] = []
    server = mongo.place.servers[-1]

    def stall() -> None:
        time.sleep(5)
        began = time.monotonic()
        server.send_signal(signal.SIGSTOP)
        time.sleep(2)
        server.send_signal(signal.SIGCONT)
        stopped.append(time.monotonic() - began)

    trouble = threading.Thread(target=stall)
    trouble.start()
    level = Level(rate=rate)
    measured, _ = mongo.load(order("C", level=level, duration=seconds, warmup=1.0))
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
