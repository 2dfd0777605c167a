"""A Cassandra of one member for one comparison, and its own account of operations."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dunnage.model.layout import Software
from dunnage.software.trees import DebianSoftware

from .asked import Place
from .bench import Bench
from .contenders import Counts
from .own_server import OwnServer, own_server

PORT = 9042
LIMIT = 180.0
"""Seconds within which it must answer."""
_ONE_COPY = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
_CONFIGURATION = """
cluster_name: bench
num_tokens: 1
initial_token: "0"
auto_bootstrap: false
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
read_request_timeout: 30s
write_request_timeout: 30s
commitlog_sync: periodic
commitlog_sync_period: 10s
auto_snapshot: false
data_file_directories: [{home}/data]
commitlog_directory: {home}/commitlog
saved_caches_directory: {home}/saved_caches
hints_directory: {home}/hints
cdc_raw_directory: {home}/cdc
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{{seeds: 127.0.0.1}}]
"""
_LOGS = """<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %logger - %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="OUT"/></root>
</configuration>
"""


@dataclass(frozen=True)
class Table:
    """One that holds records."""

    keyspace: str
    name: str


@dataclass(frozen=True)
class CassandraServer:
    """One that answers."""

    own: OwnServer
    prefix: str
    """Where its tree is, for those inside."""
    engine: Path

    @property
    def place(self) -> Place:
        """Where clients find it."""
        return self.own.place

    def rows(self, statement: str) -> list[list[Any]]:
        """What it answers to CQL. Raises SystemExit with its error."""
        done = self._cql(statement)
        if done.returncode != 0:
            raise SystemExit(f"`{statement}`: {done.stderr.strip()}")
        rows: list[list[Any]] = json.loads(done.stdout)["rows"]
        return rows

    def answers(self) -> bool:
        """Whether it does."""
        return self._cql("SELECT release_version FROM system.local").returncode == 0

    def version(self) -> str:
        """As in `5.0.6`."""
        ((version,),) = self.rows("SELECT release_version FROM system.local")
        return str(version)

    def make_keyspace(self, name: str) -> None:
        """Make one if there is none."""
        self.rows(f"CREATE KEYSPACE IF NOT EXISTS {name} WITH replication = {_ONE_COPY}")

    def make(self, table: Table, columns: str) -> None:
        """Make a table in its keyspace."""
        self.make_keyspace(table.keyspace)
        self.rows(f"CREATE TABLE {table.keyspace}.{table.name} ({columns})")

    def counts(self, table: Table) -> Counts:
        """By its own virtual tables, which count what clients asked for and got."""
        reads, writes = (
            self._count(f"coordinator_{kind}_latency", table) for kind in ("read", "write")
        )
        return Counts(reads, writes)

    def _count(self, of: str, table: Table) -> int:
        found = self.rows(
            f"SELECT count FROM system_views.{of} "  # noqa: S608
            f"WHERE keyspace_name = '{table.keyspace}' AND table_name = '{table.name}'"
        )
        return sum(int(count) for (count,) in found)

    def _cql(self, statement: str) -> subprocess.CompletedProcess[str]:
        words = ("cql", "--address", f"127.0.0.1:{PORT}", "--timeout", "60", statement)
        argv = [*self.place.enter, str(self.engine), *words]
        return subprocess.run(argv, capture_output=True, text=True, check=False)


@contextmanager
def cassandra_server(version: str, bench: Bench) -> Iterator[CassandraServer]:
    """A server with an empty directory; it ends with this block, and with this process.

    Raises SystemExit when it does not start.
    """
    tree = DebianSoftware().tree(Software("cassandra", version))
    home = bench.scratch / "cassandra"
    home.mkdir()
    (home / "cassandra.yaml").write_text(_CONFIGURATION.format(home=home))
    (home / "logback.xml").write_text(_LOGS)
    argv = (
        f"{tree.prefix}/bin/java",
        f"@{tree.prefix}/lib/jvm.args",
        *("-Xms1G", "-Xmx1G"),
        f"-Dcassandra.config=file://{home}/cassandra.yaml",
        f"-Dcassandra.storagedir={home}",
        f"-Dlogback.configurationFile={home}/logback.xml",
        "-Dcassandra.jmx.local.port=7199",
        "-Dcassandra.skip_wait_for_gossip_to_settle=0",
        "-Dcassandra.superuser_setup_delay_ms=0",
        "org.apache.cassandra.service.CassandraDaemon",
    )
    with own_server(tree, argv, PORT, bench.processors, home / "log") as own:
        server = CassandraServer(own, tree.prefix, bench.engine)
        own.until(server.answers, LIMIT)
        yield server
