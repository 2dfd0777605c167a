"""kube-proxy's rules on a node: read back, kept as text, and put in force again.

While kube-proxy is held still nobody else changes them, so blocks can change between numbers of
services.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from insisted import insisted
from lab_traces import eventually

from dunnage.contracts.host import Host
from dunnage.model.proxy import ProxyMode

_SECONDS, _EVERY = 120.0, 0.5
"""Within which kube-proxy has written what it was told, and how often that is looked at: each look
takes processor time that kube-proxy needs."""
_TRACKED = "/proc/sys/net/netfilter/nf_conntrack_count"
_FEW = 100
"""Connections of the programs that are held still: their kernel may go on to tend these."""


@dataclass(frozen=True)
class Language:
    """How a node tells its rules, and takes others in place of those in force."""

    save: tuple[str, ...]
    restore: tuple[str, ...]
    before: str
    """Stands before rules that are put in force."""
    version: tuple[str, ...]
    """Tells what makes the rules, and of which kind they are."""
    leads: re.Pattern[str]
    """What leads to the chain of a service over TCP; its group is the service's address."""

    def services(self, rules: str) -> list[str]:
        """Addresses of all services that rules lead to their chains, in the order of the rules."""
        return [str(found) for found in self.leads.findall(rules)]


LISTED = re.compile(r"^-A KUBE-SERVICES -d ([\d.]+)/32 -p tcp .*-j KUBE-SVC-", re.MULTILINE)
"""A rule of the list of all services."""
CHAINS = re.compile(r"^-A KUBE-SEP-", re.MULTILINE)
"""A rule of the chain of an endpoint."""
LANGUAGES: Mapping[ProxyMode, Language] = {
    ProxyMode.IPTABLES: Language(
        ("iptables-save", "--table", "nat"),
        ("iptables-restore", "--wait=20", "--table", "nat"),
        "",
        ("iptables", "--version"),
        LISTED,
    ),
    ProxyMode.NFTABLES: Language(
        ("nft", "--stateless", "list", "table", "ip", "kube-proxy"),
        ("nft", "--file", "-"),
        "delete table ip kube-proxy\n",
        ("nft", "--version"),
        re.compile(r"([\d.]+) \. tcp \. \d+[^,}]*?: goto service-"),
    ),
}


def commented(rules: str, which: re.Pattern[str]) -> bool:
    """Whether these rules of iptables have comments."""
    found = [line for line in rules.splitlines() if which.match(line)]
    assert found, rules
    return any("--comment" in line for line in found)


@dataclass(frozen=True)
class Node:
    """A node, the variables under which its tools run, and the language of its rules."""

    host: Host
    environment: Mapping[str, str]
    language: Language

    def version(self) -> str:
        """`iptables v1.8.9 (nf_tables)`: what makes the rules, and of which kind they are."""
        return self._told(self.language.version).strip()

    def rules(self) -> str:
        """Those in force."""
        return self._told(self.language.save)

    def services(self) -> list[str]:
        """Addresses of the services that they lead to their chains."""
        return self.language.services(self.rules())

    def put(self, rules: str) -> None:
        """Have rules that were in force before in force again."""
        self._told(self.language.restore, self.language.before + rules)

    def programmed(self, addresses: Sequence[str]) -> str:
        """The first rules that lead to all of these services."""
        found = ""

        def lead() -> bool:
            nonlocal found
            found = self.rules()
            return set(addresses) <= set(self.language.services(found))

        assert eventually(lead, _SECONDS, _EVERY), self.host.name
        return found

    def forget(self) -> None:
        """Have the kernel track no connection of this network any more.

        It would keep those that were reset for ten seconds (`nf_conntrack_tcp_timeout_close`), and
        new ones would be looked up, and given ports, among all of these.
        """
        self._told(("conntrack", "--flush"))
        left = int(self._told(("cat", _TRACKED)))
        assert left < _FEW, f"{left} connections are tracked on {self.host.name}"

    def _told(self, argv: Sequence[str], stdin: str = "") -> str:
        words = [f"{name}={value}" for name, value in self.environment.items()]
        return insisted(self.host, "env", *words, *argv, stdin=stdin)
