"""The engine beside its peers and bare floors in C, on one server in turns: ratios of CPU.

The server has one processor and the clients have another. CPU is user and system time of all of a
client's process. Clients are told the same operations and carry them out right after one another,
in an order that alternates. Only ratios within a pair mean something; the table shows their means
and intervals.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dunnage.errors import DunnageError
from dunnage.software.engine import engine_path

from . import cassandra, codec, floors, mongodb, redis
from .bench import Bench
from .machine import today
from .shots import processors
from .table import Section, markdown
from .verdict import NOTE as VERDICT_NOTE


@dataclass(frozen=True)
class Database:
    """How the engine is compared on one, and by how many operations of each client in a pair."""

    section: Callable[[Bench, int, int], Section]
    operations: int
    clients: int
    """The most that it has: each has an equal share of the operations."""
    turns: int
    """Of each client. Many short ones tell more than few long ones: what the machine does besides
    falls on the client that has its turn."""


DATABASES: Mapping[str, Database] = {
    "redis": Database(redis.section, 51_200, redis.MANY, 24),
    "cassandra": Database(cassandra.section, 51_200, cassandra.COMPARISON.clients, 18),
    "mongodb": Database(mongodb.section, 51_200, mongodb.COMPARISON.clients, 18),
    "codec": Database(codec.section, 1_024_000, 1, 24),
}
"""What the engine drives, and its own codec alone."""


def main() -> None:
    """Print what was compared, and a table for each database; with `--write` as pages too."""
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description=__doc__)
    parser.add_argument(
        "--pairs", type=int, help="turns of each client; else so many for each database"
    )
    parser.add_argument("--only", choices=DATABASES, help="one of them; else all")
    parser.add_argument(
        "--operations", type=int, help="of each client in a pair; else so many for each database"
    )
    parser.add_argument("--without", action="append", default=[], help="a peer that is left out")
    parser.add_argument(
        "--write", type=Path, help="a directory for a page of each database, as soon as it is done"
    )
    arguments = parser.parse_args()
    chosen = {
        name: database for name, database in DATABASES.items() if arguments.only in (None, name)
    }
    most = max(database.clients for database in chosen.values())
    if arguments.pairs is not None and arguments.pairs < 1:
        parser.error("--pairs: 1 or more")
    if arguments.operations is not None and (
        arguments.operations < 1 or arguments.operations % most
    ):
        parser.error(f"--operations: a multiple of {most}, so that each client has a share")
    try:
        compare(chosen, arguments)
    except DunnageError as error:
        raise SystemExit(f"{error}\n{error.hint}".strip()) from None


def compare(chosen: Mapping[str, Database], arguments: argparse.Namespace) -> None:
    """Print a table for each database, and write its page as soon as it is there."""
    with tempfile.TemporaryDirectory() as scratch:
        without = frozenset(arguments.without)
        bench = Bench(engine_path(), processors(), Path(scratch), os.environ, _tell, without)
        heading = _heading(bench)
        _say(heading)
        for name, database in chosen.items():
            count = arguments.operations or database.operations
            turns = arguments.pairs or database.turns
            table = markdown(database.section(bench, turns, count), turns)
            _say(table)
            if arguments.write is not None:
                arguments.write.mkdir(parents=True, exist_ok=True)
                (arguments.write / f"{name}.md").write_text(f"{heading}\n{table}")


def _heading(bench: Bench) -> str:
    """What the numbers were measured with."""
    version = subprocess.run(
        [bench.engine, "--version"], capture_output=True, text=True, check=True
    )
    return "\n".join(
        [
            "# The engine beside its peers",
            "",
            "`make bench` writes this. CPU is user and system time of all of a client, its start "
            "included where nothing else is said. A ratio below 1 means that the engine needs less "
            "of it than the client does.",
            "",
            f"- {today()}",
            f"- server on processor {bench.processors.server}, clients on processor "
            f"{bench.processors.client}",
            f"- {version.stdout.strip()}; bare loops by {floors.compiler()}",
            f"- {VERDICT_NOTE}",
            "",
        ]
    )


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    main()
