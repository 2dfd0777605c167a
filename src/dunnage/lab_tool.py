"""Labs without a study: made, found, entered, exposed, and removed with all that was left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NoReturn

from dunnage import catalog
from dunnage.contracts.docker import Daemon
from dunnage.contracts.kubernetes import HasKubernetes, OwnsApiServer
from dunnage.hosts import clean as leftovers
from dunnage.hosts import standing
from dunnage.hosts.machine_lock import forget_measuring
from dunnage.hosts.namespace.testbed import NamespaceTestbed, open_namespace
from dunnage.model.study import TestbedSpec
from dunnage.platforms.kubernetes.network import before_pods
from dunnage.software import docker
from dunnage.software.engine import engine_path
from dunnage.substrates.contexts import write_contexts
from dunnage.substrates.kubernetes.kubeconfigs import write_kubeconfig


def open_lab(spec: TestbedSpec) -> AbstractContextManager[NamespaceTestbed]:
    """A lab without a study, which is left standing."""
    return open_namespace(spec, name="lab up", engine=engine_path(), keep=True)


def standing_families(wanted: Iterable[str]) -> tuple[str, ...]:
    """The families of substrate that are asked for, each after that on which it stands."""
    return tuple(dict.fromkeys(each for name in wanted for each in catalog.OFFER.layers(name, {})))


def needs_control(families: Iterable[str]) -> bool:
    """Whether a family has a part on a host of its own."""
    return any(catalog.OFFER.substrate(name, {})[1].control for name in families)


def expose(lab: str, daemons: Mapping[str, Daemon]) -> Path:
    """Write Docker contexts that lead to a lab's daemons; returns their directory."""
    directory = standing.chosen(lab).directory / "docker"
    write_contexts(directory, daemons)
    return directory


def expose_kubernetes(testbed: NamespaceTestbed, kubernetes: OwnsApiServer) -> Path:
    """Open a port of this machine's loopback that leads to a lab's API server, and write a
    kubeconfig for it; returns that."""
    port = testbed.host(kubernetes.control).listen_outside(kubernetes.address)
    file = _kubeconfig(standing.chosen(testbed.name))
    write_kubeconfig(file, kubernetes.kubeconfig(f"https://127.0.0.1:{port}"))
    return file


def exposed_kubeconfig(lab: standing.StandingLab) -> Path | None:
    """The kubeconfig by which a lab's Kubernetes is reached from this machine; None where it is
    not."""
    file = _kubeconfig(lab)
    return file if file.is_file() else None


def _kubeconfig(lab: standing.StandingLab) -> Path:
    return lab.directory / "kubernetes" / "kubeconfig"


def proxy_of(testbed: NamespaceTestbed, kubernetes: HasKubernetes) -> str:
    """The mode of kube-proxy on the first node of a lab, by the rules of its kernel; `unknown: …`
    where they cannot be read."""
    host = testbed.hosts[0]
    runtime = kubernetes.runtime(host.name)
    return before_pods(host, {} if runtime is None else runtime.environment)["proxy"]


def standing_labs() -> tuple[standing.StandingLab, ...]:
    """The labs on this machine."""
    return standing.standing()


def chosen_lab(name: str | None) -> standing.StandingLab:
    """The lab of a name, or the only one."""
    return standing.chosen(name)


def enter_lab(
    lab: standing.StandingLab, host: standing.StandingHost, argv: Sequence[str]
) -> NoReturn:
    """Become a program inside a host of a lab."""
    standing.enter(lab, host, argv)


def take_down_lab(lab: standing.StandingLab) -> None:
    """End a kept lab and remove all of it."""
    standing.take_down(lab)
    docker.remove_traces()


def clean(*, kept: bool) -> tuple[leftovers.Leftover, ...]:
    """Remove what no running process owns; return what was removed."""
    removed = leftovers.clean(kept=kept)
    docker.remove_traces()
    forget_measuring()
    return removed
