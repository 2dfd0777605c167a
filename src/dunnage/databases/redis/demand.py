"""What a study may ask of Redis, and every way in which it can ask for too much."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dunnage.model.study import DatabaseSpec

VERSIONS = ("7.0",)
TOPOLOGIES = ("single", "replicas", "cluster")
CLUSTER_SIZES = (3, 6)
CLUSTER_PRIMARIES = 3

_SETTING = re.compile(r"[a-z][a-z0-9-]*")
_OURS = frozenset(
    {
        "bind",
        "cluster-config-file",
        "cluster-enabled",
        "cluster-port",
        "cluster-preferred-endpoint-type",
        "daemonize",
        "dir",
        "include",
        "logfile",
        "port",
        "protected-mode",
        "set-proc-title",
        "replicaof",
        "slaveof",
        "unixsocket",
    }
)
_SECRETS = frozenset({"masterauth", "masteruser", "requirepass", "aclfile", "user"})


def topology(spec: DatabaseSpec) -> str:
    """The topology asked for, or the first one."""
    return spec.topology or TOPOLOGIES[0]


def primaries(spec: DatabaseSpec) -> int:
    """How many members, counted from the first, hold data of their own."""
    return CLUSTER_PRIMARIES if topology(spec) == "cluster" else 1


def copies(spec: DatabaseSpec) -> int:
    """How many replicas each primary has."""
    return spec.members // primaries(spec) - 1


def acknowledgements(spec: DatabaseSpec) -> int:
    """How many replicas must acknowledge each write (the engine sends `WAIT`)."""
    write = spec.consistency.write
    return write if isinstance(write, int) else 0


def check(spec: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    """Return (key of the database spec, sentence) for everything that does not fit."""
    return (*_members(spec), *_consistency(spec), *_settings(spec))


def check_restore(spec: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    """Return (key, sentence) for everything that keeps a stay from starting with others' files."""
    return tuple(_restore(spec))


def dump(spec: DatabaseSpec) -> str:
    """Name of the file that a server writes all of its records to, and reads when it starts."""
    return str(spec.settings.get("dbfilename", "dump.rdb"))


def _members(spec: DatabaseSpec) -> Iterator[tuple[str, str]]:
    kind = topology(spec)
    if kind == "single" and spec.members != 1:
        yield (
            "members",
            f"topology `single` has one member, not {spec.members}; "
            "write `topology: replicas` for a primary with replicas",
        )
    elif kind == "replicas" and spec.members < 2:
        yield "members", "topology `replicas` needs a primary and at least one replica: 2 members"
    elif kind == "cluster" and spec.members not in CLUSTER_SIZES:
        yield (
            "members",
            f"topology `cluster` has 3 members, or 6 with a replica each, not {spec.members}",
        )
    elif spec.replication not in (None, copies(spec) + 1):
        yield (
            "replication",
            f"{spec.members} members in topology `{kind}` hold {copies(spec) + 1} copies of the "
            f"data, not {spec.replication}; leave it out or change `members`",
        )


def _consistency(spec: DatabaseSpec) -> Iterator[tuple[str, str]]:
    if spec.consistency.read is not None:
        yield "consistency", "the primary answers every read of Redis; leave `read` out"
    write, most = spec.consistency.write, max(copies(spec), 0)
    if write is not None and (not isinstance(write, int) or not 0 <= write <= most):
        yield (
            "consistency",
            f"`write` is the number of replicas that acknowledge each write, here from 0 to "
            f"{most}, not `{write}`",
        )


def _settings(spec: DatabaseSpec) -> Iterator[tuple[str, str]]:
    for name, value in spec.settings.items():
        if not _SETTING.fullmatch(name):
            yield "settings", f"`{name}` is not a name of a Redis setting, such as `io-threads`"
        elif name in _OURS or "-announce-" in name:
            yield "settings", f"Dunnage sets `{name}` itself; leave it out"
        elif name in _SECRETS:
            yield "settings", f"the load is made without a password; leave `{name}` out"
        if any(ord(letter) < 32 for letter in str(value)):
            yield "settings", f"the value of `{name}` must be one line of text"


def _restore(spec: DatabaseSpec) -> Iterator[tuple[str, str]]:
    if topology(spec) == "cluster":
        yield (
            "topology",
            "a member of a Redis Cluster cannot start with a copy of another stay's files: "
            "`nodes.conf` holds that stay's addresses, and without it a member takes the slots of "
            "all keys that it finds before the cluster is formed",
        )
    if spec.settings.get("appendonly") in (True, "yes"):
        yield (
            "settings",
            "with `appendonly` Redis starts from its log of writes, and ignores the file that a "
            "snapshot is made of",
        )
