"""Names the ports of members, so that the same port of two stays has the same name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dunnage.model.port import Ports

Named = Mapping[str, str]
"""Number of a port → its name."""
_A, _B = 0, 1


@dataclass(frozen=True)
class _Purpose:
    """What a number is for: one of the addresses of one port of one member."""

    member: str
    port: str
    address: str


def named(a: Ports, b: Ports) -> tuple[Named, Named]:
    """Names for the numbers of two stays' ports.

    A name has the member wherever its port can be told from those of others. Numbers for the same
    purpose have the same name, and so do all that one number joins: where every member listens on
    6379 in one stay, and each on another port in the other, they have no members in their names.
    Nothing is named where one of the stays does not tell its ports.
    """
    sides = dict(_purposes(a)), dict(_purposes(b))
    names: tuple[dict[str, str], dict[str, str]] = {}, {}
    if a and b:
        every = {purpose.member for side in sides for purpose in side}
        for numbers, purposes in _joined(*sides):
            name = _name(purposes, every)
            for side, number in numbers:
                names[side][f"{number}"] = name
    return names


def _purposes(ports: Ports) -> Iterator[tuple[_Purpose, int]]:
    for member, by_name in ports.items():
        for port, numbers in by_name.items():
            for address, number in numbers:
                yield _Purpose(member, port, address), number


def _joined(
    a: Mapping[_Purpose, int], b: Mapping[_Purpose, int]
) -> list[tuple[set[tuple[int, int]], set[_Purpose]]]:
    """Sides with their numbers, and what these are for: apart where nothing joins them."""
    groups: list[tuple[set[tuple[int, int]], set[_Purpose]]] = []
    for purpose in {**a, **b}:
        numbers = {(side, each[purpose]) for side, each in ((_A, a), (_B, b)) if purpose in each}
        purposes = {purpose}
        apart = []
        for group in groups:
            if numbers.isdisjoint(group[0]):
                apart.append(group)
            else:
                numbers |= group[0]
                purposes |= group[1]
        groups = [*apart, (numbers, purposes)]
    return groups


def _name(purposes: set[_Purpose], every: set[str]) -> str:
    ports = ", ".join(sorted({purpose.port for purpose in purposes}))
    members = {purpose.member for purpose in purposes}
    return ports if members == every else f"{ports} of {', '.join(sorted(members))}"
