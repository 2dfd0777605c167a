"""Takes out of a text what two stays may differ in without running anything else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dunnage.findings.parity.ports import Named, named
from dunnage.model.late import LATE
from dunnage.model.record import StayRecord

_IPV4 = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_NUMBER = re.compile(r"(?<![\w./-])\d+(?![\w./-])")
_LAB = re.compile(r"(?<=/labs/)[^/\s]+/[^/\s]+(?=/)")
"""A lab and one of its hosts, in the path of the host's disk: where stays rotate over hosts."""
_EVERYWHERE = frozenset({"0.0.0.0", "127.0.0.1"})  # noqa: S104 - compared with, never listened on
_PLACEHOLDER = "<address>"
_INTERFACE = re.compile(r"interface(\W+)eth\d+")
"""Where a container's address is not known before it starts, its interface is named instead."""


@dataclass(frozen=True)
class Mask:
    """What one stay is called, the hosts that it told clients, and the names of its ports.

    No path holds a deployment's name but in the stay's; a tree may have a directory of that name.
    """

    names: tuple[str, ...]
    hosts: tuple[str, ...]
    ports: Named

    @classmethod
    def of_both(cls, a: StayRecord, b: StayRecord) -> tuple[Mask, Mask]:
        """The masks of two stays. Ports are masked only where both stays tell theirs."""
        ports = named(a.ports, b.ports)
        return cls._of(a, ports[0]), cls._of(b, ports[1])

    @classmethod
    def _of(cls, stay: StayRecord, ports: Named) -> Mask:
        hosts = {*stay.names, *(address.rsplit(":", 1)[0] for address in stay.endpoint)}
        by_name = {host for host in hosts if not _IPV4.fullmatch(host)}
        return cls((stay.stay,), tuple(sorted(by_name, key=len, reverse=True)), ports)

    def text(self, text: str) -> str:
        """`text` with placeholders for a stay's own names in paths, for hosts' addresses and for
        ports.

        Addresses that mean every interface or the loopback stay: a server that listens on those
        is configured otherwise than one that listens on its host's address.
        """
        return _IPV4.sub(self._own, self._named(text))

    def texts(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Key → its text with placeholders."""
        return {key: self.text(text) for key, text in texts.items()}

    def paths(self, by_path: Mapping[str, str]) -> dict[str, str]:
        """Path with placeholders → what it has."""
        return {self.text(path): found for path, found in by_path.items()}

    def without_addresses(self, text: str) -> str:
        """`text` with a placeholder for every address, or interface that stands for one.

        Runs of them count as one.
        """
        masked = _IPV4.sub(_PLACEHOLDER, self._named(text))
        masked = _INTERFACE.sub(rf"address\1{_PLACEHOLDER}", masked)
        return re.sub(rf"{_PLACEHOLDER}(?:\s+{_PLACEHOLDER})+", _PLACEHOLDER, masked)

    def _named(self, text: str) -> str:
        text = _LAB.sub("<host>", LATE.sub(_PLACEHOLDER, text))
        for name in self.names:
            text = re.sub(rf"(?<=[/@]){re.escape(name)}(?=[/@.]|$)", "<stay>", text)
        for host in self.hosts:
            # A member's name is a part of paths too, in every deployment.
            text = re.sub(rf"(?<![\w./-]){re.escape(host)}(?![\w./-])", _PLACEHOLDER, text)
        return _NUMBER.sub(self._port, text)

    def _port(self, match: re.Match[str]) -> str:
        name = self.ports.get(match[0])
        return match[0] if name is None else f"<port {name}>"

    @staticmethod
    def _own(match: re.Match[str]) -> str:
        return match[0] if match[0] in _EVERYWHERE else _PLACEHOLDER
