"""A node's host: its programs are started, and asked whether they do their work."""

from __future__ import annotations

from dataclasses import dataclass

from dunnage.contracts.host import Clock
from dunnage.contracts.kubernetes import IMAGES, ContainerRuntime, KubernetesBinaries
from dunnage.errors import UnavailableError
from dunnage.substrates.kubernetes.choices import Choices
from dunnage.substrates.kubernetes.control_plane import ControlPlane
from dunnage.substrates.kubernetes.network import Flannel, begin_script
from dunnage.substrates.kubernetes.node import CONTAINERD, SANDBOX, Node
from dunnage.substrates.kubernetes.place import DOMAIN
from dunnage.substrates.kubernetes.running import Running

_TTRPC = ".ttrpc"
"""What containerd calls its second socket, behind the name of the first."""
_SOCKET_PATH_LIMIT = 108
"""Size of `sun_path` in `struct sockaddr_un`, unix(7)."""


@dataclass(frozen=True)
class OnNode:
    """One node of a Kubernetes."""

    there: Running
    plane: ControlPlane
    binaries: KubernetesBinaries
    choices: Choices
    clock: Clock

    @property
    def node(self) -> Node:
        """What its programs are told."""
        host = self.there.host
        return Node(
            host.name,
            host.group,
            host.address,
            host.scratch,
            self.there.pods,
            self.binaries.binaries,
            self.binaries.plugins,
            self.there.place,
            self.plane,
            self.choices.proxy,
        )

    @property
    def flannel(self) -> Flannel:
        """What its flannel is told, where it has one."""
        host = self.there.host
        return Flannel(
            host.name,
            host.address,
            self.plane.ranges.pods,
            self.binaries.binaries,
            self.there.place,
            self.choices.network,
            self.choices.proxy,
        )

    @property
    def runtime(self) -> ContainerRuntime:
        """Its containerd."""
        ctr = (str(self.binaries.binaries / "ctr"), "--address", self.there.place.socket)
        return ContainerRuntime(ctr, self.binaries.environment)

    def begin(self) -> None:
        """Start containerd, which waits for nothing, and wait until it has the sandbox's image."""
        there, host = self.there, self.there.host
        if len(there.place.socket) + len(_TTRPC) >= _SOCKET_PATH_LIMIT:
            raise UnavailableError(
                f"containerd's socket `{there.place.socket}` has a path that is too long for the "
                "kernel; give the group of hosts a shorter name",
                where=host.name,
                hint="dunnage plan STUDY",
            )
        there.prepare(self.node.files())
        there.run("ln", "-s", str(self.binaries.binaries), there.place.programs)
        there.run("sh", "-c", begin_script(host.address, self.plane.ranges.services))
        there.start(self.node.containerd())
        there.until("containerd takes no image", self._imageless, self.clock)

    def go_on(self) -> None:
        """Start what needs the API server."""
        self.there.start(self.node.kubelet(self.there.pid(CONTAINERD)))
        self.there.start(self.node.kube_proxy())

    def find_names(self) -> None:
        """Wait until names of services are found by way of a service."""
        host = self.there.host
        name = f"kubernetes.default.svc.{DOMAIN}."
        words = (host.engine, "resolve", "--server", self.plane.dns, name)

        def late() -> str | None:
            done = host.run(words)
            return None if done.code == 0 else done.stderr.strip()

        self.there.until("names of services are not found", late, self.clock)

    def _imageless(self) -> str | None:
        images = (*self.runtime.ctr, "--namespace", IMAGES, "images")
        try:
            self.there.run(*images, "import", str(self.binaries.sandbox))
        except UnavailableError as error:
            return error.what
        known = self.there.run(*images, "list", "--quiet").split()
        return None if SANDBOX in known else f"its archive holds {known}, not `{SANDBOX}`"
