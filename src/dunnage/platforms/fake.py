"""A platform that runs members on fake hosts, with late addresses and clients in containers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from dunnage.contracts.docker import HasDaemons
from dunnage.contracts.host import Completed, Host, Process
from dunnage.contracts.platform import RunningMember, Unseen
from dunnage.contracts.software import SoftwareStore
from dunnage.contracts.substrate import Substrate
from dunnage.deadline import Deadline
from dunnage.errors import HostLostError, StayError
from dunnage.model.choices import ClientKind, ClientPlace, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.late import fill, late_host, unfilled
from dunnage.model.layout import (
    Address,
    Addresses,
    Layout,
    Place,
    Reservation,
    Seat,
    Service,
)
from dunnage.model.offer import HOST_PORT, NetworkOffer, PlatformOffer
from dunnage.model.path import Hop, HopKind, NetworkPath
from dunnage.model.study import Limits
from dunnage.platforms import places
from dunnage.platforms.guest import Guest
from dunnage.platforms.hosted_members import HostedMembers
from dunnage.platforms.offered import CONTAINER_DNS, NAME
from dunnage.platforms.process_member import ProcessMember
from dunnage.platforms.readiness import death

PLAIN, LATE, NAMED = "plain", "late", "named"
OUT_OF_SIGHT = Unseen("its host does not see the process that a fake cluster runs")


class FakePlatform(HostedMembers[ProcessMember]):
    """Runs members as processes of their hosts.

    With the network `late`, a member's own address is known only when it starts: a start wrapper
    fills it into the member's files and arguments, and clients use the host's port instead. With
    `named` clients use the member's name, which means something in a container only.
    """

    offer = PlatformOffer(
        networks={
            PLAIN: NetworkOffer({"host-port": HOST_PORT}, title="Plain"),
            LATE: NetworkOffer({"host-port": HOST_PORT}, title="Late"),
            NAMED: NetworkOffer({CONTAINER_DNS: NAME}),
        },
        storages=(Storage.BIND,),
        clients=(ClientPlace.HOST, ClientPlace.CONTAINER),
        substrate="fake",
        stay_seconds=0.0,
        title="Fake",
        fake=True,
        restorable=(Storage.BIND,),
        begin_with={
            PLAIN: "a platform that exists in memory only",
            LATE: "its addresses are known only after the start",
        },
    )

    unseen: ClassVar[frozenset[str]] = frozenset()
    """Networks whose members' processes their hosts do not see."""

    def __init__(
        self,
        deployment: Deployment,
        hosts: Sequence[Host],
        substrate: Substrate | None,
        trees: SoftwareStore,
        stay: str,
    ) -> None:
        super().__init__(deployment, hosts, trees)
        self._substrate = substrate
        self._stay = stay
        self._clients: dict[str, ContainerHost] = {}

    def reserve(self, layout: Layout) -> Reservation:
        prefix = self._trees.tree(layout.software).prefix
        self._places = {seat.member: self._place(seat, prefix) for seat in layout.seats}
        return Reservation(tuple(self._places.values()))

    def up(self, services: Sequence[Service], deadline: float) -> None:
        self._need_awake()
        for service in services:
            place, host = self._places[service.member], self._host(service.member)
            self._members[service.member] = self._start(
                service, place, host, Deadline.after(deadline)
            )
        waited = 0.0
        for service in services:
            member = self._members[service.member]
            while not self._ready(member):
                if waited >= deadline:
                    what = f"was not ready within {deadline:g} s"
                    raise death(member, what)
                # The host's own clock: on a fake testbed time passes only there.
                member.host.run(("sleep", f"{service.ready.interval}"))
                waited += service.ready.interval

    def run(self, member: str, argv: Sequence[str], *, stdin: str, timeout: float) -> Completed:
        self._need_awake()
        filled = tuple(self._filled(word) for word in argv)
        return super().run(member, filled, stdin=stdin, timeout=timeout)

    def running(self) -> tuple[RunningMember, ...]:
        self._need_awake()
        return tuple(map(self._as_seen, super().running()))

    def client(self, host: Host) -> Host:
        """That host, or a container on it."""
        if self._deployment.client is ClientPlace.HOST:
            return host
        return self._clients.setdefault(host.name, ContainerHost(host, f"{self._stay}-client"))

    def network(self) -> Mapping[str, str]:
        """The network as it is, with every late address that was given."""
        late = {f"address.{member}": address for member, address in self._late.items()}
        return {"driver": self._deployment.network, "mtu": "1500", **late}

    def paths(self, client: Host) -> tuple[NetworkPath, ...]:
        """A way as such a network would have it."""
        self._need_awake()
        host = client.landlord if isinstance(client, Guest) else client
        return tuple(
            self._path(host, self._as_seen(member.identified())) for member in self._started()
        )

    def crash(self, member: str) -> None:
        self._members[member].process.signal("KILL")

    def down(self) -> None:
        """Stop everything in reverse order and remove it; lost hosts have nothing to remove."""
        steps = [(each.host.name, each.stop) for each in reversed(self._members.values())]
        homes = [(place.host, place.home) for place in self._places.values()]
        steps += [(host, partial(self._hosts[host].remove, home)) for host, home in homes]
        steps += [(name, client.discard) for name, client in self._clients.items()]
        self._take_down(steps)
        self._members.clear()
        self._clients.clear()
        self._late.clear()

    def _place(self, seat: Seat, prefix: str) -> Place:
        host = tuple(self._hosts.values())[seat.slot % len(self._hosts)]
        home = f"{host.scratch}/{self._stay}/{seat.member}"
        ports = {name: self._addresses(seat, host, port) for name, port in seat.ports.items()}
        return Place(seat.member, seat.role, host.name, home, f"{home}/data", prefix, ports)

    def _addresses(self, seat: Seat, host: Host, port: int) -> Addresses:
        if self._deployment.network == NAMED:
            return places.named(seat.member, host, port)
        plain = places.direct(seat.member, host, port)
        if self._deployment.network == PLAIN:
            return plain
        own = Address(late_host(seat.member), port)
        return replace(plain, bind=own, peer=own)

    def _start(
        self,
        service: Service,
        place: Place,
        host: Host,
        deadline: Deadline,  # noqa: ARG002  # it waits for nothing
    ) -> ProcessMember:
        for path, text in service.files.items():
            host.put(path, self._filled(text, own=service.member).encode())
        argv = tuple(self._filled(word, own=service.member) for word in service.argv)
        late, log = self._deployment.network != PLAIN, f"{place.home}/log"
        process = host.start(
            _wrapper(place, service, argv) if late else argv,
            unit=service.member,
            log=log,
            env={**service.env, "DUNNAGE_FAKE_NETWORK": self._deployment.network},
            limits=self._deployment.limits,
        )
        if late and process.poll() is None:
            self._late[service.member] = host.get(_address_file(place)).decode()
        return ProcessMember(service, host, process, service.member, log)

    def _as_seen(self, member: RunningMember) -> RunningMember:
        hidden = self._deployment.network in self.unseen
        return replace(member, process=OUT_OF_SIGHT) if hidden else member

    def _filled(self, text: str, own: str = "") -> str:
        """`text` with every late address that is known; StayError when one is missing.

        A member's `own` is filled in by the start wrapper.
        """
        filled = fill(text, self._late)
        missing = unfilled(filled) - {own}
        if missing:
            raise StayError(
                f"the address of `{min(missing)}` is not known before it starts",
                where=self._deployment.name,
            )
        return filled

    def _path(self, client: Host, member: RunningMember) -> NetworkPath:
        contact = next(iter(self._places[member.member].ports.values())).contact.filled(self._late)
        here, there, network = client.name, member.host.name, self._deployment.network
        process = member.process
        if isinstance(process, Unseen):
            unknown = f"{there}: {process.reason}"
            return NetworkPath(
                client=here, member=member.member, address=str(contact), hops=(), unknown=unknown
            )
        hops = [
            Hop(kind=HopKind.CLIENT, host=here, name="client", detail=f"connects to {contact}"),
            Hop(kind=HopKind.DEVICE, host=here, name="eth0", detail=f"{client.address}, MTU 1500"),
            Hop(kind=HopKind.WIRE, host="", name="wire"),
            Hop(kind=HopKind.DEVICE, host=there, name="eth0", detail="MTU 1500"),
            Hop(
                kind=HopKind.MEMBER, host=there, name="fake-server", detail=f"process {process.pid}"
            ),
        ]
        own = self._late.get(member.member, "")
        if network == LATE:
            rule = f"{contact.port} to {own}"
            hops.insert(4, Hop(kind=HopKind.TRANSLATION, host=there, name="fake", detail=rule))
        if network == NAMED:
            hops.insert(4, _tunnel(there))
            hops.insert(1, _tunnel(here))
        return NetworkPath(
            client=here, member=member.member, address=str(contact), hops=tuple(hops)
        )

    def _ready(self, member: ProcessMember) -> bool:
        name, probe = member.service.member, member.service.ready
        if (how := member.ended()) is not None:
            raise death(member, f"ended before it was ready: {how}")
        completed = self.run(name, probe.argv, stdin="", timeout=5.0)
        return completed.code == 0 and probe.expect in completed.stdout

    def _need_awake(self) -> None:
        """Ask the substrate for each host's daemon; a frozen one refuses with StayError."""
        if isinstance(self._substrate, HasDaemons):
            for host in self._hosts:
                self._substrate.daemon(host)


class ContainerHost(Guest):
    """A container on a client's host: a host with files of its own."""

    client_kind: ClassVar[ClientKind] = ClientKind.CONTAINERS

    def __init__(self, host: Host, name: str) -> None:
        super().__init__(host)
        self.name = f"{host.name}/{name}"
        self.scratch = "/scratch"
        self._name = name
        self._root = root = f"/containers/{name}"
        self._processes: list[Process] = []
        self.put = lambda path, content, mode=0o644: host.put(root + path, content, mode)
        self.put_tree = lambda source, path: host.put_tree(source, root + path)

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        timeout: float = 60.0,
        unit: str = "command",
    ) -> Completed:
        return self._host.run(self._inside(argv), stdin=stdin, timeout=timeout, unit=unit)

    def start(
        self,
        argv: Sequence[str],
        *,
        unit: str,
        log: str,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> Process:
        process = self._host.start(
            self._inside(argv),
            unit=unit,
            log=self._root + log,
            env=env,
            limits=limits,
        )
        self._processes.append(process)
        return process

    def get(self, path: str) -> bytes:
        return self._host.get(self._root + path)

    def remove(self, path: str) -> None:
        self._host.remove(self._root + path)

    def discard(self) -> None:
        """Kill what runs inside and remove all files; a lost host has nothing to remove."""
        try:
            for process in self._processes:
                process.signal("KILL")
            self._host.remove(self._root)
        except HostLostError:
            return

    def _inside(self, argv: Sequence[str]) -> tuple[str, ...]:
        return ("fake-container", self._name, "--", *argv)


def _wrapper(place: Place, service: Service, argv: tuple[str, ...]) -> tuple[str, ...]:
    """The start wrapper's command line for a member of the network `late`."""
    files = [word for path in service.files for word in ("--file", path)]
    ports = [
        word
        for address in place.ports.values()
        for word in ("--publish", f"{address.contact}={address.bind.port}")
    ]
    head = ("fake-start", "--member", place.member, "--address", _address_file(place))
    return (*head, *files, *ports, "--", *argv)


def _tunnel(host: str) -> Hop:
    return Hop(kind=HopKind.TUNNEL, host=host, name="tunnel0", detail="MTU 1450")


def _address_file(place: Place) -> str:
    return f"{place.home}/address"
