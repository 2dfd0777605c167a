"""What leads addresses of services to pods, by the rules of a host. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dunnage.platforms.kubernetes.asking import Answer, unknown

SCRIPT = """\
of_nft() {
    tables=$(nft list tables ip) || return
    case $tables in *"table ip kube-proxy"*) nft list table ip kube-proxy ;; esac
}
ask iptables iptables iptables --version
ask lists iptables count '^-N KUBE-SERVICES$' iptables -w -t nat -S
ask listed iptables count '-j DNAT' iptables -w -t nat -S
ask maps nft count '^table ip kube-proxy' of_nft
ask mapped nft count 'dnat to' of_nft
ask virtual cat count '^ +-> [0-9A-F[]' cat /proc/self/net/ip_vs
"""
"""Asks for each mode's rules, for how many of them translate, and for servers behind IPVS."""
_MODES = {"iptables": ("lists", "listed"), "nftables": ("maps", "mapped")}
"""kube-proxy's mode → names of the answers that count its own rules, and those that translate."""
_IPVS = "kube-ipvs0"
"""The device by which kube-proxy holds the addresses of services in IPVS mode."""


def told(answers: Mapping[str, Answer], links: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The mode of kube-proxy, how many rules translate, and which `iptables` makes rules there.

    kube-proxy's IPVS mode has chains of iptables as well, and a device that no other has; `links`
    are those of the host. There the servers that IPVS knows translate. A host that lacks a tool, or
    whose tool fails, does not know of none. Raises ValueError for an answer that is no number.
    """
    version = answers["iptables"]
    made = unknown(version) if version.unknown else version.text.removeprefix("iptables ")
    ipvs = any(each["ifname"] == _IPVS for each in links)
    return {**(_of_ipvs(answers["virtual"]) if ipvs else _of_rules(answers)), "iptables": made}


def _of_ipvs(servers: Answer) -> dict[str, str]:
    translations = unknown(servers) if servers.unknown else str(servers.count)
    return {"proxy": "ipvs", "translations": translations}


def _of_rules(answers: Mapping[str, Answer]) -> dict[str, str]:
    found = [mode for mode, (own, _) in _MODES.items() if answers[own].count]
    needed = [name for mode in found for name in _MODES[mode]] or [
        own for own, _ in _MODES.values()
    ]
    unclear = [answers[name] for name in needed if answers[name].unknown]
    none = unknown(*unclear) if unclear else "none"
    translations = str(sum(answers[name].count for _, name in _MODES.values()))
    return {
        "proxy": " and ".join(found) or none,
        "translations": none if unclear else translations,
    }
