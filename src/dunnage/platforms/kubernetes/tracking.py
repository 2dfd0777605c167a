"""Whether a host keeps track of a pod's connections, as its netfilter has them (conntrack). Pure.

A host that routes or translates what a pod is sent looks at every packet of it. One whose pods are
on the wire by themselves does not see them.
"""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.platforms.kubernetes.questions import UNKNOWN, Answer, unknown

_RULES = {"raw": "iptables", "ruleset": "nftables"}
"""Question → whose rules it counts that keep connections from being tracked."""


def script(pid: int, address: str) -> str:
    """Ask for the pod's connections, the host's entries for them, and rules that make none.

    Listing a table of the older iptables makes it, and the kernel goes through it from then on. So
    it is listed only where it is.
    """
    entry = address.replace(".", r"\.")
    of_pod = f"nsenter --target={pid} --net ss --no-header --tcp --numeric state established"
    return f"""\
ask connections ss count . {of_pod} 'src {address} and not dst {address}'
if command -v conntrack >/dev/null; then
    ask entries conntrack count '={entry} ' conntrack -L -p tcp
else
    ask entries cat count '={entry} ' cat /proc/net/nf_conntrack
fi
if grep -q -x raw /proc/net/ip_tables_names 2>/dev/null; then
    ask raw iptables count 'NOTRACK|--notrack' iptables -w -t raw -S
else
    echo raw found 0
fi
ask ruleset nft count 'notrack|NOTRACK' nft list ruleset
"""


def told(answers: Mapping[str, Answer]) -> dict[str, str]:
    """Whether connections are tracked, and whose rules keep some from it. Raises KeyError."""
    rules = {whose: answers[name] for name, whose in _RULES.items()}
    found = [whose for whose, each in rules.items() if each.count]
    unclear = [each for each in rules.values() if each.unknown]
    none = unknown(*unclear) if unclear else "none"
    return {
        "conntrack": _tracked(answers["entries"], answers["connections"]),
        "notrack": " and ".join(found) or none,
    }


def _tracked(entries: Answer, connections: Answer) -> str:
    if entries.unknown:
        return unknown(entries)
    if entries.count:
        return "tracked"
    if connections.unknown:
        return unknown(connections)
    if connections.count:
        return "not tracked"
    return f"{UNKNOWN}: the pod had no connection yet"
