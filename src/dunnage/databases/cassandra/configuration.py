"""`cassandra.yaml` and `logback.xml` of one member, from its three addresses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dunnage.databases.cassandra import demand
from dunnage.errors import UnavailableError
from dunnage.model.late import unfilled
from dunnage.model.layout import Place
from dunnage.model.study import DatabaseSpec

_EVERYWHERE = "0.0.0.0"  # noqa: S104  # inside a network namespace of its own

LOGBACK = """\
<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%date{ISO8601} %-5level [%thread] %logger{0} - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="STDOUT"/></root>
</configuration>
"""

_TOKENS = 2**64
_FIRST_TOKEN = -(2**63)


def render(spec: DatabaseSpec, place: Place, number: int, seed: Place) -> str:
    """The configuration of member `number` (from 0) at `place`; `seed` is whom it asks first.

    Raises UnavailableError where the endpoint has another port than the member: Cassandra tells
    peers and clients its own.
    """
    settings: dict[str, Any] = {
        **dict(_ring(spec, number, seed)),
        **dict(_network(place)),
        **dict(_directories(place)),
        **dict(_memory(demand.jvm(spec))),
        **dict(_background()),
        **demand.server_settings(spec),
    }
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in settings.items())


def token(number: int, members: int) -> int:
    """The one token of member `number`: the middle of its share of Murmur3's range."""
    return _FIRST_TOKEN + (2 * number + 1) * _TOKENS // (2 * members)


def _ring(spec: DatabaseSpec, number: int, seed: Place) -> Iterator[tuple[str, object]]:
    yield "cluster_name", "dunnage"
    yield "partitioner", "org.apache.cassandra.dht.Murmur3Partitioner"
    yield "endpoint_snitch", "SimpleSnitch"
    yield "num_tokens", 1
    yield "initial_token", str(token(number, spec.members))
    # There is no data to be handed over, so nobody waits for it.
    yield "auto_bootstrap", False
    seeds = [{"seeds": str(seed.ports["storage"].peer)}]
    provider = "org.apache.cassandra.locator.SimpleSeedProvider"
    yield "seed_provider", [{"class_name": provider, "parameters": seeds}]


def _network(place: Place) -> Iterator[tuple[str, object]]:
    storage, cql = place.ports["storage"], place.ports["cql"]
    _insist(place, "peers", storage.bind.port, storage.peer.port)
    _insist(place, "clients", cql.bind.port, cql.advertised.port)
    yield "listen_address", storage.bind.host
    yield "broadcast_address", storage.peer.host
    yield "storage_port", storage.bind.port
    # A late address is not known to what runs beside the member, so it answers on loopback too.
    yield "rpc_address", _EVERYWHERE if unfilled(cql.bind.host) else cql.bind.host
    yield "broadcast_rpc_address", cql.advertised.host
    yield "native_transport_port", cql.bind.port
    yield "start_native_transport", True


def _insist(place: Place, whom: str, own: int, told: int) -> None:
    if own != told:
        raise UnavailableError(
            f"Cassandra tells {whom} the port it listens on, {own}, but at this endpoint it is "
            f"{told}: connections would leave the endpoint",
            where=place.member,
            hint="dunnage schema study  # name an endpoint that keeps ports, such as host-port",
        )


def _directories(place: Place) -> Iterator[tuple[str, object]]:
    yield "data_file_directories", [f"{place.data}/data"]
    yield "commitlog_directory", f"{place.data}/commitlog"
    yield "saved_caches_directory", f"{place.data}/saved_caches"
    yield "hints_directory", f"{place.data}/hints"
    yield "cdc_raw_directory", f"{place.data}/cdc_raw"


def _memory(jvm: demand.Jvm) -> Iterator[tuple[str, object]]:
    """The sizes that Cassandra itself would derive from the heap, said so that none is derived."""
    yield "memtable_heap_space", f"{jvm.heap // 4}MiB"
    yield "memtable_offheap_space", f"{jvm.heap // 4}MiB"
    yield "file_cache_size", f"{min(512, jvm.heap // 4)}MiB"
    yield "networking_cache_size", f"{min(128, jvm.heap // 16)}MiB"
    yield "key_cache_size", f"{min(100, jvm.heap // 20)}MiB"
    yield "counter_cache_size", f"{min(50, jvm.heap // 40)}MiB"


def _background() -> Iterator[tuple[str, object]]:
    """As shipped, or what would be derived from processors and the size of disks."""
    yield "commitlog_sync", "periodic"
    yield "commitlog_sync_period", "10000ms"
    yield "commitlog_segment_size", "32MiB"
    yield "commitlog_total_space", "512MiB"
    yield "concurrent_compactors", 2
    yield "memtable_flush_writers", 2
    # A truncated table is gone: no copy of it is kept that would fill the disk.
    yield "auto_snapshot", False
