"""Whether the hosts have room for a study's records. Pure: what there is comes from outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dunnage.model.choices import Data
from dunnage.model.study import NO_MEMBERS, Study

RECORD = 1000
"""Bytes of a record: ten fields of 100 bytes, as YCSB's core workloads have them. What a database
needs beside them is not known beforehand."""


@dataclass(frozen=True)
class Room:
    """What this machine has for the hosts, in bytes."""

    memory: float
    """Of all hosts together."""
    disk: float
    """Free for the data of all hosts."""


@dataclass(frozen=True)
class Excess:
    """The records need more than there is; both in bytes."""

    what: str
    """`memory` of one host, `memory` of the machine, or its `disk`."""
    needed: float
    available: float


def beyond(study: Study, room: Room) -> Excess | None:
    """What no host can hold even if each record is there once, be it in memory or on the disk."""
    data, most = float(study.records * RECORD), max(room.memory, room.disk)
    return Excess("memory or disk space of this machine", data, most) if data > most else None


def excesses(study: Study, deployments: int, room: Room) -> Iterator[Excess]:
    """What there is too little of, where every database host holds all records.

    Where hosts share them, less may do: so these are warnings. With turns all deployments of a
    block hold their records at the same time; a snapshot is one copy more.
    """
    data = float(study.records * RECORD)
    hosts = sum(number for group, number in study.testbed.hosts.items() if group not in NO_MEMBERS)
    memory = study.testbed.memory
    if memory is not None and data > memory:
        yield Excess("memory of a host", data, memory)
    at_once = hosts * (deployments if study.load.turns is not None else 1)
    if at_once * data > room.memory:
        yield Excess("memory of this machine", at_once * data, room.memory)
    copies = at_once + (1 if study.data is Data.RESTORE else 0)
    if copies * data > room.disk:
        yield Excess("free disk space of this machine", copies * data, room.disk)
