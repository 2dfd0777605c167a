"""What a study may ask of Cassandra, and every way in which it can ask for too much."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dunnage.model.study import DatabaseSpec
from dunnage.model.value import Scalar

VERSIONS = ("5.0", "4.1")
TOPOLOGIES = ("ring",)
COPIES = 3
"""Copies kept unless the study says otherwise, or as many as there are members."""
LEVEL = "QUORUM"
"""Consistency unless the study says otherwise: the default of YCSB's binding for Cassandra."""
LEVELS = ("ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_ONE", "LOCAL_QUORUM")
COLLECTORS = ("G1", "Parallel", "Serial")
COMPILERS = ("C1+C2", "C1")

_JVM = "jvm."
_JVM_DEFAULTS: Mapping[str, Scalar] = {
    "heap": "512M",
    "direct": "256M",
    "collector": "G1",
    "compilers": "C1+C2",
    "processors": 2,
}
_MEMORY = re.compile(r"([1-9][0-9]{0,5})([MG])")
_LEAST_HEAP = 256
_SETTING = re.compile(r"[a-z][a-z0-9_]*")
_OURS = frozenset(
    {
        "authenticator",
        "authorizer",
        "auto_bootstrap",
        "auto_snapshot",
        "broadcast_address",
        "broadcast_rpc_address",
        "cdc_raw_directory",
        "client_encryption_options",
        "cluster_name",
        "commitlog_directory",
        "data_file_directories",
        "endpoint_snitch",
        "hints_directory",
        "initial_token",
        "listen_address",
        "listen_interface",
        "local_system_data_file_directory",
        "native_transport_port",
        "native_transport_port_ssl",
        "num_tokens",
        "partitioner",
        "rpc_address",
        "rpc_interface",
        "saved_caches_directory",
        "seed_provider",
        "server_encryption_options",
        "start_native_transport",
        "storage_port",
    }
)


@dataclass(frozen=True)
class Jvm:
    """What every member's Java is given, whatever the machine or a container has. Sizes in MiB."""

    heap: int
    direct: int
    """Most memory outside the heap for buffers."""
    collector: str
    compilers: str
    """With C1 alone a server starts with less processor time, and is slower ever after."""
    processors: int
    """Processors that Java believes to have: it sizes its pools of threads by them."""


def jvm(spec: DatabaseSpec) -> Jvm:
    """The study's settings `jvm.…` over the defaults, of a spec that `check` accepts."""
    settings = {**_JVM_DEFAULTS, **_jvm_settings(spec)}
    return Jvm(
        heap=_mebibytes(settings["heap"]) or 0,
        direct=_mebibytes(settings["direct"]) or 0,
        collector=str(settings["collector"]),
        compilers=str(settings["compilers"]),
        processors=int(str(settings["processors"])),
    )


def server_settings(spec: DatabaseSpec) -> dict[str, Scalar]:
    """The study's settings that belong into `cassandra.yaml`."""
    return {name: value for name, value in spec.settings.items() if not name.startswith(_JVM)}


def copies(spec: DatabaseSpec) -> int:
    """How many members hold each record."""
    return spec.replication or min(COPIES, spec.members)


def read_level(spec: DatabaseSpec) -> str:
    """Consistency of reads."""
    return str(spec.consistency.read or LEVEL)


def write_level(spec: DatabaseSpec) -> str:
    """Consistency of writes."""
    return str(spec.consistency.write or LEVEL)


def needed(level: str, copies: int) -> int:
    """How many copies must answer at a consistency level, of as many as there are.

    Cassandra's documentation, "Tunable consistency": a quorum is half of the copies and one more.
    """
    quorum = copies // 2 + 1
    return {
        "ONE": 1,
        "LOCAL_ONE": 1,
        "TWO": 2,
        "THREE": 3,
        "QUORUM": quorum,
        "LOCAL_QUORUM": quorum,
        "ALL": copies,
    }[level]


def check(spec: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    """Return (key of the database spec, sentence) for everything that does not fit."""
    return (*_replication(spec), *_consistency(spec), *_settings(spec), *_jvm(spec))


def check_restore(_: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    """Return nothing: any ring can start with the table's files of another one of its kind.

    They hold rows and no addresses. Those are in the system tables (`local`, `peers_v2`), which
    every stay makes anew. Tokens follow from the number of members, so that rows belong to the
    members of the same names again.
    """
    return ()


def _replication(spec: DatabaseSpec) -> Iterator[tuple[str, str]]:
    if copies(spec) > spec.members:
        yield (
            "replication",
            f"{copies(spec)} copies need as many members, and there "
            f"{'is' if spec.members == 1 else 'are'} {spec.members}",
        )


def _consistency(spec: DatabaseSpec) -> Iterator[tuple[str, str]]:
    there = min(copies(spec), spec.members)
    for key, level in (("read", spec.consistency.read), ("write", spec.consistency.write)):
        if level is None:
            continue
        if level not in LEVELS:
            known = ", ".join(f"`{name}`" for name in LEVELS)
            yield "consistency", f"`{key}` is one of {known}, not `{level}`"
        elif needed(str(level), there) > there:
            yield (
                "consistency",
                f"`{key}: {level}` needs {needed(str(level), there)} copies to answer, and each "
                f"record has {there}",
            )


def _settings(spec: DatabaseSpec) -> Iterator[tuple[str, str]]:
    for name, value in server_settings(spec).items():
        if not _SETTING.fullmatch(name):
            yield (
                "settings",
                f"`{name}` is not a name of a setting in `cassandra.yaml`, such as "
                "`concurrent_writes`; settings of Java begin with `jvm.`",
            )
        elif name in _OURS:
            yield "settings", f"Dunnage sets `{name}` itself; leave it out"
        elif "password" in name:
            yield "settings", f"the load is made without a password; leave `{name}` out"
        if any(ord(letter) < 32 for letter in str(value)):
            yield "settings", f"the value of `{name}` must be one line of text"


def _jvm(spec: DatabaseSpec) -> Iterator[tuple[str, str]]:
    for name, value in _jvm_settings(spec).items():
        wrong = _jvm_problem(name, value)
        if wrong is not None:
            yield "settings", wrong


def _jvm_problem(name: str, value: Scalar) -> str | None:
    match name:
        case "heap" | "direct":
            size = _mebibytes(value)
            if size is None:
                return f"`jvm.{name}` is a size such as `512M` or `2G`, not `{value}`"
            if name == "heap" and size < _LEAST_HEAP:
                return f"`jvm.heap` must be at least `{_LEAST_HEAP}M`: Cassandra fails with less"
        case "collector" | "compilers":
            choice = COLLECTORS if name == "collector" else COMPILERS
            if value not in choice:
                known = ", ".join(f"`{each}`" for each in choice)
                return f"`jvm.{name}` is one of {known}, not `{value}`"
        case "processors":
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1024:
                return f"`jvm.processors` is a number from 1 to 1024, not `{value}`"
        case _:
            known = ", ".join(f"`jvm.{each}`" for each in _JVM_DEFAULTS)
            return f"unknown setting `jvm.{name}`; known are {known}"
    return None


def _jvm_settings(spec: DatabaseSpec) -> dict[str, Scalar]:
    return {
        name.removeprefix(_JVM): value
        for name, value in spec.settings.items()
        if name.startswith(_JVM)
    }


def _mebibytes(text: Scalar) -> int | None:
    match = _MEMORY.fullmatch(str(text))
    return int(match[1]) * {"M": 1, "G": 1024}[match[2]] if match else None
