"""What parity found, in plain words, the same difference of several deployments told once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

CAPABILITIES = (
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
)
"""Linux capabilities by bit, capabilities(7)."""
FILTERS: Mapping[str, str] = {"0": "off", "1": "strict", "2": "on"}
"""Modes of seccomp, proc(5)."""
_INHERENT = re.compile(r" \(comes with the ([\w-]+), cannot be avoided\)$")
_UNKNOWN = re.compile(r" \(unknown, cannot be compared\)$")
_TOLD = (
    "sys_admin",
    "net_admin",
    "sys_nice",
    "ipc_lock",
    "sys_resource",
    "sys_ptrace",
    "perfmon",
    "bpf",
)
"""Capabilities worth naming first: those that a database or its tools may notice."""
_NAMED = 4


@dataclass(frozen=True)
class Told:
    """One difference for a reader."""

    sides: tuple[str, ...]
    """Deployments that differ from the baseline in it, each as parity names it."""
    what: str
    comes_with: str
    """Platform, network or image that brings it along; empty where nothing declared explains it."""
    unknown: bool = False
    """It could not be read, so nobody knows whether it differs."""


def told(differences: Iterable[str]) -> tuple[Told, ...]:
    """Read parity's sentences, `deployment: role: what`, and draw alike ones together."""
    sides: dict[tuple[str, str, bool], list[str]] = {}
    for text in differences:
        side, _, what = text.partition(": ")
        inherent = _INHERENT.search(what)
        unknown = _UNKNOWN.search(what) is not None
        said = readable(_UNKNOWN.sub("", _INHERENT.sub("", what)))
        key = said, inherent[1] if inherent else "", unknown
        found = sides.setdefault(key, [])
        if side not in found:
            found.append(side)
    return tuple(Told(tuple(names), *key) for key, names in sides.items())


def readable(text: str) -> str:
    """One difference of parity in plain words; what no rule knows stays as it is."""
    for pattern, say in _RULES:
        text = pattern.sub(say, text)
    return text


def _capabilities(match: re.Match[str]) -> str:
    a, b = (int(mask, 16) for mask in match.groups())
    lost, gained = _held(a & ~b), _held(b & ~a)
    changes = [
        f"{word} {_listed(names)}" for word, names in (("lacks", lost), ("adds", gained)) if names
    ]
    return (
        f"kernel capabilities: {len(_held(b))} where the baseline has {len(_held(a))} "
        f"({'; '.join(changes)})"
    )


def _held(mask: int) -> list[str]:
    known = [name for bit, name in enumerate(CAPABILITIES) if mask >> bit & 1]
    return known + [f"bit {bit}" for bit in range(len(CAPABILITIES), 64) if mask >> bit & 1]


def _listed(names: list[str]) -> str:
    ranked = sorted(names, key=lambda name: _TOLD.index(name) if name in _TOLD else len(_TOLD))
    rest = len(names) - _NAMED
    text = ", ".join(ranked[:_NAMED])
    return text if rest <= 0 else f"{text} and {rest} more"


def _seccomp(match: re.Match[str]) -> str:
    a, b = (FILTERS.get(mode, mode) for mode in match.groups())
    return f"system-call filter (seccomp): {a} → {b}"


def _privileges(match: re.Match[str]) -> str:
    a, b = ("no" if flag == "1" else "yes" for flag in match.groups())
    return f"may gain privileges: {a} → {b}"


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"limit capabilities: ([0-9a-f]{1,16}), ([0-9a-f]{1,16})$"), _capabilities),
    (re.compile(r"limit seccomp: (\d), (\d)$"), _seccomp),
    (re.compile(r"limit no_new_privileges: (\d), (\d)$"), _privileges),
    (
        re.compile(r"limit oom_score_adj: (-?\d+), (-?\d+)$"),
        lambda m: (
            f"priority for being killed when memory is short (oom_score_adj): {m[1]} → {m[2]}"
        ),
    ),
    (
        re.compile(r"mapped file (.+): ([0-9a-f]{12}), ([0-9a-f]{12})$"),
        lambda m: f"another build of {m[1]} is loaded ({m[2]} → {m[3]})",
    ),
    (
        re.compile(r"(limit|kernel setting|data directory,) ([\w.]+): ([^,`]+), ([^,`]+)$"),
        lambda m: f"{m[1]} {m[2]}: {m[3]} → {m[4]}",
    ),
)
