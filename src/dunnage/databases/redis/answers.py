"""What Redis answers, parsed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dunnage.model.value import Scalar

_SERVER = (
    "redis_version",
    "redis_mode",
    "arch_bits",
    "monotonic_clock",
    "multiplexing_api",
    "role",
    "connected_slaves",
    "master_link_status",
    "maxmemory",
    "maxmemory_policy",
    "mem_allocator",
)
CONFIG = (
    "activedefrag",
    "activerehashing",
    "appendfsync",
    "appendonly",
    "client-output-buffer-limit",
    "dynamic-hz",
    "hash-max-listpack-entries",
    "hash-max-listpack-value",
    "hz",
    "io-threads",
    "io-threads-do-reads",
    "lazyfree-lazy-server-del",
    "maxclients",
    "min-replicas-to-write",
    "oom-score-adj",
    "repl-backlog-size",
    "repl-diskless-sync",
    "repl-diskless-sync-delay",
    "save",
    "tcp-backlog",
    "tcp-keepalive",
)
"""Settings that are read back; none of them can hold a secret."""


def info(text: str) -> dict[str, str]:
    """The `name:value` lines of `INFO` or `CLUSTER INFO`."""
    lines = (line.strip() for line in text.splitlines())
    return {
        name: value
        for line in lines
        if line and not line.startswith("#")
        for name, colon, value in [line.partition(":")]
        if colon
    }


def server_facts(member: str, text: str) -> dict[str, Scalar]:
    """Facts of `INFO` that a second look gives again: versions, role, memory policy."""
    facts = info(text)
    return {f"{member}.{name}": facts[name] for name in _SERVER if name in facts}


def config_facts(member: str, text: str) -> dict[str, Scalar]:
    """Facts of `CONFIG GET`: names and values on lines of their own, in turn."""
    lines = text.rstrip("\n").split("\n")
    if len(lines) % 2:
        lines.append("")  # an empty value at the end
    return {
        f"{member}.{name}": value
        for name, value in zip(lines[::2], lines[1::2], strict=True)
        if name in CONFIG
    }


def cluster_facts(member: str, text: str) -> dict[str, Scalar]:
    """Facts of `CLUSTER NODES` as a member tells them: its slots and the address it announces."""
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 8 and "myself" in fields[2].split(","):
            address, _, name = fields[1].partition(",")
            host, _, port = address.partition("@")[0].rpartition(":")
            return {
                f"{member}.cluster_role": "primary" if "master" in fields[2] else "replica",
                f"{member}.slots": " ".join(fields[8:]),
                f"{member}.announced": f"{name.partition(',')[0] or host}:{port}",
            }
    return {}


def size_facts(text: str) -> Mapping[str, Scalar]:
    """`data_size`: the bytes that the data itself takes in all primaries whose `INFO` this is."""
    sizes = re.findall(r"^used_memory_dataset:(\d+)", text, re.MULTILINE)
    return {"data_size": sum(map(int, sizes))} if sizes else {}


def follows(text: str) -> bool:
    """Whether `INFO replication` is that of a replica with its primary's data."""
    facts = info(text)
    return (
        facts.get("master_link_status") == "up"
        and facts.get("master_sync_in_progress") == "0"
        and facts.get("slave_read_repl_offset") == facts.get("slave_repl_offset")
    )


def caught_up(text: str, replicas: int) -> bool:
    """Whether `INFO replication` is that of a primary whose replicas have all of its writes."""
    facts = info(text)
    offset = facts.get("master_repl_offset")
    states = [
        dict(part.partition("=")[::2] for part in value.split(","))
        for name, value in facts.items()
        if re.fullmatch(r"slave\d+", name)
    ]
    return (
        facts.get("role") == "master"
        and len(states) == replicas
        and all(state.get("state") == "online" for state in states)
        and all(state.get("offset") == offset for state in states)
    )


def at_rest(text: str) -> bool:
    """Whether `INFO persistence` tells of no background work."""
    facts = info(text)
    busy = ("loading", "async_loading", "rdb_bgsave_in_progress", "aof_rewrite_in_progress")
    return bool(facts) and all(facts.get(name, "0") == "0" for name in busy)


def formed(text: str, members: int) -> bool:
    """Whether `CLUSTER INFO` tells of a whole cluster of this many members."""
    facts = info(text)
    return (
        facts.get("cluster_state") == "ok"
        and facts.get("cluster_slots_ok") == "16384"
        and facts.get("cluster_known_nodes") == str(members)
    )


def agreed(text: str, primaries: int, replicas: int) -> bool:
    """Whether `CLUSTER NODES` lists all members in their roles, reached and in good health."""
    nodes = [line.split() for line in text.splitlines() if line.strip()]
    roles = [node[2].split(",") for node in nodes if len(node) >= 8 and node[7] == "connected"]
    doubtful = {"fail", "fail?", "handshake", "noaddr"}
    return (
        len(nodes) == primaries + replicas
        and sum("master" in role for role in roles) == primaries
        and sum("slave" in role for role in roles) == replicas
        and not any(doubtful & set(role) for role in roles)
    )
