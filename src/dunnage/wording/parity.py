"""In what deployments differ, in plain words; the same difference of several is said once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from dunnage.model.parity import Aspect, Cause, Difference, Factor, FoundDifference
from dunnage.wording import terms

_NAMES = (
    "chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap "
    "linux_immutable net_bind_service net_broadcast net_admin net_raw ipc_lock ipc_owner "
    "sys_module sys_rawio sys_chroot sys_ptrace sys_pacct sys_admin sys_boot sys_nice "
    "sys_resource sys_time sys_tty_config mknod lease audit_write audit_control setfcap "
    "mac_override mac_admin syslog wake_alarm block_suspend audit_read perfmon bpf "
    "checkpoint_restore"
)
CAPABILITIES = tuple(_NAMES.split())
"""Linux capabilities by bit, capabilities(7)."""
FILTERS: Mapping[str, str] = {"0": "off", "1": "strict", "2": "on"}
"""Modes of seccomp, proc(5)."""
_NOTICED = "sys_admin net_admin sys_nice ipc_lock sys_resource sys_ptrace perfmon bpf"
_FIRST = tuple(_NOTICED.split())
"""Capabilities worth naming first: those that a database or its tools may notice."""
_NAMED = 4
SIDES = ("the baseline", "this deployment")
"""What the two sides of a difference inside a result are called."""
_DIGITS = 12
"""Of a digest, enough to tell two apart."""
NONE = "-"
"""What stands for a side that has nothing."""


@dataclass(frozen=True)
class Shown:
    """One difference for a reader."""

    sides: tuple[str, ...]
    """Deployments that have it; one that is not held against the reference names its baseline."""
    what: str
    comes_with: str
    """Factor or image that brings it along; empty where nothing declared explains it."""
    unknown: bool = False
    """It could not be read, so it may differ."""


def not_compared(differing: Iterable[FoundDifference]) -> str:
    """What it means for verdicts that processes and networks are not seen, a sentence for each;
    empty if all are."""
    unseen = [each for each in differing if each.difference.cause is Cause.UNSEEN]
    sentences = (
        _limited(
            [each for each in unseen if each.difference.aspect is Aspect.PROCESS],
            "Processes of {} were not compared ({}): a verdict holds only if they run the same "
            "software with the same settings.",
        ),
        _limited(
            [each for each in unseen if each.difference.aspect is Aspect.NETWORK],
            "The network of {} is not known ({}): it was not read back, and a verdict holds for "
            "what its cluster had, which may be another than the study names.",
        ),
    )
    return " ".join(filter(None, sentences))


def _limited(unseen: Iterable[FoundDifference], phrase: str) -> str:
    """A sentence of the deployments whose side has a reason, and the reasons; empty for none."""
    sides = [
        (name, reason)
        for each in unseen
        for name, reason in (
            (each.baseline, each.difference.baseline),
            (each.deployment, each.difference.deployment),
        )
        if reason is not None
    ]
    if not sides:
        return ""
    names, reasons = (dict.fromkeys(each) for each in zip(*sides, strict=True))
    return phrase.format(terms.listed(list(names)), "; ".join(reasons))


def shown(differing: Iterable[FoundDifference], reference: str) -> tuple[Shown, ...]:
    """Differences, each once with all deployments that have it, without what was not compared."""
    sides: dict[tuple[str, str, bool], dict[str, None]] = {}
    for each in differing:
        what = each.difference
        if what.cause is Cause.UNSEEN:
            continue
        key = sentence(what), what.comes_with, what.cause is Cause.UNKNOWN
        beside = "" if each.baseline == reference else f" from {each.baseline}"
        sides.setdefault(key, {})[f"{each.deployment}{beside}"] = None
    return tuple(Shown(tuple(names), *key) for key, names in sides.items())


def factor(differing: Factor) -> str:
    """A factor with both sides: `network: host → bridge`."""
    return f"{differing.key}: {arrow(differing.baseline, differing.deployment)}"


def sentence(difference: Difference, sides: tuple[str, str] = SIDES) -> str:
    """One difference: `primary: system-call filter (seccomp): off → on`; `sides` are called so."""
    text = _without_roles(difference, sides)
    return f"{', '.join(difference.roles)}: {text}" if difference.roles else text


def origin(difference: Difference) -> str:
    """What follows a difference in a line of text; empty where nothing explains it."""
    if difference.cause is Cause.UNKNOWN:
        return " (unknown, cannot be compared)"
    if difference.cause is Cause.UNSEEN:
        return " (not compared)"
    return f" (comes with the {difference.comes_with})" if difference.comes_with else ""


def _without_roles(difference: Difference, sides: tuple[str, str]) -> str:
    values = difference.baseline, difference.deployment
    a, b = (NONE if value is None else value for value in values)
    if difference.aspect is Aspect.UNREAD:
        reasons = dict.fromkeys(filter(None, values))
        return f"{_file(difference.name)}: {'; '.join(reasons)}"
    if difference.aspect in (Aspect.PROCESS, Aspect.NETWORK):
        return f"{difference.aspect}: {'; '.join(dict.fromkeys(filter(None, values)))}"
    if difference.aspect is Aspect.MEMBER:
        return f"only {sides[difference.baseline is None]} has the member {difference.name}"
    if difference.aspect is Aspect.MAPPED and NONE not in (a, b):
        return f"another build of {difference.name} is loaded ({a} → {b})"
    if difference.aspect is Aspect.LIMIT and difference.name in _LIMITS and NONE not in (a, b):
        return _LIMITS[difference.name](a, b, sides[0])
    head = _HEADS[difference.aspect].format(difference.name)
    return f"{head}: {_quoted(*values) if difference.aspect in _LINES else arrow(*values)}"


_HEADS: Mapping[Aspect, str] = {
    Aspect.EXECUTABLE: "another executable",
    Aspect.PLACE: "another path of the executable",
    Aspect.MAPPED: "mapped file {}",
    Aspect.ARGUMENT: "argument {}",
    Aspect.VARIABLE: "environment variable {}",
    Aspect.CONFIGURATION: "configuration {}",
    Aspect.LIMIT: "limit {}",
    Aspect.DATA: "data directory, {}",
    Aspect.KERNEL: "kernel setting {}",
    Aspect.RUNTIME: "virtual machine, {}",
    Aspect.USER: "user of the process",
    Aspect.CLIENT: "load generator",
    Aspect.WAY: "on the way to members",
    Aspect.FACT: "{}",
}
_LINES = frozenset({Aspect.ARGUMENT, Aspect.VARIABLE, Aspect.CONFIGURATION, Aspect.FACT})
"""Of these both sides are texts of the user's or the server's, and may be empty or have spaces."""


def arrow(a: str | None, b: str | None) -> str:
    """Both sides of what differs: `host → bridge`, `- → 2`."""
    return f"{NONE if a is None else a} → {NONE if b is None else b}"


def _quoted(*sides: str | None) -> str:
    return " → ".join("nothing" if side is None else f"`{side}`" for side in sides)


def _file(path: str) -> str:
    """A configuration file by its name; what is no path stays as it is."""
    return f"configuration {path.rsplit('/', 1)[-1]}" if "/" in path else path


def _capabilities(a: str, b: str, first: str) -> str:
    try:
        before, after = int(a, 16), int(b, 16)
    except ValueError:  # not what a kernel writes
        return f"limit capabilities: {arrow(a, b)}"
    changes = [
        f"{word} {_some(names)}"
        for word, names in (("lacks", _held(before & ~after)), ("adds", _held(after & ~before)))
        if names
    ]
    return (
        f"kernel capabilities: {len(_held(after))} where {first} has {len(_held(before))} "
        f"({'; '.join(changes)})"
    )


def _held(mask: int) -> list[str]:
    known = [name for bit, name in enumerate(CAPABILITIES) if mask >> bit & 1]
    return known + [f"bit {bit}" for bit in range(len(CAPABILITIES), 64) if mask >> bit & 1]


def _some(names: list[str]) -> str:
    ranked = sorted(names, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    rest = len(names) - _NAMED
    text = ", ".join(ranked[:_NAMED])
    return text if rest <= 0 else f"{text} and {rest} more"


def _privileges(a: str, b: str, _first: str) -> str:
    sides = ("no" if flag == "1" else "yes" for flag in (a, b))
    return f"may gain privileges: {' → '.join(sides)}"


def _filters(a: str, b: str, _first: str) -> str:
    """Two filters are told apart by the digest behind their mode."""
    (mode, rules), (other, others) = (side.partition(":")[::2] for side in (a, b))
    sides = (FILTERS.get(mode, mode), FILTERS.get(other, other))
    if mode == other:
        known = (f"rules {each[:_DIGITS]}" if each else "rules unknown" for each in (rules, others))
        return f"system-call filter (seccomp): {' → '.join(known)}"
    return f"system-call filter (seccomp): {' → '.join(sides)}"


_LIMITS: Mapping[str, Callable[[str, str, str], str]] = {
    "capabilities": _capabilities,
    "seccomp": _filters,
    "no_new_privileges": _privileges,
    "oom_score_adj": lambda a, b, _: (
        f"priority for being killed when memory is short (oom_score_adj): {a} → {b}"
    ),
}
