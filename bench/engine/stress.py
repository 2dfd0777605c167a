"""cassandra-stress of Cassandra 3.11.2, and cql-stress, which takes the same words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .asked import Place
from .cassandra_server import Table
from .core import Core, CoreAsked
from .jars import unpacked
from .peers import Peer
from .shape import FIELD_BYTES, FIELDS
from .shots import Ran, Shot, ran

VERSION = "3.11.2"
STRESS = Peer("cassandra-stress", "DUNNAGE_PEER_CASSANDRA_STRESS")
CQL_STRESS = Peer("cql-stress", "DUNNAGE_PEER_CQL_STRESS")
TABLE = Table("keyspace1", "standard1")
"""The one that both make."""
NOTE = (
    "cassandra-stress and cql-stress write and read a table of their own. Its keys and fields are "
    "bytes. Both have one connection, as the engine and latte have. cassandra-stress does not "
    "compare what it reads with what was written, and neither does the engine here; cql-stress "
    "cannot leave that out, and pays for it."
)
_KNOWN = Path(__file__).with_name(f"apache-cassandra-{VERSION}.sha256")
_COMMANDS = {Core.LOAD: ["write"], Core.A: ["mixed", "ratio(write=1,read=1)"], Core.C: ["read"]}
_RATE = re.compile(r"^Op rate\s*:\s*([\d,.]+) op/s", re.MULTILINE)
_TOTAL = re.compile(r"^Total (partitions|operations)\s*:\s*([\d,]+)", re.MULTILINE)
_ERRORS = re.compile(r"^Total errors\s*:\s*([\d,]+)", re.MULTILINE)


def home() -> Path:
    """The directory of the archive of Cassandra on Maven Central, whose tool it is.

    Raises UnavailableError when it cannot be had.
    """
    return unpacked(f"org.apache.cassandra:apache-cassandra:{VERSION}:tar.gz:bin", _KNOWN)


def stress_of_maven(inside: Sequence[str], prefix: str) -> tuple[str, ...]:
    """The words that start the cassandra-stress of that archive as its own script does, with a Java
    at `prefix`. Raises UnavailableError as `home` does."""
    own = home()
    return (
        *(*inside, f"{prefix}/bin/java", "-server", "-ea"),
        *("-cp", f"{own}/conf:{own}/lib/*:{own}/tools/lib/*"),
        "-Dlogback.configurationFile=logback-tools.xml",
        "org.apache.cassandra.stress.Stress",
    )


def stress(command: Sequence[str], columns: str, place: Place, asked: CoreAsked) -> Shot:
    """One run of either. `columns`: how it is told their number."""
    return shot(ran([*command, *words(columns, asked)], place.processor))


def words(columns: str, asked: CoreAsked) -> list[str]:
    """What either is told."""
    keys = f"seq=1..{asked.records}"
    if asked.core is not Core.LOAD:
        keys = f"dist=UNIFORM(1..{asked.records})"
    unlike = ["-errors", "skip-read-validation"] if columns == FIXED else []
    return [
        *_COMMANDS[asked.core],
        *("no-warmup", "cl=ONE", f"n={asked.operations}"),
        *("-pop", keys),
        *("-col", f"n={columns}", f"size=FIXED({FIELD_BYTES})"),
        *("-rate", f"threads={asked.clients}"),
        *("-mode", "native", "cql3", "connectionsPerHost=1"),
        *unlike,
        *("-node", "127.0.0.1"),
    ]


def shot(done: Ran) -> Shot:
    """By the results that it prints at its end. Raises SystemExit when there are none, or an
    operation failed."""
    rate, total, errors = (each.search(done.said) for each in (_RATE, _TOTAL, _ERRORS))
    if rate is None or total is None or errors is None:
        raise SystemExit(f"{STRESS.name} tells no results: {done.said.strip()[-200:]}")
    if _number(errors[1]) > 0:
        raise SystemExit(f"operations of {STRESS.name} failed: {errors[1]}")
    operations = int(_number(total[2]))
    return Shot(operations, operations / _number(rate[1]), done.cpu)


FIXED, PLAIN = f"FIXED({FIELDS})", str(FIELDS)
"""How cassandra-stress and how cql-stress are told the number of columns."""


def _number(text: str) -> float:
    return float(text.replace(",", ""))
