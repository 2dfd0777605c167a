"""Debian's iptables, unpacked: which of its two ways works on this kernel, and what it refuses."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from dunnage.errors import UnavailableError
from dunnage.software.program import last_words, run

PACKAGES = (
    "iptables",
    "libip4tc2",
    "libip6tc2",
    "libmnl0",
    "libnetfilter-conntrack3",
    "libnfnetlink0",
    "libnftnl11",
    "libxtables12",
)
"""What it consists of."""

# Debian's own preference first; the other for kernels without nf_tables.
_VARIANTS = ("nft", "legacy")


def link(entry: Path, programs: str) -> None:
    """Make a directory of names for each way, as Debian's alternatives would.

    `programs` is the directory below `entry` in which iptables' own programs are.
    """
    for variant in _VARIANTS:
        names = directory(entry, variant)
        names.mkdir()
        for family in ("iptables", "ip6tables"):
            for verb in ("", "-save", "-restore"):
                target = Path("..", programs, f"xtables-{variant}-multi")
                (names / f"{family}{verb}").symlink_to(target)


def directory(entry: Path, variant: str) -> Path:
    """The directory of names of one way."""
    return entry / f"iptables-{variant}"


def working(environment: Callable[[str], Mapping[str, str]], where: str) -> Mapping[str, str]:
    """The first `environment`, of a way by its name, under which iptables adds a translation.

    Raises UnavailableError with what each says when none does.
    """
    refusals = []
    for variant in _VARIANTS:
        variables = environment(variant)
        refusal = _refusal("iptables -w 5 -t nat -A POSTROUTING -p tcp -j MASQUERADE", variables)
        if refusal is None:
            return variables
        refusals.append(f"{variant}: {refusal}")
    raise UnavailableError(
        f"iptables does not work in a new network namespace ({'; '.join(refusals)})",
        where=where,
        hint="unshare --net iptables -t nat -L",
    )


def refuses_floating(environment: Mapping[str, str]) -> str | None:
    """What keeps iptables from translating floating addresses in a new network namespace, or None.

    `environment` are the variables under which it runs.
    """
    rules = (
        "echo 1 > /proc/sys/net/ipv4/ip_forward",
        "iptables -w 5 -t nat -A PREROUTING -d 10.77.1.1/32 -j DNAT --to-destination 10.77.0.1",
        "iptables -w 5 -t nat -A POSTROUTING -s 10.77.0.1/32 -m conntrack --ctstate DNAT "
        "-j SNAT --to-source 10.77.1.1",
    )
    return _refusal(" && ".join(rules), environment)


def _refusal(script: str, environment: Mapping[str, str]) -> str | None:
    """What fails of a script in a network namespace that vanishes at once, or None.

    Its iptables has a lock of its own: the usual one is a file of the whole machine, which a busy
    Docker holds. Older versions know no other, and wait for it.
    """
    argv = ["unshare", "--net", "sh", "-c", script]
    with TemporaryDirectory() as scratch:
        lock = {"XTABLES_LOCKFILE": f"{scratch}/xtables.lock"}
        try:
            done = run(argv, 30, env={**os.environ, **environment, **lock})
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    return last_words(done) if done.returncode else None
