"""Commands to run beside members, and when each is done."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from dunnage.databases.cassandra import answers, java
from dunnage.model.layout import ENGINE, Place, Probe, Step

KEYSPACE, TABLE = "ycsb", "usertable"
"""What YCSB calls them; its table has a text key and ten text fields."""
TABLE_ID = "6b9b3c7e-5d0f-4c8e-9a55-64756e6e6167"
"""Of the table that a snapshot is made of: its files lie in a directory that is named after it."""
TABLE_FILES = f"data/{KEYSPACE}/{TABLE}-{TABLE_ID.replace('-', '')}"
"""That directory, below a member's data."""
DATACENTER = "datacenter1"
"""What SimpleSnitch calls the place where every member is."""
FORMING = 120.0
"""Seconds for what waits for all members: they share processors and start side by side."""
PROBING = 0.25
"""Seconds between tries: Java takes many to start, and the processors are its own."""

_SCHEMA = (
    "SELECT schema_version FROM system.local",
    "SELECT schema_version FROM system.peers_v2",
)
_OUR_KEYSPACE = f"WHERE keyspace_name = '{KEYSPACE}'"
_OUR_TABLE = f"{_OUR_KEYSPACE} AND table_name = '{TABLE}'"
_COLUMNS = ", ".join(f"field{number} varchar" for number in range(10))
_MAKE = f"CREATE TABLE IF NOT EXISTS {KEYSPACE}.{TABLE} (y_id varchar PRIMARY KEY, {_COLUMNS})"


def cql(place: Place, *statements: str, timeout: int = 10) -> tuple[str, ...]:
    """Statements for the member at `place`, asked by the host's engine: no Java has to start.

    `timeout` is in seconds, for all of them together.
    """
    address = place.ports["cql"]
    where = f"{address.beside}:{address.bind.port}"
    return (ENGINE, "cql", "--address", where, "--timeout", str(timeout), *statements)


def readiness(place: Place) -> Probe:
    """A member is ready when it answers clients and has its tokens."""
    argv = cql(place, "SELECT bootstrapped FROM system.local")
    return Probe(argv, expect='"COMPLETED"', interval=PROBING)


def know(place: Place, others: Sequence[Place]) -> Step:
    """Wait until a member knows all others, by the addresses that clients are to be told."""
    clients = frozenset(str(other.ports["cql"].advertised) for other in others)
    argv = cql(place, "SELECT native_address, native_port, tokens FROM system.peers_v2")
    return Step(
        "know each other",
        place.member,
        argv,
        deadline=FORMING,
        done=partial(answers.knows, clients=clients),
    )


def make_table(place: Place, copies: int) -> Step:
    """Make the table; one member does, and the others learn of it."""
    replication = f"{{'class': 'NetworkTopologyStrategy', '{DATACENTER}': {copies}}}"
    argv = cql(
        place,
        f"CREATE KEYSPACE IF NOT EXISTS {KEYSPACE} WITH replication = {replication}",
        _MAKE,
        timeout=60,
    )
    return Step("make the table", place.member, argv, deadline=FORMING)


def agree(place: Place, members: int) -> Step:
    """Wait until a member has the table, and the schema that it knows all others to have."""
    done = partial(answers.agrees, members=members)
    argv = _table_and_schema(place, "table_name")
    return Step("agree on the schema", place.member, argv, deadline=FORMING, done=done)


def _table_and_schema(place: Place, column: str) -> tuple[str, ...]:
    return cql(
        place,
        f"SELECT {column} FROM system_schema.tables {_OUR_TABLE}",  # noqa: S608
        *_SCHEMA,
    )


def empty(place: Place) -> Step:
    """Empty the table everywhere.

    Cassandra refuses to while this member thinks any other one down, so that the step, once it is
    done, is also the proof that this one sees all others up.
    """
    argv = cql(place, f"TRUNCATE {KEYSPACE}.{TABLE}", timeout=60)
    return Step("empty the table", place.member, argv, deadline=FORMING)


def flush(place: Place) -> Step:
    """Write what a member holds in memory to its disk."""
    argv = java.nodetool(place, "flush", KEYSPACE, TABLE)
    return Step("flush", place.member, argv, deadline=60.0)


def adopt(places: Sequence[Place]) -> tuple[Step, ...]:
    """Make the empty table anew, under the id by which its files are found, and agree on it.

    A table that is made opens what its directory holds. It cannot have this id from the beginning:
    a ring proves that it is whole by emptying the table. Each statement is a step of its own, so
    that one that is tried again never drops what was found.
    """
    first = places[0]
    drop = cql(first, f"DROP TABLE IF EXISTS {KEYSPACE}.{TABLE}", timeout=60)
    make = cql(first, f"{_MAKE} WITH id = '{TABLE_ID}'", timeout=60)
    return (
        Step("drop the empty table", first.member, drop, deadline=FORMING),
        Step("make the table of the snapshot", first.member, make, deadline=FORMING),
        *(_agree_on_files(place, len(places)) for place in places),
    )


def _agree_on_files(place: Place, members: int) -> Step:
    done = partial(answers.agrees_on, members=members, table=TABLE_ID)
    argv = _table_and_schema(place, "id")
    return Step("agree on the files", place.member, argv, deadline=FORMING, done=done)


def drain(place: Place) -> Step:
    """Write all to disk and end flushes and compactions: from now on no file of a table changes."""
    return Step("drain", place.member, java.nodetool(place, "drain"), deadline=120.0)


def rest(place: Place) -> Step:
    """Wait until a member neither compacts nor flushes nor owes anybody a write."""
    argv = cql(
        place,
        "SELECT * FROM system_views.sstable_tasks",
        "SELECT name, active_tasks, pending_tasks FROM system_views.thread_pools",
    )
    return Step("rest", place.member, argv, deadline=300.0, done=answers.at_rest)


def size(place: Place, members: int, copies: int) -> Step:
    """Ask for the size of the data: a member's tables, of which all members' hold `copies`."""
    argv = cql(
        place,
        f"SELECT mebibytes FROM system_views.disk_usage {_OUR_TABLE}",  # noqa: S608
    )
    parse = partial(answers.size_facts, share=members / copies)
    return Step("data size", place.member, argv, done=answers.has_size, parse=parse)


def ask(place: Place, own: Collection[str]) -> tuple[Step, ...]:
    """Ask a member for its facts, those of the study's `own` settings too."""
    member = place.member
    local = cql(
        place,
        "SELECT release_version, cql_version, native_protocol_version, partitioner, data_center, "
        "rack, tokens, rpc_address, rpc_port FROM system.local",
    )
    table = cql(
        place,
        f"SELECT JSON replication FROM system_schema.keyspaces {_OUR_KEYSPACE}",  # noqa: S608
        "SELECT JSON compaction, compression, caching, speculative_retry "  # noqa: S608
        f"FROM system_schema.tables {_OUR_TABLE}",
    )
    settings = cql(place, "SELECT name, value FROM system_views.settings")
    beans = java.nodetool(place, "sjk", "mxdump", "-q", "java.lang:*")
    return (
        Step("server", member, local, parse=partial(answers.server_facts, member)),
        Step("schema", member, cql(place, *_SCHEMA), parse=partial(answers.schema_facts, member)),
        Step("table", member, table, parse=partial(answers.table_facts, member)),
        Step("settings", member, settings, parse=partial(answers.settings_facts, member, own=own)),
        Step("java", member, beans, deadline=60.0, parse=partial(answers.java_facts, member)),
    )
