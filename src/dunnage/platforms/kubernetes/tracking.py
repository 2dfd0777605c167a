"""Whether a host keeps track of what a pod sends, as its netfilter has it (conntrack). Pure.

A host that routes or translates what a pod sends looks at every packet of it. One whose pods are on
the wire by themselves does not see them. Which connections there are depends on the moment, so a
packet is sent on purpose: one that arrives and has no entry is not tracked.
"""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.platforms.kubernetes.questions import UNKNOWN, Answer, unknown

_PORT = 9
"""UDP, `discard`: nothing listens there, so the other side refuses what arrives."""
_REFUSED = "refused"
_RULES = {"raw": "iptables", "ruleset": "nftables"}
"""Question → whose rules it counts that keep connections from being tracked."""


def script(pid: int, address: str, to: str) -> str:
    """Send from the network of a pod with this address to another one, until that refuses it or a
    second is over; then ask for the host's entry, and for rules that make none.

    Listing a table of the older iptables makes it, and the kernel goes through it from then on. So
    it is listed only where it is.
    """
    source, target = (each.replace(".", r"\.") for each in (address, to))
    entry = f"src={source} dst={target} .*dport={_PORT} "
    return f"""\
send() {{
    nsenter --target={pid} --net bash -c '
        exec 3>/dev/udp/{to}/{_PORT} || exit 1
        for try in 1 2 3 4 5 6 7 8 9 10; do
            echo >&3 || {{ echo {_REFUSED}; exit 0; }}
            sleep 0.1
        done 2>/dev/null'
}}
ask sent bash send
if command -v conntrack >/dev/null; then
    ask entries conntrack count '{entry}' conntrack -L -p udp -s {address} -d {to}
else
    ask entries cat count '{entry}' cat /proc/net/nf_conntrack
fi
if grep -q -x raw /proc/net/ip_tables_names 2>/dev/null; then
    ask raw iptables count 'NOTRACK|--notrack' iptables -w -t raw -S
else
    echo raw found 0
fi
ask ruleset nft count 'notrack|NOTRACK' nft --stateless list ruleset
"""


def told(answers: Mapping[str, Answer]) -> dict[str, str]:
    """Whether connections are tracked, and whose rules keep some from it. Raises KeyError."""
    rules = {whose: answers[name] for name, whose in _RULES.items()}
    found = [whose for whose, each in rules.items() if each.count]
    unclear = [each for each in rules.values() if each.unknown]
    none = unknown(*unclear) if unclear else "none"
    return {
        "conntrack": _tracked(answers["entries"], answers["sent"]),
        "notrack": " and ".join(found) or none,
    }


def _tracked(entries: Answer, sent: Answer) -> str:
    if entries.count:
        return "tracked"
    if entries.unknown or sent.unknown:
        return unknown(entries, sent)
    if sent.text == _REFUSED:
        return "not tracked"
    return f"{UNKNOWN}: nothing answers what the pod sends"
