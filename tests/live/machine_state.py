"""What this machine has of its own that no study may change, as texts to be compared.

As a program it tells that of the network namespace in which it runs, as JSON.
"""

from __future__ import annotations

import json
import os
import re
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dunnage.software import docker
from dunnage.software.cache import Cache

_SETTINGS = Path("/proc/sys")
_MOVING = {
    "fs/aio-nr",
    "fs/dentry-state",
    "fs/file-nr",
    "fs/inode-nr",
    "fs/inode-state",
    *(f"fs/quota/{name}" for name in ("allocated_dquots", "cache_hits", "drops", "free_dquots")),
    *(f"fs/quota/{name}" for name in ("lookups", "reads", "syncs", "writes")),
    "kernel/hung_task_detect_count",
    "kernel/hung_task_warnings",
    "kernel/ns_last_pid",
    "kernel/perf_event_max_sample_rate",
    "kernel/pty/nr",
    "kernel/random/entropy_avail",
    "kernel/random/uuid",
    "net/netfilter/nf_conntrack_count",
}
"""Below `/proc/sys` what is no setting: the kernel counts or draws it, or lowers it by itself."""
_NETWORK = (
    "ip -oneline link",
    "ip -oneline address",
    "ip route show table all",
    "ip -6 route show table all",
    "ip rule",
    "ip -6 rule",
    "bridge link",
    "bridge vlan",
    "iptables-legacy-save",
    "ip6tables-legacy-save",
)
_PASSING = re.compile(r"^#.*$|\[\d+:\d+\]|\b\d+sec\b", re.MULTILINE)
"""What such a program tells of now: the date, packets so far, how long an address is lent."""
NFTABLES = "nftables"
_NETLINK_NETFILTER, _REQUEST, _ERROR = 12, 1, 2
_GET_GENERATION = 10 << 8 | 16
"""Subsystem nftables, message `NFT_MSG_GETGEN` (linux/netfilter/nf_tables.h)."""


def machine_state() -> dict[str, str]:
    """The own network of who asks, and every setting of the kernel."""
    return {**own_network(), **dict(_settings(_SETTINGS))}


def own_network() -> dict[str, str]:
    """Interfaces, addresses, routes, bridges, rules and settings of the own network namespace."""
    # Many machines have no iptables, so all are asked by that of Docker's packages.
    tools = {**os.environ, **docker.unpacked(Cache()).environment}
    told = {words: _told(words, tools if "tables" in words else os.environ) for words in _NETWORK}
    return {**told, NFTABLES: _nftables(), **dict(_settings(_SETTINGS / "net"))}


def state_within(within: Sequence[str]) -> dict[str, str]:
    """The same as `machine_state` of a process that the words `within` run."""
    asked = subprocess.run(
        [*within, sys.executable, __file__], capture_output=True, text=True, check=True
    )
    told: dict[str, str] = json.loads(asked.stdout)
    return told


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """What differs, before and after; empty where something is not there."""
    every = sorted({*before, *after})
    pairs = {name: (before.get(name, ""), after.get(name, "")) for name in every}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _told(words: str, environment: Mapping[str, str]) -> str:
    """All that a program says, be it that the kernel lacks what it asks for."""
    done = subprocess.run(words.split(), capture_output=True, text=True, env=environment)
    return _PASSING.sub("", done.stdout + done.stderr)


def _nftables() -> str:
    """How often the nftables of this network namespace were changed since it was made.

    Every change of any table, by whatever program, makes the kernel count on.
    """
    request = struct.pack("=IHHIIBBH", 20, _GET_GENERATION, _REQUEST, 0, 0, socket.AF_UNSPEC, 0, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER) as kernel:
        kernel.bind((0, 0))
        kernel.send(request)
        answer = kernel.recv(4096)
    if struct.unpack_from("=H", answer, 4)[0] == _ERROR:
        return os.strerror(-struct.unpack_from("=i", answer, 16)[0])
    return str(struct.unpack_from(">I", answer, 24)[0])


def _settings(top: Path) -> Iterator[tuple[str, str]]:
    """Name and content of each file below; where it cannot be read, why."""
    for file in top.rglob("*"):
        name = str(file.relative_to(_SETTINGS))
        if name in _MOVING or not file.is_file():
            continue
        try:
            yield name, file.read_bytes().decode(errors="backslashreplace")
        except OSError as error:
            yield name, os.strerror(error.errno or 0)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(machine_state()))
