"""How the members of a stay are before a load and after it: alive, ready, with room for data."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.analysis.checks import Bounds, MemberState
from dunnage.contracts.platform import Seen
from dunnage.errors import TO_LOOK, StayError
from dunnage.runner.stay import Stay
from dunnage.units import size

ANSWERS = 15.0
"""Seconds within which a member says that it is ready: more than a probe itself waits, whose own
sentence tells more."""


def insist_whole(stay: Stay) -> None:
    """Raise StayError where a member has died or has no room for its data.

    Neither ends by itself, so that nothing more can be measured in this stay. In another one the
    data are new.
    """
    for member, room in _room(stay).items():
        if room < Bounds().room:
            raise StayError(f"only {size(room)} are left for its data", where=member, hint=TO_LOOK)


def states(stay: Stay, *, failed: bool) -> tuple[MemberState, ...]:
    """Of every member, whether it is alive, and where all are, how much room their data has.

    They are asked whether they are ready only where operations `failed`. To ask is work for them,
    and a member that does not answer gives its clients errors. Raises HostLostError, and StayError
    where a member dies meanwhile.
    """
    ended = stay.platform.ended()
    silent = stay.platform.silent(ANSWERS) if failed else {}
    room = {} if ended else _room(stay)
    return tuple(
        MemberState(
            place.member,
            place.host,
            ended=ended.get(place.member, ""),
            silent=" ".join(silent.get(place.member, "").split()),
            room=room.get(place.member),
        )
        for place in stay.reservation.places
    )


def _room(stay: Stay) -> Mapping[str, float]:
    """Member → bytes left for its data, of those whose processes their hosts see.

    Raises StayError where a member has died.
    """
    found = {}
    for member in stay.platform.running():
        if isinstance(member.process, Seen):
            data = stay.reservation.place(member.member).data
            # As the member finds it: on a volume or in memory it lies in a container only.
            path = f"/proc/{member.process.pid}/root{data}"
            told = member.host.run(["stat", "--file-system", "--format=%a %S", path])
            if told.code == 0:
                blocks, length = map(int, told.stdout.split())
                found[member.member] = float(blocks * length)
    return found
