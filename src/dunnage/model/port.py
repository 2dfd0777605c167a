"""The numbers of a member's port, as stays record them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dunnage.model.value import Value


class PortNumbers(Value):
    """The numbers of one port of one member: they differ where ports are translated on the way."""

    bind: int
    """What the process listens on."""
    peer: int
    """What other members connect to."""
    contact: int
    """Where a client's driver begins."""
    advertised: int
    """What the member tells clients of itself."""


Ports = Mapping[str, Mapping[str, PortNumbers]]
"""Member → name of a port → its numbers."""


def ports_from_earlier(given: Any) -> Any:
    """The ports of a stay of any version as this one has them.

    Records of version 16 have numbers by names, and do not tell which member has which.
    """
    if isinstance(given, Mapping) and any(not isinstance(each, Mapping) for each in given.values()):
        return {}
    return given
