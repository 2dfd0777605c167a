"""A lab with a Kubernetes, and deployments of Redis and Cassandra on it."""

from __future__ import annotations

import re
import shutil
import tarfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import run
from typing import Any

from insisted import insisted
from lab_traces import eventually
from lightkube import Client
from lightkube.codecs import from_dict
from lightkube.resources.core_v1 import Namespace, PersistentVolume, Pod, Service
from lightkube.resources.rbac_authorization_v1 import ClusterRole, ClusterRoleBinding
from living import STAY, LabHosts, deployed, living

from dunnage import catalog
from dunnage.clusters.rights import ALL, Right, missing
from dunnage.contracts.database import Database
from dunnage.contracts.kubernetes import ApiServer
from dunnage.hosts.namespace.testbed import open_namespace
from dunnage.image_archive import write_archive
from dunnage.kubernetes_api import connect
from dunnage.model.choices import Cores
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Software, Target
from dunnage.model.study import TestbedSpec
from dunnage.platforms.kubernetes.platform import Kubernetes
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.kubernetes.choices import Choices, Network
from dunnage.substrates.kubernetes.own import OwnKubernetes, open_kubernetes

TREES = DebianSoftware()


@dataclass(frozen=True)
class Lab(LabHosts):
    """Hosts, and the Kubernetes of them."""

    kubernetes: OwnKubernetes


@contextmanager
def opened(
    choices: Choices | None = None, members: int = 3, *, steer: bool = True
) -> Iterator[Lab]:
    """A lab of its own; where it does not `steer`, senders take in packets for receivers."""
    hosts = {"db": members, "client": 1, "control": 1}
    spec = TestbedSpec(kind="namespace", hosts=hosts, cores=Cores.SHARED, steer=steer)
    chosen = choices or Choices(Network.FLANNEL_VXLAN)
    with (
        open_namespace(spec, name="kubernetes", engine=engine_path(), keep=False) as testbed,
        open_kubernetes(testbed, TREES.kubernetes(print), testbed.hosts, chosen) as kubernetes,
    ):
        yield Lab(testbed, kubernetes)


def kubeconfig_of(lab: Lab, user: str, server: str) -> bytes:
    """What a user is given who finds the API server at this URL, with a certificate by the lab."""
    return lab.kubernetes.plane.kubeconfig(user, server=server)


@contextmanager
def allowed(lab: Lab, user: str, rights: Collection[Right], kubeconfig: Path) -> Iterator[None]:
    """While it lasts, the user of a kubeconfig may do this in the cluster, and no more."""
    rules = [
        {
            "verbs": [right.verb],
            "apiGroups": [right.group],
            "resources": ["/".join(filter(None, (right.resource, right.subresource)))],
        }
        for right in rights
    ]
    api, name = f"{_RBAC}/v1", {"name": user}
    role = {"apiVersion": api, "kind": "ClusterRole", "metadata": name, "rules": rules}
    binding = {
        "apiVersion": api,
        "kind": "ClusterRoleBinding",
        "metadata": name,
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": user},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
    }
    with closing(connect(lab.kubernetes.api)) as client:
        for each in (role, binding):
            client.create(from_dict(each))
        try:
            lacks = tuple(right for right in ALL if right not in rights)
            with closing(connect(ApiServer(kubeconfig))) as theirs:
                assert eventually(lambda: missing(theirs, ALL) == lacks), missing(theirs, ALL)
            yield
        finally:
            client.delete(ClusterRoleBinding, user)
            client.delete(ClusterRole, user)


def give_image(lab: Lab, name: str, place: Path) -> None:
    """What a registry does elsewhere: an image that all nodes have, with Redis and a shell.

    Its programs are where a shell finds them. `place` is for files meanwhile.
    """
    tree = TREES.tree(Software("redis", "7.0"))
    layer, archive = place / "layer.tar", place / "image.tar"
    layer.write_bytes(tree.archive.read_bytes())
    with tarfile.open(layer, "a") as tar:
        for program in ("redis-server", "redis-cli"):
            _link(tar, f"usr/bin/{program}", f"{tree.prefix}/bin/{program}")
        for merged in ("bin", "lib", "lib64"):
            _link(tar, merged, f"usr/{merged}")
        _link(tar, "usr/bin/sh", "dash")
        for file in _shell():
            tar.add(file.resolve(), f"usr{file.as_posix().removeprefix('/usr')}")
    write_archive(layer, name, (), archive)
    for host in (*lab.members, lab.client):
        runtime = lab.kubernetes.runtime(host.name)
        host.put(f"{host.scratch}/theirs.tar", archive.read_bytes())
        words = [f"{name}={value}" for name, value in runtime.environment.items()]
        imports = (*runtime.ctr, "--namespace", "k8s.io", "images", "import")
        insisted(host, "env", *words, *imports, f"{host.scratch}/theirs.tar")
        host.remove(f"{host.scratch}/theirs.tar")


def _link(tar: tarfile.TarFile, name: str, to: str) -> None:
    link = tarfile.TarInfo(name)
    link.type, link.linkname = tarfile.SYMTYPE, to
    tar.addfile(link)


def _shell() -> set[Path]:
    """A shell of this machine, what scripts call, and the libraries of all."""
    programs = [shutil.which(name) for name in _CALLED]
    told = run(["ldd", *map(str, programs)], check=True, capture_output=True, text=True).stdout
    libraries = re.findall(r"(/\S+) \(0x", told)
    return {Path(str(each)) for each in (*programs, *libraries)}


_RBAC = "rbac.authorization.k8s.io"
_CALLED = ("dash", "cat", "chmod", "mkdir", "mv", "sleep", "true", "wc")


def deployed_as(
    endpoint: str = "host-port", *words: Any, network: str = "flannel-vxlan", **changes: Any
) -> Deployment:
    """A deployment on it, whose further words are those of `deployed`."""
    return deployed("kubernetes", network, endpoint, *words, **changes)


@contextmanager
def formed(
    lab: Lab,
    deployment: Deployment,
    database: Database | None = None,
) -> Iterator[tuple[Kubernetes, Target, frozenset[str]]]:
    """A deployment that lives on it, as `living` has it, of which nothing may be left."""
    catalog.translate(lab.testbed, [deployment])
    made = Kubernetes(deployment, lab.members, lab.kubernetes, TREES, STAY)
    with living(made, deployment, lab.testbed, database) as formed:
        yield formed
    assert traces(lab) == []


def traces(lab: Lab) -> Sequence[str]:
    """What of stays is left in the cluster, but for empty namespaces that are about to go."""
    with closing(connect(lab.kubernetes.api)) as client:
        named = [each.metadata for each in client.list(Namespace) if not _is_going(client, each)]
        named += [each.metadata for each in client.list(PersistentVolume)]
    names = [str(each.name) for each in named if each is not None]
    return [name for name in names if name.startswith("dunnage-")]


def _is_going(client: Client, namespace: Namespace) -> bool:
    """Whether its deletion was asked for, and no pod or service is in it any more."""
    metadata = namespace.metadata
    if metadata is None or metadata.deletionTimestamp is None:
        return False
    left = [
        each for kind in (Pod, Service) for each in client.list(kind, namespace=str(metadata.name))
    ]
    return not left
