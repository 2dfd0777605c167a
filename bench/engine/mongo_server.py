"""The server of MongoDB's wire protocol for one comparison."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dunnage.software.trees import DebianSoftware

from . import mongo_java, mongo_wire
from .asked import Place
from .bench import Bench
from .own_server import OwnServer, own_server
from .ycsb_core import JAVA

LIMIT = 60.0
"""Seconds within which it must answer."""


@dataclass(frozen=True)
class MongoServer:
    """One that answers."""

    own: OwnServer
    prefix: str
    """Where the tree of its Java is, for those inside."""

    @property
    def place(self) -> Place:
        """Where clients find it."""
        return self.own.place

    def ask(self, database: str, **command: Any) -> dict[str, Any]:
        """Its answer to a command. Raises SystemExit when it does not answer."""
        done = self._ask(database, command)
        if done.returncode != 0:
            raise SystemExit(f"`{command}`: {done.stderr.strip()}")
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def answers(self) -> bool:
        """Whether it does."""
        return self._ask("admin", {"ping": 1}).returncode == 0

    def empty(self, database: str) -> None:
        """Remove all records of a database."""
        self.ask(database, drop="usertable")

    def records(self, database: str) -> int:
        """How many there are."""
        return int(self.ask(database, count="usertable")["n"])

    def _ask(self, database: str, command: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        words = (str(mongo_java.PORT), json.dumps({**command, "$db": database}))
        argv = [*self.place.enter, sys.executable, mongo_wire.__file__, *words]
        return subprocess.run(argv, capture_output=True, text=True, check=False)


@contextmanager
def mongo_server(bench: Bench) -> Iterator[MongoServer]:
    """One that keeps records in memory; it ends with this block, and with this process.

    Raises SystemExit when it does not start.
    """
    tree = DebianSoftware().tree(JAVA)
    argv = mongo_java.argv(tree.prefix, "-Xms1G", "-Xmx1G")
    said = bench.scratch / "mongo.log"
    with own_server(tree, argv, mongo_java.PORT, bench.processors, said) as own:
        server = MongoServer(own, tree.prefix)
        own.until(server.answers, LIMIT)
        yield server
