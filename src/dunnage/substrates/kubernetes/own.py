"""A Kubernetes of our own: its control plane on the control host, every other host a node.

A program that ends is restarted, some times in a row at most. Nothing of it has to be told that it
ends: its programs and pods are killed, or die with their hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager

from lightkube import Client
from lightkube.resources.core_v1 import Node as NodeObject

from dunnage.contracts.host import Host
from dunnage.contracts.kubernetes import ApiServer, ContainerRuntime, KubernetesBinaries
from dunnage.contracts.testbed import Testbed
from dunnage.errors import TO_LOOK, HostLostError, UnavailableError
from dunnage.kubernetes_api import Refused, connect, explanation
from dunnage.model.cni import NodeNetwork, filled
from dunnage.model.record import Restart
from dunnage.model.study import CONTROL_GROUP
from dunnage.model.value import Scalar
from dunnage.substrates.kubernetes.certificates import Authority
from dunnage.substrates.kubernetes.choices import Choices
from dunnage.substrates.kubernetes.control_plane import (
    API,
    CONTROLLERS,
    SCHEDULER,
    ControlPlane,
    Trust,
)
from dunnage.substrates.kubernetes.joining import (
    by_flannel,
    by_routes,
    write_configuration,
)
from dunnage.substrates.kubernetes.network import (
    FLANNEL_USER,
    Subnet,
    configuration,
    with_flannel,
)
from dunnage.substrates.kubernetes.node import KUBELET
from dunnage.substrates.kubernetes.objects import initial_objects
from dunnage.substrates.kubernetes.on_control import FORWARDER, OnControl
from dunnage.substrates.kubernetes.on_node import OnNode
from dunnage.substrates.kubernetes.place import MASTERS, place_of
from dunnage.substrates.kubernetes.plugins import insist_on_plugins
from dunnage.substrates.kubernetes.probes import Probes
from dunnage.substrates.kubernetes.readiness import node_facts, pod_ranges
from dunnage.substrates.kubernetes.running import INTERVAL, READY, Running
from dunnage.substrates.late import still_late
from dunnage.substrates.ranges import container_ranges
from dunnage.substrates.side_by_side import side_by_side

_STEADY = 1.0
"""Seconds for which nodes must have been ready once they were held still."""


@contextmanager
def open_kubernetes(
    testbed: Testbed,
    binaries: KubernetesBinaries,
    hosts: Sequence[Host],
    choices: Choices | None = None,
    *,
    keep: bool = False,
) -> Iterator[OwnKubernetes]:
    """Make one Kubernetes of these hosts, one of which is the control host.

    With `keep` it lives on for as long as its hosts, also where it did not come up: then there is
    something to look at. Raises UnavailableError when there is no control host, when a plugin of
    the network is not there, or with the last log lines of what failed.
    """
    chosen = choices or Choices()
    insist_on_plugins(chosen.configuration, binaries.plugins)
    own = OwnKubernetes(testbed, binaries, hosts, chosen)
    with ExitStack() as stack:
        if not keep:
            stack.callback(own.stop)
        own.form()
        yield own


class OwnKubernetes:
    """The Kubernetes that we formed. Hosts that are lost are passed over until they are mended."""

    def __init__(
        self,
        testbed: Testbed,
        binaries: KubernetesBinaries,
        hosts: Sequence[Host],
        choices: Choices,
    ) -> None:
        self._testbed = testbed
        self._binaries = binaries
        self._choices = choices
        self._control = _control(hosts)
        self._running = {host.name: Running(host, binaries.environment) for host in hosts}
        self._hosts = {host.name: host for host in hosts}
        self.plane = self._new_plane()
        """What its programs are told, and by which authority users are known."""
        self._facts: Mapping[str, Scalar] = {}

    def form(self) -> None:
        """Start all of it anew, and wait until every node is ready and names are found."""
        self.plane = self._new_plane()
        self._all(self._begin)
        probes = self._probes
        flannel = with_flannel(self._choices.network)
        objects = initial_objects(self.plane.dns, self._control.address, flannel=flannel)
        self._until("the API server is not ready", probes.server, API)
        self._until("first objects are not accepted", lambda: probes.holds(objects), API)
        self._all(self._go_on)
        missing = "nodes have no addresses for pods"
        self._until(missing, lambda: probes.ranges(self._nodes()), CONTROLLERS)
        self._all(self._connect)
        self._wait()
        self._facts = self._read_facts()

    @property
    def api(self) -> ApiServer:
        return self._commander.api

    @property
    def control(self) -> str:
        """Name of the control host."""
        return self._control.name

    @property
    def address(self) -> str:
        """Where the API server listens in the lab's network."""
        return self._commander.address

    def kubeconfig(self, server: str) -> bytes:
        """One that finds the API server at this URL, for who may do everything."""
        return self.plane.kubeconfig("dunnage", MASTERS, server=server)

    def asking(self, words: str) -> str:
        shell = f"dunnage lab shell {self.control} -- kubectl {words}"
        return f"dunnage run --keep STUDY  # then: {shell}"

    def node(self, host: str) -> str:
        if host == self._control.name:
            raise KeyError(host)
        return self._hosts[host].name

    def runtime(self, host: str) -> ContainerRuntime:
        return self._on(self.node(host)).runtime

    def units(self, host: str) -> tuple[str, ...]:
        there = self._running.get(host)
        return () if there is None else there.units

    def rules(self, host: str) -> int | None:
        there = self._running.get(host)
        return None if there is None else there.rules()

    def wake(self) -> None:
        """Let everything go on, and wait until every node is ready and stays so.

        Raises UnavailableError when one does not become so.
        """
        self._thaw()
        if self._commanded():
            self._wait(_STEADY)

    def freeze(self, hosts: Collection[str] | None = None) -> None:
        """Hold all programs still; pods go on. Controllers are ended, and started by `wake`: what
        they believe of nodes that they did not hear of for a while would be wrong for seconds."""

        def hold(host: Host) -> None:
            if hosts is not None and host.name not in hosts:
                return
            there = self._running[host.name]
            for unit in (CONTROLLERS, SCHEDULER):
                there.end(unit)
            there.freeze(*there.units)

        self._all(hold)

    def mend(self, host: str) -> None:
        """Make a node of a restored host again; where it was the control host, form it all anew."""
        there = self._running.get(host)
        lost = there is not None and not (there.lives(API) or there.lives(KUBELET))
        if there is not None and lost:
            there.forget()
        self._thaw()
        if there is None or not lost:
            return
        if there.host is self._control:
            self._all(lambda each: self._running[each.name].end_all())
            self.form()
        elif self._commanded():
            self._begin(there.host)
            self._go_on(there.host)
            self._connect(there.host)
            self._wait(_STEADY)

    def facts(self) -> Mapping[str, Scalar]:
        """What the API server and the nodes told of themselves when all had come up."""
        return self._facts

    def restarts(self) -> Mapping[str, tuple[Restart, ...]]:
        """Of its programs; what carries questions into the lab's network is none of them."""
        return {
            name: tuple(each for each in there.restarts() if each.program != FORWARDER)
            for name, there in self._running.items()
        }

    def stop(self) -> None:
        """Kill all programs and pods, and remove what they kept."""
        self._all(lambda host: self._running[host.name].end_all())

    def _thaw(self) -> None:
        """Let everything go on, and start controllers where they do not run: once the API server
        answers, which may be just restarted, as they end where it does not."""
        self._all(lambda host: self._running[host.name].thaw())
        if self._commanded():
            self._until("the API server is not ready", self._probes.server, API)
            self._commander.command()

    def _commanded(self) -> bool:
        """Whether an API server was started: not while the control host is lost, or not mended."""
        return self._running[self._control.name].started(API)

    def _new_plane(self) -> ControlPlane:
        trust = Trust(*map(Authority, ("dunnage", "dunnage-etcd", "dunnage-front")))
        return ControlPlane(
            self._control.address,
            self._binaries.binaries,
            place_of(self._control.scratch),
            container_ranges(host.address for host in self._testbed.hosts),
            trust,
        )

    @property
    def _commander(self) -> OnControl:
        return OnControl(self._running[self._control.name], self.plane)

    @property
    def _probes(self) -> Probes:
        return Probes(self.api, self._commander.sockets, self._testbed.clock)

    def _on(self, node: str) -> OnNode:
        clock = self._testbed.clock
        return OnNode(self._running[node], self.plane, self._binaries, self._choices, clock)

    def _begin(self, host: Host) -> None:
        """Start what waits for nothing: the API server with its etcd, or a node's containerd."""
        part = self._commander if host is self._control else self._on(host.name)
        part.begin()

    def _go_on(self, host: Host) -> None:
        """Start what needs the API server."""
        part = self._commander if host is self._control else self._on(host.name)
        part.go_on()

    def _connect(self, host: Host) -> None:
        """Join a node to the network of pods."""
        if host is self._control:
            return
        part = self._on(host.name)
        if with_flannel(self._choices.network):
            config = self.plane.kubeconfig(FLANNEL_USER)
            subnet = by_flannel(part.there, part.flannel, config, part.clock)
        else:
            with self._asked("nodes cannot be listed") as client:
                ranges = pod_ranges(client.list(NodeObject))
            addresses = {name: each.address for name, each in self._hosts.items()}
            subnet = by_routes(part.there, self.plane.ranges.pods, ranges, addresses)
        write_configuration(part.there, part.node, self._configuration(host, subnet))

    def _configuration(self, host: Host, subnet: Subnet) -> bytes:
        """What containerd is told of the network: the user's own words, or ours for bridges."""
        own = self._choices.configuration
        if not own:
            return configuration(subnet, self._running[host.name].place.path("addresses"))
        ranges = self.plane.ranges
        number = [*self._hosts].index(host.name) + 1
        node = NodeNetwork(subnet.range, ranges.pods, ranges.services, number)
        return filled(own, node).encode()

    def _wait(self, steady: float = 0.0) -> None:
        """Wait until all is ready: controllers, nodes for `steady` seconds without a break, and the
        names of services, as each node finds them."""
        late = self._probes.all_of_it
        self._until("it is not ready", lambda: late(self._nodes()), API, steady)
        self._all(self._names_found)

    def _names_found(self, host: Host) -> None:
        if host is not self._control:
            self._on(host.name).find_names()

    def _until(
        self,
        what: str,
        late: Callable[[], str | None],
        unit: str,
        steady: float = 0.0,
    ) -> None:
        """Ask until nothing is late any more, for `steady` seconds without a break.

        Whatever ended meanwhile is told with its log, or else the log of `unit`.
        """

        def asked() -> str | None:
            why = late()
            if why is not None or steady:
                for name in self._living():
                    self._running[name].insist_alive()
            return why

        clock = self._testbed.clock
        if why := still_late(asked, clock, seconds=READY, interval=INTERVAL, steady=steady):
            logged = self._running[self._control.name].logged(unit)
            said = f"{what} within {READY:g} s: {why}{logged}"
            raise UnavailableError(said, where=self._control.name, hint=TO_LOOK)

    def _read_facts(self) -> Mapping[str, Scalar]:
        with self._asked("nodes cannot be listed") as client:
            told_by_nodes = node_facts(client.list(NodeObject))
        return {
            **told_by_nodes,
            "pod_range": self.plane.ranges.pods,
            "service_range": self.plane.ranges.services,
            "origin": self._binaries.origin,
            "ours": True,
        }

    def _living(self) -> tuple[str, ...]:
        lost = set(self._testbed.lost())
        return tuple(name for name in self._hosts if name not in lost)

    def _nodes(self) -> tuple[str, ...]:
        return tuple(name for name in self._living() if name != self._control.name)

    def _all(self, action: Callable[[Host], object]) -> None:
        """Do it on all living hosts at once; then raise the first error, if there was one."""
        side_by_side([self._hosts[name] for name in self._living()], action)

    @contextmanager
    def _asked(self, what: str) -> Iterator[Client]:
        """A client of the API; a refusal says `what`, and what the API server logged."""
        try:
            with closing(connect(self.api)) as client:
                yield client
        except Refused as refusal:
            control = self._control
            if control.name in self._testbed.lost():
                raise HostLostError("the host no longer answers", where=control.name) from refusal
            logged = self._running[control.name].logged(API)
            said = f"{what}: {explanation(refusal)}{logged}"
            raise UnavailableError(said, where=control.name, hint=TO_LOOK) from refusal


def _control(hosts: Sequence[Host]) -> Host:
    for host in hosts:
        if host.group == CONTROL_GROUP:
            return host
    raise UnavailableError(
        f"a Kubernetes of our own needs a host of the group `{CONTROL_GROUP}` for its control "
        "plane",
        where="kubernetes",
        hint="dunnage plan STUDY",
    )
