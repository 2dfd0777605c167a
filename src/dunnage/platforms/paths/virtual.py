"""Services of IPVS and the servers behind them, as `/proc/net/ip_vs` shows them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from dunnage.platforms.paths.packet import Packet

_TCP, _MARK = "TCP", "FWM"
_HEADER = 3
"""Lines before the first service."""


@dataclass(frozen=True)
class Virtual:
    """One service: it takes packets to an address and port, or those with a mark."""

    address: str
    """Empty where it goes by the mark."""
    port: int
    mark: int
    """0 where it goes by the address."""
    scheduler: str
    """How connections are spread over servers, such as `rr`."""
    servers: tuple[tuple[str, int], ...]
    """Address and port of each that gets new connections; a port of 0 stays what it was."""

    def takes(self, packet: Packet) -> bool:
        """Whether a packet is for this service."""
        if self.mark:
            return packet.mark == self.mark
        return (packet.address, packet.port) == (self.address, self.port)

    def __str__(self) -> str:
        return f"mark {self.mark:#x}" if self.mark else f"{self.address}:{self.port}"


def virtuals(text: str) -> tuple[Virtual, ...]:
    """The services of IPv4 and TCP, and those that go by a mark, of what the kernel shows."""
    return tuple(_services(text))


def _services(text: str) -> Iterator[Virtual]:
    services: list[tuple[list[str], list[tuple[str, int]]]] = []
    for words in map(str.split, text.splitlines()[_HEADER:]):
        match words:
            case ["->", server, _forwarded, weight, *_]:
                if services and weight != "0" and not _is_newer(server):
                    services[-1][1].append(_apart(server))
            case [_, _, _, *_]:
                services.append((words, []))
    for (kind, named, scheduler, *_), servers in services:
        if kind == _MARK:
            yield Virtual("", 0, int(named, 16), scheduler, tuple(servers))
        elif kind == _TCP and not _is_newer(named):
            yield Virtual(*_apart(named), 0, scheduler, tuple(servers))


def _is_newer(named: str) -> bool:
    """Whether an address is one of IPv6."""
    return named.startswith("[")


def _apart(named: str) -> tuple[str, int]:
    """Address and port, which the kernel shows in hexadecimal digits."""
    address, _, port = named.partition(":")
    return str(IPv4Address(int(address, 16))), int(port, 16)
