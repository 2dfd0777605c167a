"""What this Dunnage can do, as plain data: studies are checked without starting anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NewType

from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.deployment import Deployment, Guess
from dunnage.model.study import CLIENT_GROUP, DatabaseSpec, DeploymentSpec, SubstrateSpec

Capability = NewType("Capability", str)
"""What a host must be able to do for some variant, by name. It belongs to the host, not to us; a
part says what it needs by names of its own."""


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
    clients: tuple[ClientPlace, ...] = (ClientPlace.HOST, ClientPlace.CONTAINER)
    """Where a client can reach it from."""
    joined: bool = False
    """Whether a client's host must be one of the cluster, even for a client in no container."""


HOST_PORT = EndpointOffer("HostPort")
HOST_NAME = EndpointOffer("HostNameHostPort", clients=(ClientPlace.HOST,))
"""A host's name and a port; hosts know each other's names, containers on them do not."""
VXLAN = Capability("vxlan")
"""The kernel has VXLAN devices, of which networks between hosts are made."""
IPVS = Capability("ipvs")
"""The kernel has IP Virtual Server, by which Swarm, and a kube-proxy that is told so, lead to the
tasks or pods of a service."""
IP_SETS = Capability("ip-sets")
"""The kernel has sets of addresses with ports, by which a kube-proxy that uses IPVS knows what to
translate besides."""
FLOATING = Capability("floating")
"""What stands between the hosts translates a second, floating address of each to its own."""
FLOATING_IP = EndpointOffer("FloatingIPHostPort", needs=(FLOATING,))
"""A host's floating address and a port."""
OF_HOSTS: Mapping[str, EndpointOffer] = {
    "host-port": HOST_PORT,
    "host-name": HOST_NAME,
    "floating-ip": FLOATING_IP,
}
"""The endpoints that hosts provide, by the names that studies have for them."""


Keys = tuple[str | int, ...]
"""Keys and list positions that lead to a place in a mapping."""
Mistake = tuple[Keys, str, str]
"""Where something does not fit, a sentence, and what to write."""


def _fits(_deployment: DeploymentSpec, _endpoint: str) -> Iterable[Mistake]:
    return ()


@dataclass(frozen=True)
class NetworkOffer:
    """One network that a platform can join its members by."""

    endpoints: Mapping[str, EndpointOffer]
    """The first is the default."""
    title: str = ""
    """Its word in a deployment's title; empty where the title says nothing of it."""
    phrase: str = ""
    """How a sentence says it: `with a bridge network`."""
    takes_options: bool = False
    """Whether it is made for a deployment, so that its driver can be given options."""
    existing: bool | None = None
    """Whether only a substrate can have it that exists already (True), or that is made for the
    study (False); None where both can."""
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """All options that there are, and the values of each, its default first. What an option without
    values may hold, `check` says. A substrate has one network with options, and one value of each.
    Empty where a driver takes what it is given."""
    check: Callable[[DeploymentSpec, str], Iterable[Mistake]] = _fits
    """Returns everything that does not fit in a deployment on it with an endpoint, besides names
    and values of options, each with its place in the deployment."""
    needs: tuple[Capability, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PartOffer:
    """What every part has."""

    fake: bool = False
    """Whether it goes with fake hosts, and with no others."""


def first(parts: Mapping[str, PartOffer], *, fake: bool) -> str:
    """Name of the first part that is a fake, or of the first that is none; empty without one."""
    return next((name for name, part in parts.items() if part.fake is fake), "")


@dataclass(frozen=True, kw_only=True)
class TestbedOffer(PartOffer):
    """What one kind of testbed is."""

    __test__ = False  # pytest would take it for a test class by its name

    title: str
    """Kind of hosts as the first word of a deployment's title: `Host`, `Fake`."""
    meaning: str
    """What its hosts are, as `dunnage init` writes it."""
    here: bool = True
    """Whether its hosts are made on this machine, or nowhere; else they are someone else's."""
    networks: bool = False
    """Whether its hosts are one machine, and each has networks of its own by which soft interrupts
    of that machine can be told apart (`HasNetworks`)."""
    brings: Mapping[str, str] = field(default_factory=dict)
    """Family → kind, of the substrates that its hosts have already; they can have no others."""


@dataclass(frozen=True, kw_only=True)
class SubstrateOffer:
    """What one kind of a family of substrates is."""

    contexts: bool = False
    """Whether it is there already, and the study names what reaches it on each host."""
    of_testbed: bool = False
    """Whether it is there already, as the testbed's hosts are part of it."""
    beside: tuple[str, ...] = ()
    """Names beside those of hosts that contexts may be given for."""
    below: str | None = None
    """Family that it stands on: a Swarm of ours on `docker`."""
    control: bool = False
    """Whether a part of it that serves all hosts runs on a host of its own, of the group `control`.
    """

    @property
    def theirs(self) -> bool:
        """Whether it is there already: nothing of it is ours to make, hold still or change."""
        return self.contexts or self.of_testbed


@dataclass(frozen=True, kw_only=True)
class PlatformOffer(PartOffer):
    """What one platform can be asked for. The first of each collection is the default."""

    networks: Mapping[str, NetworkOffer]
    storages: tuple[Storage, ...]
    clients: tuple[ClientPlace, ...]
    substrate: str | None
    """Family of substrate that must live first (`docker`); None when hosts alone suffice."""
    stay_seconds: float
    """About how long it takes to bring a deployment up and down, besides its database."""
    name: str = ""
    """Its name in sentences; empty where they do not mention it."""
    title: str = ""
    """Its word in a deployment's title; empty natively."""
    needs: tuple[Capability, ...] = ()
    restorable: tuple[Storage, ...] = ()
    """Storage that copies of files can be put on before a member starts."""
    begin_with: Mapping[str, str] = field(default_factory=dict)
    """Networks that `dunnage init` compares, and what a member on each is. A platform without any
    is written only where it is asked for, with its first network."""

    def needs_of(self, network: str, endpoint: str) -> tuple[Capability, ...]:
        """What hosts must be able to do for one network and endpoint of it."""
        chosen = self.networks[network]
        return (*self.needs, *chosen.needs, *chosen.endpoints[endpoint].needs)

    def groups_of(self, asked: DeploymentSpec | Deployment) -> set[str]:
        """Groups of hosts on which a deployment on this platform needs its substrate.

        What is left to a default counts as that; a network or an endpoint that this platform has
        not asks for nothing.
        """
        network = self.networks.get(asked.network or next(iter(self.networks)))
        known = network.endpoints if network is not None else {}
        endpoint = known.get(asked.endpoint or next(iter(known), ""))
        joins = asked.client is ClientPlace.CONTAINER or (endpoint is not None and endpoint.joined)
        return {asked.hosts, *((CLIENT_GROUP,) if joins else ())}

    def title_of(self, hosts: str, network: str, endpoint: str) -> str:
        """The canonical name of a deployment: what kind of place, and what kind of address.

        The grammar, after the first published study (`VM_HostNameHostPort`,
        `K8ServiceIP_flannel`):

            title    = hosts "_" endpoint                          natively
                     | hosts platform [network] endpoint           an address that hosts provide
                     | hosts platform endpoint "_" network         an address of the cluster
            hosts    = "Host" | "VM" | "Metal" | "Fake"            what the hosts really were

        Platforms, networks and endpoints bring their words: `Docker`, `Only` for the host's own
        network of it, `HostPort`. A network has none where a platform leaves no choice behind its
        host ports, as orchestrators do not.
        """
        chosen = self.networks[network]
        address = chosen.endpoints[endpoint]
        if not self.title:
            return f"{hosts}_{address.title}"
        where = "" if self.title == hosts else self.title
        if address.of_cluster:
            return f"{hosts}{where}{address.title}_{network}"
        return f"{hosts}{where}{chosen.title}{address.title}"


def _without_snapshot(_: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    return (("kind", "no stay can start with a copy of this database's files"),)


@dataclass(frozen=True, kw_only=True)
class DatabaseOffer(PartOffer):
    """What one database can be asked for. The first of each tuple is the default."""

    versions: tuple[str, ...]
    topologies: tuple[str, ...]
    name: str
    """What people call it."""
    check: Callable[[DatabaseSpec], tuple[tuple[str, str], ...]]
    """Returns (key of the database spec, sentence) for everything that does not fit."""
    begin_with: tuple[str, str] | None = None
    """Topology that `dunnage init` writes, and what it is with three members; else the first."""
    images: bool = True
    """Whether an official image may be named instead of the tree."""
    needs: tuple[Capability, ...] = ()
    """What hosts that are not fakes lack where its tree cannot be had."""
    check_restore: Callable[[DatabaseSpec], tuple[tuple[str, str], ...]] = _without_snapshot
    """Returns (key of the database spec, sentence) for everything that keeps a stay from starting
    with a copy of another one's files."""
    guess: Guess = field(default_factory=Guess)


@dataclass(frozen=True)
class Offer:
    """Everything a study file may name."""

    testbeds: Mapping[str, TestbedOffer]
    substrates: Mapping[str, Mapping[str, SubstrateOffer]]
    """Family → kind → what it is. Platforms ask for families; the first kind is the default."""
    platforms: Mapping[str, PlatformOffer]
    databases: Mapping[str, DatabaseOffer]
    generators: Mapping[str, PartOffer]
    samplers: Mapping[str, PartOffer]

    def substrate(
        self, family: str, specs: Mapping[str, SubstrateSpec]
    ) -> tuple[str, SubstrateOffer]:
        """The kind that a study has of a family, and what it is; KeyError for an unknown one."""
        kinds = self.substrates[family]
        kind = specs.get(family, SubstrateSpec()).kind or next(iter(kinds))
        return kind, kinds[kind]

    def layers(self, family: str, specs: Mapping[str, SubstrateSpec]) -> tuple[str, ...]:
        """A family and all that it stands on in a study, the lowest first."""
        below = self.substrate(family, specs)[1].below
        return (*(self.layers(below, specs) if below else ()), family)
