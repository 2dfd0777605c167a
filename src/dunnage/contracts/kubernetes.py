"""What substrates give to platforms with a Kubernetes, and what software gives to substrates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable


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

    def node(self, host: str) -> str:
        """Name of a host's node; KeyError if it is none."""

    def runtime(self, host: str) -> ContainerRuntime | None:
        """The containerd of a host's node; None where it is not ours. KeyError as `node`."""


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
