"""The network paths that a deployment's stays recorded, those of one shape together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from dunnage.model.path import Hop, HopKind, NetworkPath
from dunnage.model.record import StayRecord

Shape = tuple[tuple[HopKind, ...], bool]
"""The kinds of the hops in order, and whether they end early; names and addresses are chance."""


@dataclass(frozen=True)
class Stretch:
    """Hops of one host, or of what lies between hosts, where `host` is empty."""

    host: str
    hops: tuple[Hop, ...]


@dataclass(frozen=True)
class Way:
    """The path to one member, and who else is reached by a path of this shape."""

    path: NetworkPath
    members: tuple[str, ...]
    """All of them, in the order of the layout."""

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """The hops by host, in order."""
        return tuple(
            Stretch(host, tuple(hops))
            for host, hops in groupby(self.path.hops, lambda hop: hop.host)
        )


@dataclass(frozen=True)
class DeploymentPaths:
    """What the first stay of a deployment recorded, and which others recorded something else."""

    deployment: str
    stay: str
    ways: tuple[Way, ...]
    stays: int
    """Those that recorded paths."""
    differing: tuple[str, ...]
    """Stays whose paths have other shapes than those of the first."""


def shape(path: NetworkPath) -> Shape:
    """What two paths have in common that are alike."""
    return tuple(hop.kind for hop in path.hops), bool(path.unknown)


def ways(paths: Sequence[NetworkPath]) -> tuple[Way, ...]:
    """Each shape once, by the first member that is reached so."""
    found: dict[Shape, list[NetworkPath]] = {}
    for path in paths:
        found.setdefault(shape(path), []).append(path)
    return tuple(Way(alike[0], tuple(each.member for each in alike)) for alike in found.values())


def recorded(deployment: str, stays: Sequence[StayRecord]) -> DeploymentPaths | None:
    """Of all stays of a deployment; None where none recorded a path."""
    own = sorted(
        (stay for stay in stays if stay.deployment == deployment and stay.paths),
        key=lambda stay: (stay.started, stay.stay),
    )
    if not own:
        return None
    first = own[0]
    usual = _by_member(first)
    differing = tuple(stay.stay for stay in own if _by_member(stay) != usual)
    return DeploymentPaths(deployment, first.stay, ways(first.paths), len(own), differing)


def _by_member(stay: StayRecord) -> dict[str, Shape]:
    return {path.member: shape(path) for path in stay.paths}
