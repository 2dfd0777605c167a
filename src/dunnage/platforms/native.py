"""Members as plain processes of their hosts: what every container is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from dunnage.contracts.host import Host
from dunnage.contracts.software import SoftwareStore
from dunnage.contracts.substrate import Substrate
from dunnage.deadline import Deadline
from dunnage.errors import StayError
from dunnage.model.agreement import agreed
from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Layout, Place, Reservation, Service
from dunnage.model.offer import OF_HOSTS, NetworkOffer, PlatformOffer
from dunnage.platforms import places
from dunnage.platforms.hosted_members import HostedMembers
from dunnage.platforms.link import link
from dunnage.platforms.process_member import ProcessMember


class Native(HostedMembers[ProcessMember]):
    """Processes in control groups of their own, bound to their host's address."""

    offer: ClassVar[PlatformOffer] = PlatformOffer(
        networks={"host": NetworkOffer(OF_HOSTS)},
        storages=(Storage.BIND, Storage.TMPFS),
        clients=(ClientPlace.HOST,),
        substrate=None,
        stay_seconds=1.5,
        restorable=(Storage.BIND,),
        begin_with={"host": "processes started directly on the hosts"},
    )

    def __init__(
        self,
        deployment: Deployment,
        hosts: Sequence[Host],
        substrate: Substrate | None,  # noqa: ARG002  # every platform is made alike
        trees: SoftwareStore,
        stay: str,  # noqa: ARG002
    ) -> None:
        super().__init__(deployment, hosts, trees)
        self._memory_backed: list[Place] = []

    def reserve(self, layout: Layout) -> Reservation:
        return self._reserve(layout, places.direct)

    def up(self, services: Sequence[Service], deadline: float) -> None:
        needed = ((service.software, self._places[service.member].host) for service in services)
        for software, host in dict.fromkeys(needed):
            tree = self._trees.tree(software)
            self._hosts[host].put_tree(tree.source, tree.prefix)
        self._bring_all_up(services, deadline)

    def crash(self, member: str) -> None:
        self._members[member].process.signal("KILL")

    def client(self, host: Host) -> Host:
        return host

    def network(self) -> dict[str, str]:
        """The hosts' own link, as the hosts tell it."""
        used = {place.host: self._hosts[place.host] for place in self._places.values()}
        links = agreed({name: link(host) for name, host in used.items()})
        return {"driver": "host", **{name: str(value) for name, value in links.items()}}

    def down(self) -> None:
        """Stop everything in reverse order and remove it, all of it even if some of it fails."""
        backwards = reversed(self._places.values())
        self._take_down((place.host, partial(self._remove, place)) for place in backwards)

    def _start(
        self,
        service: Service,
        place: Place,
        host: Host,
        deadline: Deadline,  # noqa: ARG002  # it waits for nothing
    ) -> ProcessMember:
        _must(host, "mkdir", "-p", place.home, place.data)
        if self._deployment.storage is Storage.TMPFS:
            _must(host, "mount", "-t", "tmpfs", "tmpfs", place.data)
            self._memory_backed.append(place)
        unit, log = f"member-{service.member}", f"{places.directory(host, service.member)}/log"
        limits = self._deployment.limits
        process = host.start(service.argv, unit=unit, log=log, env=service.env, limits=limits)
        return ProcessMember(service, host, process, unit, log)

    def _remove(self, place: Place) -> None:
        host = self._hosts[place.host]
        if place.member in self._members:
            self._members[place.member].stop()
        if place in self._memory_backed:
            _must(host, "umount", place.data)
        host.remove(places.directory(host, place.member))


def _must(host: Host, *argv: str) -> None:
    done = host.run(argv)
    if done.code != 0:
        raise StayError(
            f"`{' '.join(argv)}` failed: {done.stderr.strip()}",
            where=host.name,
            hint="dunnage doctor",
        )
