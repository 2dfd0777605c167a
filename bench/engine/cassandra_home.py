"""What a Cassandra beside labs is told, and the words that start it: for comparisons and tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LOOPBACK = "127.0.0.1"
_CONFIGURATION = """
cluster_name: beside labs
num_tokens: 1
initial_token: "{token}"
auto_bootstrap: false
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
listen_address: {host}
rpc_address: {host}
# After Cassandra's own 2 s, servers that had just started on a busy machine gave up writes.
read_request_timeout: 30s
range_request_timeout: 30s
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
    parameters: [{{seeds: {seed}}}]
"""
_LOGS = """<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date %logger - %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="OUT"/></root>
</configuration>
"""
_JMX_PORT = 7199


@dataclass(frozen=True)
class CassandraHome:
    """The directory of one server; servers of one cluster have the same first address."""

    path: Path
    host: str = LOOPBACK
    number: int = 0
    """Of the server in its cluster, from 0: each has a port of its own for JMX."""
    token: int = 0
    """Where its part of the ring begins."""

    def write(self, settings: str = "") -> None:
        """Make the directory and what is in it. `settings` are lines added to its configuration."""
        self.path.mkdir()
        configuration = _CONFIGURATION.format(
            host=self.host, token=self.token, home=self.path, seed=LOOPBACK
        )
        (self.path / "cassandra.yaml").write_text(configuration + settings)
        (self.path / "logback.xml").write_text(_LOGS)

    def argv(self, prefix: str, options: Sequence[str]) -> tuple[str, ...]:
        """What starts the server with options of Java, where its tree is at `prefix`."""
        return (
            f"{prefix}/bin/java",
            f"@{prefix}/lib/jvm.args",
            *options,
            f"-Dcassandra.config=file://{self.path}/cassandra.yaml",
            f"-Dcassandra.storagedir={self.path}",
            f"-Dlogback.configurationFile={self.path}/logback.xml",
            f"-Dcassandra.jmx.local.port={_JMX_PORT + self.number}",
            "-Dcassandra.skip_wait_for_gossip_to_settle=0",
            "-Dcassandra.superuser_setup_delay_ms=0",
            "org.apache.cassandra.service.CassandraDaemon",
        )
