"""What this Dunnage can do, as plain data: studies are checked without starting anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.study import DatabaseSpec


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
class EndpointOffer:
    """One kind of address that clients can be given."""

    title: str
    """Its word in a deployment's title, such as `HostPort`."""
    needs: tuple[Capability, ...] = ()
    of_cluster: bool = False
    """Whether the cluster provides it, and not the hosts."""


HOST_PORT = EndpointOffer("HostPort")


@dataclass(frozen=True)
class NetworkOffer:
    """One network that a platform can join its members by."""

    endpoints: Mapping[str, EndpointOffer]
    """The first is the default."""
    title: str = ""
    """Its word in a deployment's title; empty where the title says nothing of it."""
    phrase: str = ""
    """How a sentence says it: `with a bridge network`."""
    needs: tuple[Capability, ...] = ()


@dataclass(frozen=True)
class PlatformOffer:
    """What one platform can be asked for. The first of each collection is the default."""

    networks: Mapping[str, NetworkOffer]
    storages: tuple[Storage, ...]
    clients: tuple[ClientPlace, ...]
    substrate: str | None
    """Family of substrate that must live first (`docker`); None when hosts alone suffice."""
    stay_seconds: float
    """About how long it takes to bring a deployment up and down, besides its database."""
    name: str = ""
    """What people call it; empty where a sentence has nothing to say of it."""
    title: str = ""
    """Its word in a deployment's title; empty natively."""
    fake: bool = False
    """Whether it runs on fake hosts, and nowhere else."""
    needs: tuple[Capability, ...] = ()
    restorable: tuple[Storage, ...] = ()
    """Storage that copies of files can be put on before a member starts."""

    def needs_of(self, network: str, endpoint: str) -> tuple[Capability, ...]:
        """What hosts must be able to do for one network and endpoint of it."""
        chosen = self.networks[network]
        return (*self.needs, *chosen.needs, *chosen.endpoints[endpoint].needs)


@dataclass(frozen=True)
class Guess:
    """About how long a database takes for what is not measured."""

    forming: float = 0.0
    """Seconds until it answers, besides the platform's own."""
    settling: float = 1.0
    """Seconds around every run: settling, samplers, reading back what they saw."""
    loading: float = 20_000.0
    """Records loaded per second."""


def _without_snapshot(_: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    return (("kind", "no stay can start with a copy of this database's files"),)


@dataclass(frozen=True)
class DatabaseOffer:
    """What one database can be asked for. The first of each tuple is the default."""

    versions: tuple[str, ...]
    topologies: tuple[str, ...]
    name: str
    """What people call it."""
    check: Callable[[DatabaseSpec], tuple[tuple[str, str], ...]]
    """Returns (key of the database spec, sentence) for everything that does not fit."""
    fake: bool = False
    """Whether it runs on fake hosts, and nowhere else."""
    images: bool = True
    """Whether an official image may be named instead of the tree."""
    needs: tuple[Capability, ...] = (Capability.SOFTWARE,)
    """What obtaining its tree takes, on hosts that are not fakes."""
    check_restore: Callable[[DatabaseSpec], tuple[tuple[str, str], ...]] = _without_snapshot
    """Returns (key of the database spec, sentence) for everything that keeps a stay from starting
    with a copy of another one's files."""
    guess: Guess = field(default_factory=Guess)
    """How long it takes for what is not measured, where no earlier result tells it."""


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
