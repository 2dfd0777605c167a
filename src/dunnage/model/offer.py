"""What this Dunnage can do, as plain data: studies are checked without starting anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from dunnage.model.study import ClientPlace, DatabaseSpec, Storage


class Capability(StrEnum):
    """What a host must be able to do for some variant. It belongs to the host, not to us."""

    ROOT = "root"
    NAMESPACES = "namespaces"
    CGROUPS = "cgroups"
    ENGINE = "engine"
    """The `dunnage-engine` binary is built."""
    DOCKER = "docker"
    """A dockerd can be had: on PATH, or unpacked from Debian's packages."""
    SOFTWARE = "software"
    """Trees of Debian's packages can be had, from the cache or from apt-get."""
    CASSANDRA = "cassandra"
    """A tree of Cassandra can be had, from the cache or from apt-get and Maven."""
    VXLAN = "vxlan"
    IPVS = "ipvs"


@dataclass(frozen=True)
class Support:
    """Whether a capability is there: `reason` says what is missing, `hint` how to get it."""

    met: bool
    reason: str = ""
    hint: str = ""
    follows: Capability | None = None
    """It is missing only because this one is: nothing more is known of it."""


@dataclass(frozen=True)
class PlatformOffer:
    """What one platform can be asked for. The first of each tuple is the default."""

    networks: tuple[str, ...]
    endpoints: Mapping[str, tuple[str, ...]]
    """Network → endpoints that it can have."""
    storages: tuple[Storage, ...]
    clients: tuple[ClientPlace, ...]
    substrate: str | None
    """Family of substrate that must live first (`docker`); None when hosts alone suffice."""
    needs: tuple[Capability, ...] = ()
    restorable: tuple[Storage, ...] = ()
    """Storage that copies of files can be put on before a member starts."""


def _without_snapshot(_: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    return (("kind", "no stay can start with a copy of this database's files"),)


@dataclass(frozen=True)
class DatabaseOffer:
    """What one database can be asked for. The first of each tuple is the default."""

    versions: tuple[str, ...]
    topologies: tuple[str, ...]
    check: Callable[[DatabaseSpec], tuple[tuple[str, str], ...]]
    """Returns (key of the database spec, sentence) for everything that does not fit."""
    images: bool = True
    """Whether an official image may be named instead of the tree."""
    needs: tuple[Capability, ...] = (Capability.SOFTWARE,)
    """What obtaining its tree takes, on hosts that are not fakes."""
    check_restore: Callable[[DatabaseSpec], tuple[tuple[str, str], ...]] = _without_snapshot
    """Returns (key of the database spec, sentence) for everything that keeps a stay from starting
    with a copy of another one's files."""


@dataclass(frozen=True)
class Offer:
    """Everything a study file may name."""

    testbeds: Mapping[str, str]
    """Testbed kind → kind of hosts as the first word of a deployment's title (`Host`, `Fake`)."""
    substrates: Mapping[str, str]
    """Substrate kind → the family (`docker`) that a platform asks for."""
    platforms: Mapping[str, PlatformOffer]
    databases: Mapping[str, DatabaseOffer]
    generators: tuple[str, ...]
    samplers: tuple[str, ...]
