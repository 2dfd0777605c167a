"""Sets of addresses and ports that rules go by, as `ipset save` prints them. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from dunnage.platforms.paths.packet import Packet

_ADDRESS, _PORT = "ip", "port"


@dataclass(frozen=True)
class AddressSet:
    """One set of the kernel's."""

    kinds: tuple[str, ...]
    """What each part of an element is: `ip`, `port`, or something else."""
    elements: frozenset[str]

    def holds(self, packet: Packet, sides: str) -> bool | None:
        """Whether an element is the packet's; `sides` says for each part if it is that of the
        source (`src`) or of the destination (`dst`). None where that is not known here."""
        parts = [
            self._part(kind, side, packet)
            for kind, side in zip(self.kinds, sides.split(","), strict=False)
        ]
        known = [part for part in parts if part]
        return ",".join(known) in self.elements if len(known) == len(self.kinds) else None

    def _part(self, kind: str, side: str, packet: Packet) -> str:
        if kind == _ADDRESS:
            return packet.address if side == "dst" else packet.source
        if kind == _PORT and side == "dst":
            return str(packet.port) if self.kinds == (_PORT,) else f"tcp:{packet.port}"
        return ""


def sets(text: str) -> dict[str, AddressSet]:
    """Name → set, of what `ipset save` printed."""
    kinds: dict[str, tuple[str, ...]] = {}
    elements: dict[str, set[str]] = {}
    for words in map(str.split, text.splitlines()):
        match words:
            case ["create", name, kind, *_]:
                kinds[name] = tuple(kind.partition(":")[2].split(","))
            case ["add", name, element, *_]:
                elements.setdefault(name, set()).add(element)
    return {
        name: AddressSet(kind, frozenset(elements.get(name, ()))) for name, kind in kinds.items()
    }
