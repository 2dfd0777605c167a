"""How many rules for packets are in force in a host's network, by the tools that made them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dunnage.contracts.host import Host

_OF_IPTABLES = frozenset({"filter", "mangle", "nat", "raw", "security"})
"""Tables that `iptables-save` tells of itself, where it makes its rules by nftables."""
_FAMILIES = frozenset({"ip", "inet"})
"""Of tables of nftables, those that IPv4 passes in a host's own stack."""


def rules_in_force(host: Host, environment: Mapping[str, str]) -> int | None:
    """Rules of iptables and of nftables, all tables; None where iptables does not tell its own.

    `environment` has the variables under which the tools run. Without `nft` nobody there makes
    rules by it.
    """
    words = ("env", *(f"{name}={value}" for name, value in environment.items()))
    lists = host.run([*words, "iptables-save"])
    maps = host.run([*words, "nft", "-j", "list", "ruleset"])
    if lists.code != 0:
        return None
    return counted(lists.stdout, maps.stdout if maps.code == 0 else "")


def counted(lists: str, maps: str) -> int:
    """Rules in what `iptables-save` and `nft -j list ruleset` printed, each once."""
    told = json.loads(maps)["nftables"] if maps.strip() else []
    others = [
        each["rule"]
        for each in told
        if "rule" in each
        and each["rule"]["family"] in _FAMILIES
        and each["rule"]["table"] not in _OF_IPTABLES
    ]
    return sum(line.startswith("-A ") for line in lists.splitlines()) + len(others)
