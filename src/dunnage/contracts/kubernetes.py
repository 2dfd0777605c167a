"""What substrates give to platforms with a Kubernetes, and what software gives to substrates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from dunnage.contracts.host import Host

DIRECTORY = "kubernetes"
"""Where a lab's host has its part of a Kubernetes of ours, below its directory on the disk."""
ADMIN = "admin.kubeconfig"
"""File there of who may do everything, on the control host."""
PROGRAMS = "bin"
"""Link there to the programs, such as `kubectl` and `ctr`."""
CONTAINERD_SOCKET = "containerd.sock"
"""File there by which a node's containerd is asked."""
IMAGES = "k8s.io"
"""The namespace of containerd in which a Kubernetes has its images."""
HOSTNAME = "kubernetes.io/hostname"
"""Label of a node by which a local volume is bound to it."""
CLIENT_TAINT = "dunnage/client"
"""Key of the taint of such a Kubernetes that keeps members off the client's host."""


@dataclass(frozen=True)
class KubernetesBinaries:
    """The programs of a Kubernetes, the same paths on every host."""

    binaries: Path
    """Directory of etcd, the control plane, kubelet, kube-proxy, containerd and others by name."""
    plugins: Path
    """Directory of CNI plugins."""
    sandbox: Path
    """Archive of the image whose container holds a pod's namespaces."""
    environment: Mapping[str, str]
    """What is added to their environment, so that they find each other and their tools."""
    version: str
    origin: str


@dataclass(frozen=True)
class ApiServer:
    """A Kubernetes' API server, and how it is reached from this machine."""

    kubeconfig: Path
    """File of who may do everything in a Kubernetes of ours; of the user that its context names in
    one that exists already. It may hold a key, so it belongs into no record."""
    socket: str | None = None
    """A file that leads to it where its address is of another network than this machine's."""
    context: str | None = None
    """Which context of the kubeconfig; None for its current one."""


@dataclass(frozen=True)
class ContainerRuntime:
    """The containerd of a node of ours."""

    ctr: tuple[str, ...]
    """What begins a `ctr` command on its host."""
    environment: Mapping[str, str]
    """Variables under which `ctr` and the node's own tools, such as iptables, run there."""


@runtime_checkable
class HasKubernetes(Protocol):
    """A substrate whose hosts are the nodes of one Kubernetes."""

    @property
    def api(self) -> ApiServer:
        """Where it takes orders."""

    def asking(self, words: str) -> str:
        """What a user types to put this question to `kubectl`, of this very Kubernetes, once a stay
        is over. All that was the stay's is gone by then."""

    def node(self, host: str) -> str:
        """Name of a host's node; KeyError if it is none."""

    def runtime(self, host: str) -> ContainerRuntime | None:
        """The containerd of a host's node; None where it is not ours. KeyError as `node`."""


@runtime_checkable
class OnKubernetes(Protocol):
    """A testbed whose hosts are nodes of a Kubernetes that is there already."""

    @property
    def api(self) -> ApiServer:
        """Where it takes orders."""

    @property
    def labels(self) -> Mapping[str, str]:
        """What every namespace must be labelled with that is made there."""

    def node(self, host: str) -> str:
        """Name of a host's node; KeyError if there is no such host."""


@runtime_checkable
class LabelsNamespaces(Protocol):
    """A Kubernetes in which every namespace of ours has labels besides its own."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Name → value."""


@runtime_checkable
class LabelsNodes(Protocol):
    """A Kubernetes whose nodes may be labelled with other names than their own."""

    def hostname(self, host: str) -> str:
        """What the label `HOSTNAME` of a host's node says; KeyError if the host is no node.

        Raises UnavailableError where the node has no such label.
        """


@runtime_checkable
class TellsNetwork(Protocol):
    """A Kubernetes of someone else's, which tells of the network of its pods."""

    def network(self, host: str) -> Mapping[str, str]:
        """What is written to a host's node: the `plugin` with its own word for the way, such as
        `flannel, vxlan`, and the `encapsulation`, which is the kind of device that wraps what pods
        send to other nodes, or `none`. Each may be `unknown: ` and why. KeyError if the host is no
        node."""


class PodHost(Host, Protocol):
    """A pod that acts as a host."""

    def leave(self) -> None:
        """End it, and all that was started in it."""


@runtime_checkable
class MakesPods(Protocol):
    """A host that is a node, beside which a client can be in a pod of its own."""

    @property
    def image(self) -> str:
        """What its agent runs, so that its node has it: an image with a shell."""

    def beside(self, namespace: str, labels: Mapping[str, str]) -> PodHost:
        """Make a pod on the same node, in a namespace that is there, with a network of its own.

        Raises UnavailableError where the cluster does not take it, or it does not run.
        """


@runtime_checkable
class OwnsApiServer(Protocol):
    """A Kubernetes of our own, to whose API server a way from outside can be made."""

    @property
    def control(self) -> str:
        """Name of the control host."""

    @property
    def address(self) -> str:
        """Where the API server listens in the lab's network, as `host:port`."""

    def kubeconfig(self, server: str) -> bytes:
        """One for who may do everything and finds the API server at this URL."""
