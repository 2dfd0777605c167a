"""Whether a host tracks connections on the way of its pods (conntrack), as its kernel says. Pure.

A host that routes or translates what a pod sends looks at every packet of it. One whose pods are on
the wire by themselves does not see them.
"""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.platforms.kubernetes.asking import Answer, unknown

NOT_TRACKED = "not tracked"
_COUNT = "/proc/sys/net/netfilter/nf_conntrack_count"
"""How many connections the kernel tracks in the reader's network."""
_NEVER = "never"
_OLDER = "xtables-legacy-multi"
_RULES = {"raw": "iptables", "ruleset": "nftables"}
"""Name of an answer → whose rules it counts that keep connections from being tracked."""

SCRIPT = f"""\
if [ -e {_COUNT} ]; then ask tracked cat cat {_COUNT}
else echo tracked found {_NEVER}; fi
if grep -q -x raw /proc/net/ip_tables_names 2>/dev/null; then
    ask raw {_OLDER} count 'NOTRACK|--notrack' {_OLDER} iptables -w -t raw -S
else
    echo raw found 0
fi
ask ruleset nft count 'notrack|NOTRACK' nft --stateless list ruleset
"""
"""Asks for the entries of a host, and for rules that make none.

Listing a table of the older iptables makes it, and the kernel goes through it from then on. So it
is listed only where it is, and by the older iptables: the newer one lists its own.
"""


def told(answers: Mapping[str, Answer], unseen: str) -> dict[str, str]:
    """Whether connections are tracked, and whose rules keep some from it.

    `unseen` is what is to be told where the host does not see its pod's packets, empty where it
    does. Raises ValueError for an answer that is no number.
    """
    rules = {whose: answers[name] for name, whose in _RULES.items()}
    found = [whose for whose, each in rules.items() if each.count]
    unclear = [each for each in rules.values() if each.unknown]
    none = unknown(*unclear) if unclear else "none"
    return {
        "conntrack": unseen or _tracked(answers["tracked"]),
        "notrack": " and ".join(found) or none,
    }


def _tracked(entries: Answer) -> str:
    """A node always has connections of its own, so one that tracks them has entries."""
    if entries.unknown:
        return unknown(entries)
    if entries.text == _NEVER:
        return NOT_TRACKED
    if entries.count:
        return "tracked"
    return unknown(Answer(unknown="its host has no entry of any connection"))
