"""What rules for packets know of the namespace that they are in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dunnage.platforms.paths.sets import AddressSet


@dataclass(frozen=True)
class Around:
    """A namespace with one address."""

    address: str
    sets: Mapping[str, AddressSet] = field(default_factory=dict)

    def is_local(self, address: str) -> bool:
        return address == self.address
