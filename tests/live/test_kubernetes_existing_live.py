"""A lab's own Kubernetes, as whoever has a kubeconfig for it sees it."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from driving import driven
from kubernetes_lab import TREES, Lab, deployed_as, formed, opened
from lightkube.codecs import from_dict
from living import REPLICAS

from dunnage.errors import UnavailableError
from dunnage.image_archive import write_archive
from dunnage.kubernetes_api import connect
from dunnage.model.choices import ClientPlace
from dunnage.model.layout import Software
from dunnage.substrates.existing_kubernetes import RIGHTS, open_existing_kubernetes

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

IMAGE = "somebody/redis:1"
CONTEXT = "dunnage"


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with opened(members=2) as made:
        yield made


@pytest.fixture
def kubeconfig(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that leads to the lab's cluster by a port of this machine's loopback."""
    file = tmp_path / "kubeconfig"
    port = lab.testbed.host(lab.kubernetes.control).listen_outside(lab.kubernetes.address)
    file.write_bytes(lab.kubernetes.kubeconfig(f"https://127.0.0.1:{port}"))
    file.chmod(0o600)
    monkeypatch.setenv("KUBECONFIG", str(file))
    return file


def contexts(lab: Lab) -> dict[str, str]:
    return {host.name: CONTEXT for host in (*lab.members, lab.client)}


def bring_image(lab: Lab, place: Path) -> None:
    """What a registry does elsewhere: an image whose programs are where a shell finds them."""
    tree = TREES.tree(Software("redis", "7.0"))
    layer, archive = place / "layer.tar", place / "image.tar"
    layer.write_bytes(tree.archive.read_bytes())
    with tarfile.open(layer, "a") as tar:
        for program in ("redis-server", "redis-cli"):
            link = tarfile.TarInfo(f"usr/bin/{program}")
            link.type, link.linkname = tarfile.SYMTYPE, f"{tree.prefix}/bin/{program}"
            tar.addfile(link)
    write_archive(layer, IMAGE, (), archive)
    for host in lab.members:
        runtime = lab.kubernetes.runtime(host.name)
        host.put(f"{host.scratch}/theirs.tar", archive.read_bytes())
        words = [f"{name}={value}" for name, value in runtime.environment.items()]
        imports = (*runtime.ctr, "--namespace", "k8s.io", "images", "import")
        done = host.run(["env", *words, *imports, f"{host.scratch}/theirs.tar"])
        assert done.code == 0, done.stderr


@pytest.mark.usefixtures("kubeconfig")
def test_a_cluster_of_someone_elses_takes_a_stay_and_keeps_nothing_of_it(
    lab: Lab, tmp_path: Path
) -> None:
    bring_image(lab, tmp_path)
    named = REPLICAS.model_copy(update={"image": IMAGE})
    hosts = (*lab.members, lab.client)
    with open_existing_kubernetes(contexts(lab), hosts) as existing:
        existing.freeze()
        facts = existing.facts()
        assert (facts["nodes"], facts["ours"]) == (3, False)
        assert str(facts["kubelets"]).startswith("v1.")
        deployment = deployed_as("service-ip", database=named)
        with formed(lab, deployment, substrate=existing) as (platform, target, may):
            remotes = driven(lab.client, target)
            assert remotes
            assert remotes <= may
            assert platform.network()["encapsulation"] == "vxlan"
            assert len(platform.running()) == 2
        inside = deployed_as("container-dns", ClientPlace.CONTAINER, named)
        with (
            pytest.raises(UnavailableError, match="cannot be brought to a node that is not ours"),
            formed(lab, inside, substrate=existing),
        ):
            raise AssertionError("the client's pod has an image from nowhere")


@pytest.mark.usefixtures("kubeconfig")
def test_hosts_that_are_no_nodes_of_the_cluster_are_named(lab: Lab) -> None:
    control = lab.testbed.host(lab.kubernetes.control)
    with (
        pytest.raises(UnavailableError, match=f"{control.name}: no node of context `dunnage`"),
        open_existing_kubernetes({control.name: CONTEXT}, [control]),
    ):
        raise AssertionError("the control host is no node")


def test_a_kubeconfig_that_leads_nowhere_is_told(lab: Lab, kubeconfig: Path) -> None:
    kubeconfig.write_text(kubeconfig.read_text().replace("127.0.0.1:", "127.0.0.1:1"))
    with (
        pytest.raises(UnavailableError, match="the cluster of context `dunnage` does not answer"),
        open_existing_kubernetes(contexts(lab), lab.members),
    ):
        raise AssertionError("nobody answers there")


def test_every_missing_right_is_named(lab: Lab, kubeconfig: Path) -> None:
    """Of a user who may read what is in the cluster, and nothing else."""
    issued = lab.kubernetes._plane.kubeconfig("reader", server="https://x")
    server = kubeconfig.read_text().split('"server": "')[1].split('"')[0]
    kubeconfig.write_bytes(issued.replace(b"https://x", server.encode()))
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "reader"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "view",
        },
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}],
    }
    with closing(connect(lab.kubernetes.api)) as client:
        client.create(from_dict(binding))
    with (
        pytest.raises(UnavailableError) as raised,
        open_existing_kubernetes(contexts(lab), lab.members),
    ):
        raise AssertionError("it may not")
    told = raised.value.what.partition(" may not ")[2].split(", ")
    assert "create pods/exec" in told
    assert "create statefulsets.apps" in told
    assert "get pods" not in told
    assert set(told) < {str(right) for right in RIGHTS}
