"""The engine's load of cassandra-stress beside that of cassandra-stress 3.11.2 itself.

Either writes what the other one reads: a row that is not what its seed makes is an error of both.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from own_cassandra import Ring
from own_servers import ENVIRONMENT
from stress_original import Stress

from dunnage.software.engine import engine_path

pytestmark = pytest.mark.live

MEMBER = "127.0.0.1"
ROWS = 1000
ADDRESS = f"cassandra://{MEMBER}"
ALONE = ("no-warmup", "-rate", "threads=4")
ALL = (f"n={ROWS}", *ALONE)
ANEW = (f"n={ROWS}", "truncate=once", *ALONE)

SCHEMA = {
    "keyspaces": "replication, durable_writes",
    "tables": "table_name, compression, compaction, flags, caching",
    "columns": "table_name, column_name, kind, position, type",
}
"""What of the server's own tables must be the same, whoever made a keyspace."""


class Server:
    """One Cassandra, and both who write and read there."""

    def __init__(self, directory: Path) -> None:
        self.ring = Ring(directory, members=(MEMBER,))
        self.original = Stress(self.ring.loopback)
        self.directory, self.loads = directory, count(1)

    def start(self) -> None:
        self.ring.start(0)
        self.ring.until_it_is_whole()

    def engine(self, *words: str, keyspace: str = "keyspace1") -> dict[str, Any]:
        """What the engine says of a load in words of cassandra-stress."""
        done, out = self._driven(words, keyspace)
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads((out / "result.json").read_text())
        return told

    def refused(self, *words: str, keyspace: str) -> str:
        """What is said of such a load that cannot be made."""
        done, _ = self._driven(words, keyspace)
        assert done.returncode == 1, done.stderr
        return done.stderr

    def _driven(
        self, words: Sequence[str], keyspace: str
    ) -> tuple[subprocess.CompletedProcess[str], Path]:
        """How a load ended, and the directory of what it left."""
        out = self.directory / f"drive-{next(self.loads)}"
        argv = self.ring.inside(
            *(str(engine_path()), "drive", f"{ADDRESS}/{keyspace}", "--timeout", "60s"),
            *("--seed", "1", "--out", str(out), "--stress", *words),
        )
        done = subprocess.run(argv, check=False, capture_output=True, text=True, env=ENVIRONMENT)
        return done, out

    def content(self, keyspace: str, table: str) -> list[list[Any]]:
        """All rows of a table, in one order."""
        asked = f"SELECT * FROM {keyspace}.{table}"  # noqa: S608
        return sorted(self.ring.rows(MEMBER, asked))

    def tables(self, keyspace: str) -> list[list[Any]]:
        """What the server says of the tables of a keyspace, but of their identity."""
        texts = (
            f"SELECT {columns} FROM system_schema.{table} WHERE keyspace_name = '{keyspace}'"  # noqa: S608
            for table, columns in SCHEMA.items()
        )
        return [row for text in texts for row in self.ring.rows(MEMBER, text)]

    def change(self, statement: str) -> None:
        changed = self.ring.cql(MEMBER, "--timeout", "60", statement)
        assert changed.code == 0, changed.said


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With rows and counters of the engine in `keyspace1`, and those of the original in `theirs`,
    each in tables that it made itself."""
    home = Server(tmp_path_factory.mktemp("stress"))
    try:
        home.start()
        for command in ("write", "counter_write"):
            ours = home.engine(command, *ALL)
            assert (ours["operations"], ours["errors"]) == ({command: ROWS}, {})
            theirs = home.original(command, *ALL, "-schema", "keyspace=theirs")
            assert (theirs.rows, theirs.errors) == (ROWS, 0), theirs.said
        yield home
    finally:
        home.ring.close()


@pytest.mark.parametrize("table", ["standard1", "counter1"])
def test_both_write_the_same_keys_and_the_same_bytes(server: Server, table: str) -> None:
    ours, theirs = (server.content(keyspace, table) for keyspace in ("keyspace1", "theirs"))
    assert len(ours) == ROWS
    assert ours == theirs


def test_both_make_the_same_tables(server: Server) -> None:
    ours, theirs = (server.tables(keyspace) for keyspace in ("keyspace1", "theirs"))
    # The keyspace; two tables; in each the key, five columns, and two that are hidden.
    assert len(ours) == 1 + 2 + 2 * (1 + 5 + 2)
    assert ours == theirs


@pytest.mark.parametrize("command", ["read", pytest.param("counter_read", marks=pytest.mark.proof)])
def test_cassandra_stress_reads_what_the_engine_wrote(server: Server, command: str) -> None:
    told = server.original(command, *ALL, "-pop", f"seq=1..{ROWS}")
    assert (told.rows, told.errors) == (ROWS, 0), told.said


def test_tables_that_are_missing_are_made_and_filled_by_the_words_of_the_message(
    server: Server,
) -> None:
    reads = ("mixed", "ratio(read=1,counter_read=1)", *ALL, "-pop", f"seq=1..{ROWS}")
    said = server.refused(*reads, keyspace="absent")
    _, _, typed = said.strip().partition("`-col` and `-schema`: ")
    assert typed == "--stress write n=ROWS, then --stress counter_write n=ROWS", said
    for command in typed.split(", then "):
        _, kind, rows = command.split()
        server.engine(kind, rows.replace("ROWS", str(ROWS)), *ALONE, keyspace="absent")
    read = server.engine(*reads, keyspace="absent")
    assert read["errors"] == {}
    assert server.tables("absent") == server.tables("keyspace1")


def test_the_engine_reads_what_cassandra_stress_wrote(server: Server) -> None:
    read = server.engine("read", *ALL, "-pop", f"seq=1..{ROWS}", keyspace="theirs")
    assert (read["operations"], read["errors"]) == ({"read": ROWS}, {})
    assert read["verified"] == ROWS
    whole = server.engine(
        "read", *ALL, "-pop", f"seq=1..{ROWS}", "-col", "slice", keyspace="theirs"
    )
    assert (whole["errors"], whole["verified"]) == ({}, ROWS)
    counters = server.engine("counter_read", *ALL, "-pop", f"seq=1..{ROWS}", keyspace="theirs")
    assert (counters["operations"], counters["errors"]) == ({"counter_read": ROWS}, {})
    assert counters["verified"] == 0


@pytest.mark.proof
def test_a_row_that_is_missing_or_another_is_an_error_of_both(server: Server) -> None:
    keys = [row[0] for row in server.content("keyspace1", "standard1")[:2]]
    reads = ("read", *ALL, "-pop", f"seq=1..{ROWS}")
    server.change(f"DELETE FROM keyspace1.standard1 WHERE key = {keys[0]}")  # noqa: S608
    server.change(f"""UPDATE keyspace1.standard1 SET "C3" = 0x00 WHERE key = {keys[1]}""")  # noqa: S608
    try:
        ours = server.engine(*reads)
        theirs = server.original(*reads)
        skipped = server.engine(*reads, "-errors", "skip-read-validation")
    finally:
        server.engine("write", *ALL)
    assert ours["errors"] == {"read": {"mismatch": 1, "not_found": 1}}
    assert ours["verified"] == ROWS - 2
    assert theirs.errors == 2, theirs.said
    # Who compares nothing still misses what is not there.
    assert (skipped["errors"], skipped["verified"]) == ({"read": {"not_found": 1}}, None)


def test_a_mixture_has_its_ratio_its_level_and_its_rate(server: Server) -> None:
    words = ("mixed", "ratio(read=2,write=1,counter_read=1)", "clustering=fixed(1)", "n=2000")
    rate = ("-rate", "threads=16", "fixed=1000/s")
    told = server.engine(*words, "cl=QUORUM", *rate, "-pop", f"seq=1..{ROWS}")
    assert told["errors"] == {}
    assert told["intended"] == 2000
    done = told["operations"]
    assert sum(done.values()) + told["backlog"] == 2000
    assert told["consistency"] == {"read": "QUORUM", "write": "QUORUM"}
    # Six deviations of as many draws.
    assert abs(done["read"] - 1000) < 6 * 23
    assert abs(done["write"] - 500) < 6 * 20
    assert told["verified"] == done["read"]


@pytest.mark.proof
def test_a_gaussian_population_is_there_for_both(server: Server) -> None:
    drawn = ("-pop", f"dist=gaussian(1..{ROWS},500,100)")
    ours = server.engine("read", "duration=2s", *ALONE, *drawn)
    assert ours["errors"] == {}
    assert ours["verified"] == ours["operations"]["read"] > 0
    theirs = server.original("read", *ALL, *drawn)
    assert (theirs.rows, theirs.errors) == (ROWS, 0), theirs.said


@pytest.mark.parametrize(
    "shape",
    [
        ("keysize=24",),
        ("-col", "n=fixed(11)", "size=uniform(0..300)"),
        ("-col", "names=b,a,Z", "size=extreme(1..500,2)"),
        ("keysize=33", "-col", "size=fixed(1000)", "n=fixed(1)"),
    ],
    ids=lambda shape: " ".join(shape),
)
@pytest.mark.proof
def test_rows_of_other_shapes_are_the_same_too(server: Server, shape: Sequence[str]) -> None:
    number = next(server.loads)
    ours, theirs = f"ours{number}", f"theirs{number}"
    own = [word for word in shape if word.startswith("keysize=")]
    more = shape[len(own) :]
    written = server.engine("write", *own, *ALL, *more, keyspace=ours)
    assert written["errors"] == {}
    told = server.original("write", *own, *ALL, *more, "-schema", f"keyspace={theirs}")
    assert (told.rows, told.errors) == (ROWS, 0), told.said
    rows = server.content(ours, "standard1")
    assert len(rows) == ROWS
    assert rows == server.content(theirs, "standard1")
    read = server.engine("read", *own, *ALL, *more, "-pop", f"seq=1..{ROWS}", keyspace=theirs)
    assert (read["errors"], read["verified"]) == ({}, ROWS)
    schema = ("-schema", f"keyspace={ours}")
    told = server.original("read", *own, *ALL, *more, "-pop", f"seq=1..{ROWS}", *schema)
    assert (told.rows, told.errors) == (ROWS, 0), told.said


@pytest.mark.proof
def test_tables_are_emptied_when_that_is_asked_for(server: Server) -> None:
    server.engine("write", *ALL, keyspace="emptied")
    server.engine("write", *ANEW, "-pop", "seq=5..9", keyspace="emptied")
    assert len(server.content("emptied", "standard1")) == 5


@pytest.mark.proof
def test_what_is_added_to_counters_adds_up(server: Server) -> None:
    add = ("add=uniform(1..9)", *ALL)
    server.engine("counter_write", *add, keyspace="added")
    first = {row[0]: row[1:] for row in server.content("added", "counter1")}
    values = [value for row in first.values() for value in row]
    assert {1, 9} <= set(values) <= set(range(1, 10))
    server.engine("counter_write", *add, keyspace="added")
    second = {row[0]: row[1:] for row in server.content("added", "counter1")}
    assert second.keys() == first.keys()
    grown = zip((value for key in first for value in second[key]), values, strict=True)
    assert {after - before for after, before in grown} <= set(range(1, 10))
