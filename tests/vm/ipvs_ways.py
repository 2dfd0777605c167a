"""What every way through IPVS has."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.model.path import HopKind, NetworkPath


def led_by_ipvs(paths: Sequence[NetworkPath]) -> None:
    """IPVS sends to the member, and it is known how, from end to end."""
    assert paths
    for path in paths:
        assert not path.unknown, path
        assert path.hops[-1].kind is HopKind.MEMBER, path
        (served,) = (hop for hop in path.hops if hop.name == "IPVS")
        assert served.kind is HopKind.TRANSLATION, path
