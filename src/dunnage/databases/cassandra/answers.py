"""What Cassandra answers, parsed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from dunnage.model.value import Scalar

SETTINGS = (
    "commitlog_sync",
    "commitlog_sync_period",
    "commitlog_total_space",
    "compaction_throughput",
    "concurrent_compactors",
    "concurrent_reads",
    "concurrent_writes",
    "disk_access_mode",
    "file_cache_size",
    "key_cache_size",
    "memtable_allocation_type",
    "memtable_flush_writers",
    "memtable_heap_space",
    "memtable_offheap_space",
    "native_transport_max_threads",
    "networking_cache_size",
    "read_request_timeout",
    "trickle_fsync",
    "write_request_timeout",
)
"""Settings that are read back beside the study's own; none of them can hold a secret."""
NOT_TOLD = "not told"
"""In place of the value of a study's setting that a server does not list."""

_POOLS = (
    "CompactionExecutor",
    "HintsDispatcher",
    "MemtableFlushWriter",
    "MemtablePostFlush",
    "MutationStage",
    "PerDiskMemtableFlushWriter_0",
)
_MEBIBYTE = 2**20

Rows = list[dict[str, Any]]


def tables(text: str) -> list[Rows]:
    """The rows of each statement's answer, as column → value: one JSON document a line."""
    answered = [json.loads(line) for line in text.splitlines() if line.strip()]
    return [
        [dict(zip(one["columns"], row, strict=True)) for row in one["rows"]] for one in answered
    ]


def knows(text: str, clients: frozenset[str]) -> bool:
    """Whether a member lists these peers, each with its tokens and the address told to clients."""
    (peers,) = tables(text)
    told = [f"{peer['native_address']}:{peer['native_port']}" for peer in peers if peer["tokens"]]
    return sorted(told) == sorted(clients)


def agrees(text: str, members: int) -> bool:
    """Whether the table is there and as many members have one and the same schema."""
    there, own, others = tables(text)
    versions = [row["schema_version"] for row in (*own, *others)]
    return len(there) == 1 and len(versions) == members and len(set(versions)) == 1


def agrees_on(text: str, members: int, table: str) -> bool:
    """Whether as many members agree on the table of this id, which is asked for first."""
    return agrees(text, members) and tables(text)[0] == [{"id": table}]


def at_rest(text: str) -> bool:
    """Whether nothing is compacted, flushed, or waiting to be written."""
    running, pools = tables(text)
    busy = [
        pool
        for pool in pools
        if pool["name"] in _POOLS and (pool["active_tasks"] or pool["pending_tasks"])
    ]
    return not running and not busy and bool(pools)


def has_size(text: str) -> bool:
    """Whether a member tells what its table takes."""
    return bool(tables(text)[0])


def size_facts(text: str, share: float) -> Mapping[str, Scalar]:
    """`data_size`: bytes of one copy of all records, from the table of one member.

    Tokens are spread evenly, so that one copy is the member's table times its `share`, members by
    copies. Cassandra tells whole MiB.
    """
    (usage,) = tables(text)
    return {"data_size": round(usage[0]["mebibytes"] * _MEBIBYTE * share)} if usage else {}


def server_facts(member: str, text: str) -> dict[str, Scalar]:
    """Facts of `system.local` that are the same in every stay: no host id, no schema version."""
    ((row,),) = tables(text)
    return {
        f"{member}.{name}": ", ".join(value) if isinstance(value, list) else value
        for name, value in row.items()
    }


def schema_facts(member: str, text: str) -> dict[str, Scalar]:
    """How many members this one knows, itself too, and how many schemas they have among them.

    Where all agree that is one. The schema's own version is another one in every stay.
    """
    versions = [row["schema_version"] for rows in tables(text) for row in rows]
    return {
        f"{member}.schema.members": len(versions),
        f"{member}.schema.versions": len(set(versions)),
    }


def table_facts(member: str, text: str) -> dict[str, Scalar]:
    """How the table is kept, each answer being one JSON text."""
    options: dict[str, Any] = {}
    for rows in tables(text):
        for row in rows:
            options |= json.loads(row["[json]"])
    return {
        f"{member}.table.{name}": value
        if isinstance(value, str)
        else json.dumps(value, sort_keys=True)
        for name, value in options.items()
    }


def settings_facts(member: str, text: str, own: Collection[str] = ()) -> dict[str, Scalar]:
    """Settings in force; of the study's `own` each has a fact, told or not."""
    (rows,) = tables(text)
    values = {row["name"]: row["value"] for row in rows}
    known = {name: values[name] for name in SETTINGS if name in values}
    asked = {name: values.get(name, NOT_TOLD) for name in own}
    return {f"{member}.{name}": value for name, value in sorted((known | asked).items())}


def java_facts(member: str, text: str) -> dict[str, Scalar]:
    """Heap, collectors, processors and files that Java has, from its own management beans.

    nodetool may warn of something before it answers.
    """
    beans = {bean["name"]: bean for bean in json.loads(text[text.index("{") :])["beans"]}
    collectors = sorted(bean["Name"] for name, bean in beans.items() if "GarbageColl" in name)
    system, runtime = beans["java.lang:type=OperatingSystem"], beans["java.lang:type=Runtime"]
    return {
        f"{member}.java.version": f"{runtime['VmName']} {runtime['VmVersion']}",
        f"{member}.java.heap": beans["java.lang:type=Memory"]["HeapMemoryUsage"]["max"],
        f"{member}.java.collectors": ", ".join(collectors),
        f"{member}.java.processors": system["AvailableProcessors"],
        f"{member}.java.open_files": system["MaxFileDescriptorCount"],
    }
