"""The names of all that belongs to one stay."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Any

from dunnage.contracts.cluster import OF_A_STAY

LABEL = OF_A_STAY
OWN = "dunnage-"
"""How the names of networks, volumes, containers and services of a stay begin."""
_LONGEST = 28
"""Letters of a stay's own name in the names of its things."""


@dataclass(frozen=True)
class StayNames:
    """The names by which all that belongs to one stay can be found again, and only that."""

    id: str

    @classmethod
    def of(cls, stay: str, number: str | None = None) -> StayNames:
        """Names for a stay that no other has, whatever it is called.

        A Swarm wants names of at most 63 letters, digits and hyphens, members' names included.
        `number` stands in place of the eight hexadecimal digits that tell this stay from others.
        """
        known = re.sub(r"[^A-Za-z0-9-]+", "-", stay)[:_LONGEST].strip("-")
        return cls(f"{known}-{number or secrets.token_hex(4)}")

    @property
    def labels(self) -> dict[str, str]:
        """On every container, network and volume."""
        return {LABEL: self.id}

    @property
    def filter(self) -> dict[str, Any]:
        """What Docker's lists take to find them."""
        return {"label": f"{LABEL}={self.id}"}

    @property
    def network(self) -> str:
        """Name of the stay's own network."""
        return f"{OWN}{self.id}"

    def thing(self, name: str) -> str:
        """Name of a member's container or volume."""
        return f"{OWN}{self.id}-{name}"
