"""What the engine loads is read back by YCSB's own client, and the other way round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from mongo_server import JAVA as MONGO_JAVA
from mongo_server import PORT, MongoPlace
from own_redis import FIRST_KEY, opened
from read_back import (
    RECORDS,
    ReadBack,
    the_engine_finds_what_ycsb_loaded,
    ycsb_finds_what_the_engine_loaded,
)
from ycsb_original import Original

from dunnage.model.choices import Phase

pytestmark = pytest.mark.live

Fresh = Callable[[], ReadBack]
"""Makes one more empty database."""


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Fresh]:
    """Redis servers on one loopback."""
    with opened(tmp_path) as place:
        original, ports = Original(place.loopback), count(6379)

        def fresh() -> ReadBack:
            port = next(ports)
            place.start(port, "--enable-debug-command", "local")
            directory = tmp_path / f"loads-{port}"
            directory.mkdir()

            def content() -> tuple[str, str]:
                return place.cli(port, "dbsize"), place.cli(port, "debug", "digest")

            return ReadBack(
                original=original,
                address=f"redis://127.0.0.1:{port}",
                adapter="RedisHashes",
                properties={"redis.host": "127.0.0.1", "redis.port": str(port)},
                directory=directory,
                content=content,
            )

        yield fresh


@pytest.fixture
def mongodb(tmp_path: Path) -> Iterator[Fresh]:
    """Databases of one server of MongoDB's wire protocol."""
    place = MongoPlace(tmp_path, MONGO_JAVA)
    try:
        place.start()
        original, numbers = Original(place.loopback), count(1)

        def fresh() -> ReadBack:
            name = f"back{next(numbers)}"
            directory = tmp_path / name
            directory.mkdir()

            def content() -> dict[str, dict[str, Any]]:
                most = 2 * RECORDS
                found = place.records(name, limit=most, batchSize=most)
                records = {record.pop("_id"): record for record in found}
                assert len(records) == RECORDS
                return records

            return ReadBack(
                original=original,
                address=f"mongodb://127.0.0.1:{PORT}/{name}",
                adapter="MongoDocuments",
                properties={"mongodb.url": f"mongodb://127.0.0.1:{PORT}/{name}"},
                directory=directory,
                content=content,
            )

        yield fresh
    finally:
        place.close()


@pytest.fixture(params=["redis", "mongodb"])
def fresh(request: pytest.FixtureRequest) -> Fresh:
    """One of them."""
    made: Fresh = request.getfixturevalue(request.param)
    return made


def test_ycsbs_own_client_reads_what_the_engine_loaded(fresh: Fresh) -> None:
    ycsb_finds_what_the_engine_loaded(fresh())


def test_the_engine_reads_what_ycsbs_own_client_loaded(fresh: Fresh) -> None:
    the_engine_finds_what_ycsb_loaded(fresh(), fresh())


def test_ycsbs_own_client_tells_a_record_that_is_not_what_was_written(tmp_path: Path) -> None:
    with opened(tmp_path) as place:
        place.start(6379)
        loads = tmp_path / "loads"
        loads.mkdir()
        database = ReadBack(
            original=Original(place.loopback),
            address="redis://127.0.0.1",
            adapter="RedisHashes",
            properties={"redis.host": "127.0.0.1", "redis.port": "6379"},
            directory=loads,
            content=tuple,
        )
        database.by_engine(Phase.LOAD)
        place.cli(6379, "hset", FIRST_KEY, "field3", "x")
        reads_of_the_first = {"recordcount": "1", "readproportion": "1", "operationcount": "20"}
        without = {"updateproportion": "0", "scanproportion": "0"}
        told = database.by_ycsb(Phase.RUN, **reads_of_the_first, **without)
        assert told.counts["READ"] == {"OK": 20}
        assert told.counts["VERIFY"] == {"UNEXPECTED_STATE": 20}
