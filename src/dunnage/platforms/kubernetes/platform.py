"""Members as StatefulSets of a Kubernetes, each pinned to its host."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import ClassVar

from dunnage.clusters.pod_state import PodState
from dunnage.contracts.host import Host, confinement
from dunnage.contracts.kubernetes import (
    ContainerRuntime,
    HasKubernetes,
    LabelsNamespaces,
    LabelsNodes,
    MakesPods,
    PodHost,
)
from dunnage.contracts.platform import Seen
from dunnage.contracts.software import SoftwareStore, Tree
from dunnage.contracts.substrate import Substrate
from dunnage.deadline import Deadline
from dunnage.errors import StayError, UnavailableError, failing_stay
from dunnage.kubernetes_api import connect, session
from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import ENGINE_PROGRAM, ENGINE_TREE, Layout, Place, Reservation, Service
from dunnage.model.offer import PlatformOffer
from dunnage.model.path import NetworkPath
from dunnage.platforms import places
from dunnage.platforms.hosted_members import HostedMembers
from dunnage.platforms.kubernetes import objects
from dunnage.platforms.kubernetes.addresses import Served
from dunnage.platforms.kubernetes.carried import insist_it_fits
from dunnage.platforms.kubernetes.carrying import carry
from dunnage.platforms.kubernetes.client_pod import ClientPod
from dunnage.platforms.kubernetes.images import provide
from dunnage.platforms.kubernetes.manifests import Manifests
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.network import ClientNode, Pod
from dunnage.platforms.kubernetes.objects import Image
from dunnage.platforms.kubernetes.offer import OFFER
from dunnage.platforms.kubernetes.pod_member import PodMember
from dunnage.platforms.kubernetes.pod_network import PodNetwork
from dunnage.platforms.kubernetes.process import first_process
from dunnage.platforms.kubernetes.spoken import spoken
from dunnage.platforms.kubernetes.starting import await_container, await_started
from dunnage.platforms.kubernetes.storage import directories
from dunnage.platforms.lost import is_lost
from dunnage.platforms.offered import unsupported
from dunnage.platforms.paths.script import Tools
from dunnage.platforms.readiness import side_by_side
from dunnage.platforms.stay_names import StayNames
from dunnage.platforms.subnets import address_in

_LED = 5.0
"""Seconds within which kube-proxy leads a service to a pod that is ready."""
_CLIENT_STARTED = 60.0
"""Seconds within which a client's pod has a container: its node has the image already."""


class Kubernetes(HostedMembers[PodMember]):
    """One StatefulSet of one pod for each member, in a namespace of the stay's own.

    A member has a headless name from before it is ready. Its ports are published on its own host
    only, or a service of its own has an address or node ports: nothing ever balances between
    members.
    """

    offer: ClassVar[PlatformOffer] = OFFER

    def __init__(
        self,
        deployment: Deployment,
        hosts: Sequence[Host],
        substrate: Substrate | None,
        trees: SoftwareStore,
        stay: str,
    ) -> None:
        if not isinstance(substrate, HasKubernetes):
            raise unsupported(deployment, "a Kubernetes of all hosts")
        if deployment.limits.pids is not None:
            raise UnavailableError(
                "a pod cannot be given a limit of processes: leave out `pids`",
                where=deployment.name,
                hint="dunnage schema study",
            )
        super().__init__(deployment, hosts, trees)
        self._substrate: HasKubernetes = substrate
        self._network: PodNetwork = PodNetwork(deployment, substrate)
        self._stay: StayNames = StayNames.of(stay.lower())
        labels = substrate.labels if isinstance(substrate, LabelsNamespaces) else {}
        self._manifests: Manifests = Manifests(deployment, self._stay, labels)
        self._opened: Namespace | None = None
        self._clients: dict[str, ClientPod | PodHost] = {}
        self._landlords: dict[str, Host] = {}
        self._images: dict[tuple[str, str], Image] = {}
        self._services: dict[str, Served] = {}
        self._named: bool = False
        self._making: Lock = Lock()

    def reserve(self, layout: Layout) -> Reservation:
        if why := self._confined:
            insist_it_fits(self._deployment, why)
        if self._manifests.served:
            self._serve(self._reserve(layout, places.translated))
        return self._reserve(layout, self._manifests.addressing(self._services))

    def up(self, services: Sequence[Service], deadline: float) -> None:
        needed = {
            (self._places[each.member].host, each.software): self._trees.tree(each.software)
            for each in services
        }
        side_by_side(
            partial(self._provide, self._hosts[host], tree) for (host, _), tree in needed.items()
        )
        self._name_members()
        self._bring_all_up(services, deadline)

    def keep(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        self._insist_on_disks()
        super().keep(snapshot, files)

    def restore(self, snapshot: str, files: Mapping[str, Sequence[str]]) -> None:
        self._insist_on_disks()
        super().restore(snapshot, files)

    def crash(self, member: str) -> None:
        started = self._members[member]
        process = started.identified().process
        if isinstance(process, Seen):
            started.host.run(["kill", "-KILL", str(process.pid)])
        else:
            self._namespace.end_pod(started.pod, started.uid, member)

    def client(self, host: Host) -> Host:
        """The client's host, or a pod on it."""
        self._landlords[host.name] = host
        if self._deployment.client is ClientPlace.HOST:
            return host
        if host.name not in self._clients:
            self._clients[host.name] = self._client_pod(host)
        return self._clients[host.name]

    def paths(self, client: Host) -> tuple[NetworkPath, ...]:
        """As on every platform. Where services lead to members, those whose way is not known yet
        are read again for some seconds: kube-proxy writes its rules only when a pod is ready."""
        deadline = Deadline.after(_LED)
        while True:
            found = super().paths(client)
            known = not any(path.unknown for path in found)
            if known or self._confined or not self._manifests.served or deadline.passed:
                return found
            deadline.pause(_LED / 20)

    def network(self) -> dict[str, str]:
        """What is in force on the way to pods, as kernels and nodes tell it, and their quality."""
        pods, qualities = [], set()
        for member in self._started():
            state, process = self._state(member), member.identified().process
            qualities.add(state.quality)
            if isinstance(process, Seen):
                variables = self._variables(member.host)
                pods.append(Pod(member.host, process, state.address, variables))
        if why := self._confined:
            members = sorted({place.host for place in self._places.values()})
            found = self._network.as_nodes_tell(
                tuple(dict.fromkeys((*members, *self._landlords))), why
            )
        else:
            found = self._network.as_kernels_tell(pods, self._client_nodes(), ours=self._is_ours)
        return {**found, "quality": " and ".join(sorted(qualities))}

    def _client_nodes(self) -> list[ClientNode]:
        """Hosts of clients; only where clients need it they are nodes."""
        found = []
        for host in self._landlords.values():
            try:
                found.append(ClientNode(host, self._variables(host)))
            except KeyError:
                continue
        return found

    @property
    def looking(self) -> str:
        return self._opened.hint if self._opened is not None else ""

    def account(self) -> str:
        return self._namespace.account()

    def down(self) -> None:
        """Have everything deleted in reverse order, all of it even if some of it fails, and wait
        until it is gone; in a Kubernetes of ours not for the empty namespace."""
        members = tuple(reversed(self._places.values()))
        steps: list[tuple[str, Callable[[], None]]] = []
        steps += [(place.host, partial(self._let_go, place)) for place in members]
        steps += [("", self._release)]
        steps += [(place.host, partial(self._await_gone, place)) for place in members]
        steps += [(host, partial(self._leave, client)) for host, client in self._clients.items()]
        steps += [(host, partial(self._remove_client, host)) for host in self._clients]
        steps += [("", self._end)]
        steps += [(place.host, partial(self._remove_directory, place)) for place in members]
        try:
            self._take_down(steps)
        finally:
            if self._opened is not None:
                self._opened.close()

    @property
    def _namespace(self) -> Namespace:
        """The stay's, begun with the first use."""
        with self._making:
            if self._opened is None:
                api, asking = self._substrate.api, self._substrate.asking
                hint = asking("cluster-info")
                with spoken("the API server cannot be reached", "kubernetes", hint):
                    labels = self._manifests.labels
                    made = connect(api), session(api)
                    self._opened = Namespace(*made, self._stay, asking, labels)
            self._opened.begin()
            return self._opened

    def _serve(self, reservation: Reservation) -> None:
        """Have a service of its own before each member. Nothing starts by that."""
        for member, manifest in self._manifests.services(reservation).items():
            if member not in self._services:
                self._services[member] = self._namespace.service(manifest, member)

    def _name_members(self) -> None:
        """Give every member its headless name, before the first of them starts."""
        if not self._named:
            for member, manifest in self._manifests.names(self._places).items():
                self._namespace.create(manifest, member)
            self._named = True

    @property
    def _confined(self) -> str:
        """Why a host of it does not see its machine; empty where all do."""
        return next(filter(None, map(confinement, self._hosts.values())), "")

    def _insist_on_disks(self) -> None:
        if why := self._confined:
            raise UnavailableError(
                f"no copies of data can be kept on its hosts: {why}; write `data: load`",
                where=self._deployment.name,
                hint="dunnage schema study",
            )

    def _furnish(self, service: Service, place: Place, host: Host) -> None:
        if not confinement(host):
            super()._furnish(service, place, host)

    def _start(self, service: Service, place: Place, host: Host, deadline: Deadline) -> PodMember:
        apart = bool(confinement(host))
        if not apart:
            self._make_directories(place, host)
        tree = self._trees.tree(service.software)
        manifests = self._manifests.member(
            service,
            place,
            host,
            tree=tree,
            image=self._provide(host, tree),
            node=self._node(host),
            hostname=self._hostname(host),
            apart=apart,
        )
        self._namespace.create_all(manifests, place.member, deadline)
        if apart:
            program = self._trees.tree(ENGINE_TREE).source / ENGINE_PROGRAM
            programs = {host.engine: program.read_bytes()}
            carry(self._namespace, service, place, programs, deadline)
        state = await_container(self._namespace, place.member, deadline)
        member = PodMember(
            service,
            host,
            tree,
            self._namespace,
            state.uid,
            state.first,
        )
        if self._manifests.in_own:
            self._note_address(member, state)
        return member

    def _note_address(self, member: PodMember, state: PodState) -> None:
        """Read the address back that a member's pod was given.

        One that has ended has none, and is told of with its log where its readiness is awaited.
        """
        process = member.identified().process
        own: str | None = state.address
        if isinstance(process, Seen) and state.address:
            own = address_in(f"{state.address}/32", member.host, process.pid)
        if own:
            self._late[member.name] = own

    def _client_pod(self, host: Host) -> ClientPod | PodHost:
        if confinement(host) and isinstance(host, MakesPods):
            name = self._namespace.name
            with failing_stay():
                return host.beside(name, objects.labels(self._stay))
        tree = self._trees.tree(ENGINE_TREE)
        image = (
            Image(host.image, imported=False)
            if isinstance(host, MakesPods)
            else self._provide(host, tree)
        )
        manifest = self._manifests.client(host, tree=tree, image=image, node=self._node(host))
        pod = str(manifest["metadata"]["name"])
        self._namespace.create(manifest, host.name)
        state = await_started(self._namespace, pod, host.name, Deadline.after(_CLIENT_STARTED))
        process = first_process(host, state.container, host.name)
        if process is not None:
            return ClientPod(host, process.pid)
        raise StayError(
            "the client's pod has just ended", where=host.name, hint=self._namespace.hint
        )

    def _provide(self, host: Host, tree: Tree) -> Image:
        """A host's image of a tree, which its containerd is asked for once."""
        key = host.name, tree.tag
        if key not in self._images:
            self._images[key] = provide(host, self._runtime(host), tree)
        return self._images[key]

    def _make_directories(self, place: Place, host: Host) -> None:
        made = host.run(["mkdir", "-p", *directories(place, self._deployment.storage)])
        if made.code != 0:
            hint = shlex.join(["df", host.scratch])
            raise StayError(made.stderr.strip(), where=host.name, hint=hint)

    def _state(self, member: PodMember) -> PodState:
        state = self._namespace.pod(member.pod, member.name)
        if state is None:
            hint = self._namespace.hint
            raise StayError("its pod was deleted", where=member.name, hint=hint)
        return state

    def _let_go(self, place: Place) -> None:
        if self._opened is not None:
            pod = objects.pod_name(place.member)
            self._opened.let_go(place.member, pod, lost=self._is_lost(place.host))

    def _release(self) -> None:
        if self._opened is not None:
            self._opened.release()

    def _await_gone(self, place: Place) -> None:
        if self._opened is not None:
            self._opened.await_gone(objects.pod_name(place.member), place.member)

    def _leave(self, client: ClientPod | PodHost) -> None:
        with failing_stay():
            client.leave()

    def _remove_client(self, host: str) -> None:
        if isinstance(self._clients[host], ClientPod):
            pod = f"{objects.CLIENT}-{host}"
            self._namespace.remove_pod(pod, host, lost=self._is_lost(host))

    def _end(self) -> None:
        if self._opened is None:
            return
        if self._is_ours:
            self._opened.leave()
        else:
            self._opened.end()

    @property
    def _is_ours(self) -> bool:
        """Whether the Kubernetes is, which ends with its lab."""
        return all(self._runtime(host) is not None for host in self._hosts.values())

    def _remove_directory(self, place: Place) -> None:
        host = self._hosts[place.host]
        host.remove(places.directory(host, place.member))

    def _is_lost(self, host: str) -> bool:
        return is_lost(self._hosts.get(host) or self._landlords[host])

    def _tools(self, host: Host) -> Tools | None:
        try:
            return Tools(self._variables(host))
        except KeyError:
            return None

    def _variables(self, host: Host) -> Mapping[str, str]:
        """Those under which the node's own tools run."""
        runtime = self._runtime(host)
        return runtime.environment if runtime is not None else {}

    def _runtime(self, host: Host) -> ContainerRuntime | None:
        return self._substrate.runtime(host.name)

    def _hostname(self, host: Host) -> str:
        """What the label of a host's node says by which a volume is bound to it."""
        stored = self._deployment.storage is Storage.VOLUME
        if stored and isinstance(self._substrate, LabelsNodes):
            return self._substrate.hostname(host.name)
        return self._node(host)

    def _node(self, host: Host) -> str:
        try:
            return self._substrate.node(host.name)
        except KeyError:
            raise UnavailableError(
                "this host is no node of the Kubernetes",
                where=host.name,
                hint=self._substrate.asking("get nodes"),
            ) from None
