"""What is said of network paths, on the page as in the terminal."""

from __future__ import annotations

from dunnage.findings.paths.recorded import DeploymentPaths, Stretch, Way
from dunnage.model.path import Hop, HopKind
from dunnage.wording import numbers, terms

_KINDS = {
    HopKind.CLIENT: "client process",
    HopKind.VETH: "virtual cable",
    HopKind.DEVICE: "device",
    HopKind.BRIDGE: "bridge",
    HopKind.TRANSLATION: "address translation",
    HopKind.PROXY: "proxy process",
    HopKind.TUNNEL: "tunnel",
    HopKind.ROUTER: "router",
    HopKind.WIRE: "cable or switch",
    HopKind.MEMBER: "database process",
}


def kind(hop: Hop) -> str:
    """What a hop is."""
    return _KINDS[hop.kind]


def place(stretch: Stretch, way: Way) -> str:
    """Whose hops these are."""
    if not stretch.host:
        return "between hosts"
    if stretch.host == way.path.client:
        return f"client host {terms.plain(stretch.host)}"
    if any(hop.kind is HopKind.ROUTER for hop in stretch.hops):
        return f"between hosts: {terms.plain(stretch.host)}"
    return f"database host {terms.plain(stretch.host)}"


def leads(way: Way) -> str:
    """From where to where, and who else is reached alike."""
    path = way.path
    first = (
        f"From {terms.plain(path.client)} to {terms.plain(path.member)} "
        f"at {terms.plain(path.address)}"
    )
    others = [terms.plain(member) for member in way.members if member != path.member]
    return f"{first}; to {terms.listed(others)} in the same way" if others else first


def broken(way: Way) -> str:
    """Why a path ends early; empty if it does not."""
    unknown = terms.plain(way.path.unknown)
    return f"The rest of the way is not known: {unknown}" if unknown else ""


def others(found: DeploymentPaths) -> str:
    """What other stays recorded."""
    if found.stays == 1:
        return f"Recorded in stay `{terms.plain(found.stay)}`"
    first = f"Recorded in stay `{terms.plain(found.stay)}`, the first of {found.stays}"
    if not found.differing:
        return f"{first}; the others have paths of the same shape"
    names = [f"`{terms.plain(stay)}`" for stay in found.differing]
    return (
        f"{first}; {numbers.count(len(names), 'other stay')} recorded paths of another shape: "
        f"{terms.listed(names)}"
    )
