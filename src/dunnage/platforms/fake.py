"""A platform that runs members on fake hosts, with late addresses and clients in containers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dunnage.contracts import Completed, Host, Process, RunningMember, SoftwareStore, Substrate
from dunnage.errors import HostLostError, StayError
from dunnage.model.choices import ClientPlace, Storage
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
from dunnage.model.study import Limits
from dunnage.platforms import snapshots
from dunnage.platforms.engine_commands import ask_engine, is_for_engine
from dunnage.platforms.guest import Guest


@dataclass(frozen=True)
class _Member:
    """A member that was started."""

    service: Service
    place: Place
    host: Host
    process: Process


class FakePlatform:
    """Runs members as processes of their hosts.

    With the network `late`, a member's own address is known only when it starts: a start wrapper
    fills it into the member's files and arguments, and clients use the host's port instead.
    """

    offer = PlatformOffer(
        networks={
            "plain": NetworkOffer({"host-port": HOST_PORT}, title="Plain"),
            "late": NetworkOffer({"host-port": HOST_PORT}, title="Late"),
        },
        storages=(Storage.BIND,),
        clients=(ClientPlace.HOST, ClientPlace.CONTAINER),
        substrate="fake",
        stay_seconds=0.0,
        title="Fake",
        fake=True,
        restorable=(Storage.BIND,),
        begin_with={
            "plain": "a platform that exists in memory only",
            "late": "its addresses are known only after the start",
        },
    )

    def __init__(
        self,
        deployment: Deployment,
        hosts: tuple[Host, ...],
        substrate: Substrate | None,
        trees: SoftwareStore,
        stay: str,
    ) -> None:
        self._deployment = deployment
        self._hosts = hosts
        self._substrate = substrate
        self._trees = trees
        self._stay = stay
        self._reservation = Reservation(())
        self._members: dict[str, _Member] = {}
        self._late: dict[str, str] = {}
        self._clients: dict[str, ContainerHost] = {}

    def reserve(self, layout: Layout) -> Reservation:
        prefix = self._trees.tree(layout.software).prefix
        self._reservation = Reservation(tuple(self._place(seat, prefix) for seat in layout.seats))
        return self._reservation

    def up(self, services: Sequence[Service], deadline: float) -> None:
        self._need_awake()
        for service in services:
            self._start(service)
        waited = 0.0
        for service in services:
            while not self._ready(service.member):
                if waited >= deadline:
                    raise self._failure(service.member, f"is not ready after {deadline:g} s")
                # The host's own clock: on a fake testbed time passes only there.
                self._host(service.member).run(("sleep", f"{service.ready.interval}"))
                waited += service.ready.interval

    def run(self, member: str, argv: Sequence[str], *, stdin: str, timeout: float) -> Completed:
        self._need_awake()
        filled = tuple(self._filled(word) for word in argv)
        host = self._host(member)
        if is_for_engine(filled):
            return ask_engine(host, filled, stdin=stdin, timeout=timeout)
        return host.run(filled, stdin=stdin, timeout=timeout)

    def running(self) -> tuple[RunningMember, ...]:
        self._need_awake()
        for name in self._members:
            self._check_alive(name)
        return tuple(
            RunningMember(name, member.host, member.process.pid, member.host.control_group(name))
            for name, member in self._members.items()
        )

    def client(self, host: Host) -> Host:
        """That host, or a container on it."""
        if self._deployment.client is ClientPlace.HOST:
            return host
        return self._clients.setdefault(host.name, ContainerHost(host, f"{self._stay}-client"))

    def network(self) -> Mapping[str, str]:
        """The network as it is, with every late address that was given."""
        late = {f"address.{member}": address for member, address in self._late.items()}
        return {"driver": self._deployment.network, "mtu": "1500", **late}

    def log(self, member: str, lines: int = 20) -> str:
        try:
            text = self._host(member).get(_log(self._reservation.place(member))).decode()
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def crash(self, member: str) -> None:
        self._members[member].process.signal("KILL")

    def keep(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        for part in self._parts(files):
            snapshots.keep(part, snapshot)

    def restore(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        for part in self._parts(files):
            snapshots.restore(part, snapshot)

    def down(self) -> None:
        """Stop everything in reverse order and remove it; lost hosts have nothing to remove."""
        for member in reversed(tuple(self._members.values())):
            try:
                _stop(member)
            except HostLostError:
                continue
        for place in self._reservation.places:
            try:
                self._on(place).remove(place.home)
            except HostLostError:
                continue
        for client in self._clients.values():
            client.discard()
        self._members.clear()
        self._clients.clear()
        self._late.clear()

    def _parts(self, files: Mapping[str, Sequence[str]]) -> list[snapshots.Part]:
        places = [self._reservation.place(member) for member in files]
        return [
            snapshots.Part(place.member, self._on(place), place.data, tuple(files[place.member]))
            for place in places
        ]

    def _place(self, seat: Seat, prefix: str) -> Place:
        host = self._hosts[seat.slot % len(self._hosts)]
        home = f"{host.scratch}/{self._stay}/{seat.member}"
        ports = {name: self._addresses(seat, host, port) for name, port in seat.ports.items()}
        return Place(seat.member, seat.role, host.name, home, f"{home}/data", prefix, ports)

    def _addresses(self, seat: Seat, host: Host, port: int) -> Addresses:
        client = Address(host.address, port)
        if self._deployment.network == "late":
            own = Address(late_host(seat.member), port)
            return Addresses(bind=own, peer=own, client=client)
        return Addresses(bind=client, peer=client, client=client)

    def _start(self, service: Service) -> None:
        place = self._reservation.place(service.member)
        host = self._on(place)
        for path, text in service.files.items():
            host.put(path, self._filled(text, own=service.member).encode())
        argv = tuple(self._filled(word, own=service.member) for word in service.argv)
        late = self._deployment.network == "late"
        process = host.start(
            _wrapper(place, service, argv) if late else argv,
            unit=service.member,
            log=_log(place),
            env={**service.env, "DUNNAGE_FAKE_NETWORK": self._deployment.network},
            limits=self._deployment.limits,
        )
        self._members[service.member] = _Member(service, place, host, process)
        if late and process.poll() is None:
            self._late[service.member] = host.get(_address_file(place)).decode()

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

    def _ready(self, member: str) -> bool:
        self._check_alive(member)
        probe = self._members[member].service.ready
        completed = self.run(member, probe.argv, stdin="", timeout=5.0)
        return completed.code == 0 and probe.expect in completed.stdout

    def _check_alive(self, name: str) -> None:
        code = self._members[name].process.poll()
        if code is not None:
            raise self._failure(name, f"ended with code {code}")

    def _failure(self, member: str, what: str) -> StayError:
        return StayError(
            f"member `{member}` {what}; its last lines:\n{self.log(member)}",
            where=self._deployment.name,
            hint="dunnage run --resume",
        )

    def _host(self, member: str) -> Host:
        return self._on(self._reservation.place(member))

    def _on(self, place: Place) -> Host:
        return next(host for host in self._hosts if host.name == place.host)

    def _need_awake(self) -> None:
        """Ask the substrate for each host's daemon; a frozen one refuses with StayError."""
        if self._substrate is not None:
            for host in self._hosts:
                self._substrate.daemon(host.name)


class ContainerHost(Guest):
    """A container on a client's host: a host with files of its own."""

    def __init__(self, host: Host, name: str) -> None:
        super().__init__(host)
        self.name = f"{host.name}/{name}"
        self.scratch = "/scratch"
        self._name = name
        self._root = root = f"/containers/{name}"
        self._processes: list[Process] = []
        self.put = lambda path, content: host.put(root + path, content)
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
        for word in ("--publish", f"{address.client}={address.bind.port}")
    ]
    head = ("fake-start", "--member", place.member, "--address", _address_file(place))
    return (*head, *files, *ports, "--", *argv)


def _stop(member: _Member) -> None:
    member.process.signal(member.service.stop_signal)
    try:
        member.process.wait(member.service.stop_grace)
    except TimeoutError:
        member.process.signal("KILL")


def _log(place: Place) -> str:
    return f"{place.home}/log"


def _address_file(place: Place) -> str:
    return f"{place.home}/address"
