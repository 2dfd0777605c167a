"""A Kubernetes of our own: its control plane on the control host, every other host a node.

Nothing of it has to be told that it ends: its programs and pods are killed, or die with their
hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from lightkube import ApiError, Client
from lightkube.codecs import from_dict
from lightkube.resources.coordination_v1 import Lease
from lightkube.resources.core_v1 import Node as NodeObject
from lightkube.resources.core_v1 import ServiceAccount

from dunnage.contracts import ApiServer, Host, KubernetesBinaries, Testbed
from dunnage.errors import DunnageError, HostLostError, StayError, UnavailableError
from dunnage.kubernetes_api import Refused, connect, explanation, told
from dunnage.model.agreement import agreed
from dunnage.model.study import CONTROL_GROUP
from dunnage.model.value import Scalar
from dunnage.substrates.kubernetes.certificates import Authority
from dunnage.substrates.kubernetes.choices import Choices, ProxyMode
from dunnage.substrates.kubernetes.control_plane import (
    API,
    ASKED,
    CONTROLLERS,
    DNS,
    SCHEDULER,
    ControlPlane,
    Trust,
)
from dunnage.substrates.kubernetes.network import (
    CONFIGURATION,
    FLANNEL,
    FLANNEL_USER,
    SUBNET_FILE,
    Flannel,
    Subnet,
    begin_script,
    configuration,
    routes_script,
    told_by_flannel,
    told_by_links,
    with_flannel,
)
from dunnage.substrates.kubernetes.node import CONTAINERD, KUBELET, SANDBOX, Node
from dunnage.substrates.kubernetes.objects import initial_objects
from dunnage.substrates.kubernetes.place import API_PORT, DOMAIN, MASTERS, SECRET, Component, place_of
from dunnage.substrates.kubernetes.readiness import not_ready, pod_ranges
from dunnage.substrates.kubernetes.running import HINT, Running
from dunnage.substrates.ranges import container_ranges
from dunnage.substrates.side_by_side import side_by_side

FORWARDER = "forwarder"
"""Unit of what carries questions from this machine into the lab's network."""
LEASES = "kube-node-lease"
INOTIFY = 10
"""Instances of inotify that its programs need on a host."""
_READY = 60.0
_STEADY = 1.0
"""Seconds for which nodes must have been ready once they were held still."""
_INTERVAL = 0.05
_SOCKET_PATH_LIMIT = 108
"""Size of `sun_path` in `struct sockaddr_un`, unix(7)."""


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

    With `keep` it lives on for as long as its hosts, unless it did not come up. Raises
    UnavailableError when there is no control host, or with the last log lines of what failed.
    """
    own = OwnKubernetes(testbed, binaries, hosts, choices or Choices())
    try:
        own.form()
        yield own
    except BaseException:
        own.stop()
        raise
    if not keep:
        own.stop()


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
        self._plane = self._new_plane()
        self._facts: Mapping[str, Scalar] = {}

    def form(self) -> None:
        """Start all of it anew, and wait until every node is ready and names are found."""
        self._plane = self._new_plane()
        self._all(self._begin)
        self._until("the API server is not ready", self._api_late, API)
        self._until("the first objects are not accepted", self._objects_late, API)
        self._all(self._go_on)
        self._until("nodes have no addresses for pods", self._ranges_late, CONTROLLERS)
        self._all(self._connect)
        self._wait(UnavailableError, 0.0)
        self._facts = self._read_facts()

    @property
    def api(self) -> ApiServer:
        place = place_of(self._control.scratch)
        return ApiServer(Path(place.admin), self._socket(API))

    @property
    def control(self) -> str:
        """Name of the control host."""
        return self._control.name

    @property
    def address(self) -> str:
        """Where the API server listens in the lab's network."""
        return f"{self._control.address}:{API_PORT}"

    def kubeconfig(self, server: str) -> bytes:
        """One for who may do everything and finds the API server at this URL."""
        return self._plane.kubeconfig("dunnage", MASTERS, server=server)

    def node(self, host: str) -> str:
        if host == self._control.name:
            raise KeyError(host)
        return self._hosts[host].name

    def units(self, host: str) -> tuple[str, ...]:
        there = self._running.get(host)
        return () if there is None else there.units

    def wake(self) -> None:
        """Let everything go on, and wait until every node is ready and stays so.

        Raises StayError when one does not become so.
        """
        self._all(lambda host: self._running[host.name].thaw())
        if self._control.name not in self._testbed.lost():
            self._start_controllers()
            self._wait(StayError, _STEADY)

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
        if there is None:
            self.wake()
            return
        if there.host is self._control and not there.lives(API):
            self._all(lambda each: self._running[each.name].end_all())
            self.form()
            return
        self.wake_others(host)
        if self._control.name in self._testbed.lost() or there.lives(KUBELET):
            return
        if there.host is not self._control:
            there.forget()
            self._begin(there.host)
            self._go_on(there.host)
            self._connect(there.host)
            self._wait(UnavailableError, _STEADY)

    def facts(self) -> Mapping[str, Scalar]:
        """What the API server and the nodes told of themselves when all had come up."""
        return self._facts

    def stop(self) -> None:
        """Kill all programs and pods, and remove what they kept."""
        self._all(lambda host: self._running[host.name].end_all())

    def wake_others(self, host: str) -> None:
        """Let everything go on, whatever is missing on one host."""
        for name in self._living():
            self._running[name].thaw()
        if self._control.name not in self._testbed.lost():
            self._start_controllers()

    def _new_plane(self) -> ControlPlane:
        trust = Trust(Authority("dunnage"), Authority("dunnage-etcd"))
        return ControlPlane(
            self._control.address,
            self._binaries.binaries,
            place_of(self._control.scratch),
            container_ranges(host.address for host in self._testbed.hosts),
            trust,
        )

    def _as_node(self, host: Host) -> Node:
        there = self._running[host.name]
        return Node(
            host.name,
            host.group,
            host.address,
            host.scratch,
            there.pods,
            self._binaries.binaries,
            self._binaries.plugins,
            there.place,
            self._plane,
            self._choices.proxy,
        )

    def _flannel(self, host: Host) -> Flannel:
        return Flannel(
            host.name,
            host.address,
            self._plane.ranges.pods,
            self._binaries.binaries,
            self._running[host.name].place,
            self._choices.network,
            self._choices.proxy,
        )

    def _begin(self, host: Host) -> None:
        """Start what waits for nothing: the API server with its etcd, or a node's containerd."""
        there = self._running[host.name]
        if host is self._control:
            there.prepare(self._plane.files())
            for component in (*self._plane.first(), self._forwarder()):
                there.start(component)
            return
        node = self._as_node(host)
        if len(there.place.socket) + len(".ttrpc") >= _SOCKET_PATH_LIMIT:
            raise UnavailableError(
                f"containerd's socket `{there.place.socket}` has a path that is too long for the "
                "kernel; give the group of hosts a shorter name",
                where=host.name,
                hint="dunnage plan STUDY",
            )
        there.prepare(node.files())
        there.run("sh", "-c", begin_script(host.address, self._plane.ranges.services))
        there.start(node.containerd())
        self._until_done("containerd takes no image", lambda: self._sandbox_late(there), there)

    def _sandbox_late(self, there: Running) -> str | None:
        ctr = str(self._binaries.binaries / "ctr")
        reach = (ctr, "--address", there.place.socket, "--namespace", "k8s.io", "images")
        try:
            there.run(*reach, "import", str(self._binaries.sandbox))
        except UnavailableError as error:
            return error.what
        known = there.run(*reach, "list", "--quiet").split()
        return None if SANDBOX in known else f"its archive holds {known}, not `{SANDBOX}`"

    def _go_on(self, host: Host) -> None:
        """Start what needs the API server."""
        there = self._running[host.name]
        if host is self._control:
            self._start_controllers()
            there.start(self._plane.names())
            return
        node = self._as_node(host)
        there.start(node.kubelet(there.pid(CONTAINERD)))
        there.start(node.kube_proxy())

    def _start_controllers(self) -> None:
        there = self._running[self._control.name]
        for component in self._plane.controllers():
            if not there.lives(component.unit):
                there.start(component)

    def _connect(self, host: Host) -> None:
        """Join a node to the network of pods."""
        if host is self._control:
            return
        there = self._running[host.name]
        if with_flannel(self._choices.network):
            subnet = self._by_flannel(there)
        else:
            subnet = self._by_routes(there)
        state = there.place.path("addresses")
        node = self._as_node(host)
        there.host.put(f"{node.cni}/{CONFIGURATION}", configuration(subnet, state))

    def _by_routes(self, there: Running) -> Subnet:
        with self._asked("nodes cannot be listed") as client:
            ranges = pod_ranges(client.list(NodeObject))
        own = ranges.pop(there.host.name)
        others = {range_: self._hosts[name].address for name, range_ in ranges.items()}
        there.run("sh", "-c", routes_script(self._plane.ranges.pods, own, others))
        return Subnet(own)

    def _by_flannel(self, there: Running) -> Subnet:
        flannel = self._flannel(there.host)
        path, host = there.place.path, there.host
        host.put(path("flannel.json"), flannel.settings())
        config = self._plane.kubeconfig(FLANNEL_USER)
        host.put(path(f"{FLANNEL}.kubeconfig"), config, SECRET)
        there.start(flannel.component())
        found: list[Subnet] = []

        def late() -> str | None:
            try:
                found.append(told_by_flannel(host.get(SUBNET_FILE).decode()))
            except (FileNotFoundError, KeyError, ValueError) as error:
                return f"`{SUBNET_FILE}` tells no subnet: {error}"
            return None

        self._until_done("flannel gives no subnet", late, there)
        return found[-1]

    def _forwarder(self) -> Component:
        pairs = {API: self.address, **ASKED}
        words = [f"--pair={self._socket(unit)}={address}" for unit, address in pairs.items()]
        return Component(FORWARDER, (self._control.engine, "forward", *words))

    def _socket(self, unit: str) -> str:
        return place_of(self._control.scratch).path(f"{unit}.sock")

    def _api_late(self) -> str | None:
        try:
            told(self.api, "/readyz", timeout=5.0)
        except Refused as refusal:
            return explanation(refusal)
        return None

    def _objects_late(self) -> str | None:
        """Begin with what each Kubernetes of ours holds; what is there already is left."""
        flannel = with_flannel(self._choices.network)
        objects = initial_objects(self._plane.dns, self._control.address, flannel=flannel)
        try:
            with closing(connect(self.api)) as client:
                for each in objects:
                    _create(client, from_dict(dict(each)))
        except Refused as refusal:
            return explanation(refusal)
        return None

    def _ranges_late(self) -> str | None:
        try:
            with closing(connect(self.api)) as client:
                ranges = pod_ranges(client.list(NodeObject))
        except Refused as refusal:
            return explanation(refusal)
        missing = [name for name in self._nodes() if name not in ranges]
        return f"`{missing[0]}` has none" if missing else None

    def _wait(self, error: type[DunnageError], steady: float) -> None:
        """Wait until all is ready: controllers, nodes for `steady` seconds without a break, and the
        names of services, as each node finds them."""
        self._until("the Kubernetes is not ready", self._late, API, error, steady)
        self._all(self._names_found)

    def _late(self) -> str | None:
        try:
            for unit, address in ASKED.items():
                scheme = "http" if unit == DNS else "https"
                path = "ready" if unit == DNS else "healthz"
                told(self.api, f"{scheme}://{address}/{path}", self._socket(unit), timeout=5.0)
            with closing(connect(self.api)) as client:
                client.get(ServiceAccount, "default", namespace="default")
                leases = client.list(Lease, namespace=LEASES)
                now = self._testbed.clock.now()
                late = not_ready(client.list(NodeObject), leases, self._nodes(), now)
        except Refused as refusal:
            return explanation(refusal)
        return next((f"`{host}` is {why}" for host, why in late.items()), None)

    def _names_found(self, host: Host) -> None:
        if host is self._control:
            return
        there = self._running[host.name]
        name = f"kubernetes.default.svc.{DOMAIN}."

        def late() -> str | None:
            words = (host.engine, "resolve", "--server", self._plane.dns, name)
            done = host.run(words)
            return None if done.code == 0 else done.stderr.strip()

        self._until_done("names of services are not found", late, there)

    def _until(
        self,
        what: str,
        late: Callable[[], str | None],
        unit: str,
        error: type[DunnageError] = UnavailableError,
        steady: float = 0.0,
    ) -> None:
        """Ask until nothing is late any more, for `steady` seconds without a break.

        Whatever ended meanwhile is told with its log, or else the log of `unit`.
        """
        clock = self._testbed.clock
        ends = clock.now() + _READY
        since: float | None = None
        while since is None or clock.now() - since < steady:
            why = late()
            since = None if why else since or clock.now()
            if why is None and not steady:
                return
            for name in self._living():
                self._running[name].insist_alive()
            if why and clock.now() >= ends:
                said = f"{what} within {_READY:g} s: {why}"
                control = self._running[self._control.name]
                raise error(f"{said}{control.logged(unit)}", where=self._control.name, hint=HINT)
            clock.sleep(_INTERVAL)

    def _until_done(self, what: str, late: Callable[[], str | None], there: Running) -> None:
        """The same for something on one host, of whose programs none may end."""
        clock = self._testbed.clock
        ends = clock.now() + _READY
        while (why := late()) is not None:
            there.insist_alive()
            if clock.now() >= ends:
                said = f"{what} within {_READY:g} s: {why}"
                raise UnavailableError(said, where=there.host.name, hint=HINT)
            clock.sleep(_INTERVAL)

    def _read_facts(self) -> Mapping[str, Scalar]:
        with self._asked("nodes cannot be listed") as client:
            nodes = [node for node in client.list(NodeObject) if node.status is not None]
        infos = [node.status.nodeInfo for node in nodes if node.status and node.status.nodeInfo]
        versions = {
            "kubelet": sorted({info.kubeletVersion for info in infos}),
            "containers": sorted({info.containerRuntimeVersion for info in infos}),
        }
        networks = {name: self._network_facts(self._running[name]) for name in self._nodes()}
        return {
            "nodes": len(nodes),
            "kubelet_version": ", ".join(versions["kubelet"]),
            "container_runtime": ", ".join(versions["containers"]),
            "pod_range": self._plane.ranges.pods,
            "service_range": self._plane.ranges.services,
            "origin": self._binaries.origin,
            "ours": True,
            **agreed(networks),
        }

    def _network_facts(self, there: Running) -> Mapping[str, Scalar]:
        """What is in force on a node, read back."""
        bridge, tunnel = told_by_links(there.run("ip", "-json", "link"))
        asked = "nft list table ip kube-proxy > /dev/null 2>&1 && echo nftables; "
        asked += "iptables-save -t nat 2> /dev/null | grep -q KUBE-SERVICES && echo iptables; true"
        modes = there.run("sh", "-c", asked).split()
        known = [mode for mode in ProxyMode if mode in modes]
        return {
            "proxy_mode": ", ".join(known) or "unknown",
            "bridge_mtu": bridge,
            "tunnel_mtu": tunnel,
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
            raise UnavailableError(said, where=control.name, hint=HINT) from refusal


def _create(client: Client, wanted: object) -> None:
    """Create an object unless there is one of its name."""
    try:
        client.create(wanted)
    except ApiError as error:
        if error.status.code != 409:
            raise


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
