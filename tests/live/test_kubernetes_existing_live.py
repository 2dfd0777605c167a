"""A lab's own Kubernetes, as whoever has a kubeconfig for it sees it and has its nodes as hosts."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from subprocess import run
from typing import TYPE_CHECKING

import pytest
from driving import driven
from kubernetes_lab import (
    TREES,
    Lab,
    allowed,
    deployed_as,
    give_image,
    kubeconfig_of,
    opened,
    traces,
)
from lab_traces import eventually
from lightkube.resources.core_v1 import Node, ServiceAccount
from living import REPLICAS, STAY, client_of, living

from dunnage import catalog
from dunnage.clusters.rights import ALL, Right, needed
from dunnage.contracts.kubernetes import ApiServer, HasKubernetes
from dunnage.contracts.platform import Platform
from dunnage.contracts.substrate import Substrate
from dunnage.errors import UnavailableError
from dunnage.hosts.namespace.testbed import open_namespace
from dunnage.kubernetes_api import certificate_ends, connect
from dunnage.model.choices import ClientPlace, Cores, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.study import SubstrateSpec, TestbedSpec
from dunnage.software.engine import engine_path
from dunnage.substrates.cluster_seen import granting
from dunnage.substrates.kubernetes import certificates

if TYPE_CHECKING:  # at run time pytest would take it for a class of tests
    from dunnage.contracts.testbed import Testbed

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

IMAGE = "somebody/redis:1"
CONTEXT = "dunnage"
NAMED = REPLICAS.model_copy(update={"image": IMAGE})
MAKES = re.compile(r"kubectl --context \S+ create (clusterrole|clusterrolebinding) (\S+)")


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with opened(members=2) as made:
        yield made


@pytest.fixture
def url(lab: Lab) -> str:
    """Leads to the lab's API server by a port of this machine's loopback."""
    control = lab.testbed.host(lab.kubernetes.control)
    return f"https://127.0.0.1:{control.listen_outside(lab.kubernetes.address)}"


@pytest.fixture
def kubeconfig(lab: Lab, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that leads to the lab's cluster, for who may do everything there."""
    file = tmp_path / "kubeconfig"
    file.touch(0o600)
    file.write_bytes(lab.kubernetes.kubeconfig(url))
    monkeypatch.setenv("KUBECONFIG", str(file))
    return file


@contextmanager
def claimed(
    lab: Lab, storages: Collection[Storage] = (), **changed: tuple[str, ...]
) -> Iterator[Testbed]:
    """Nodes of the lab as hosts, by the context of a kubeconfig; `changed` names others."""
    groups = {"db": 2, "client": 1}
    nodes = {each: tuple(host.name for host in lab.testbed.group(each)) for each in groups}
    spec = TestbedSpec(
        kind="nodes", context=CONTEXT, image=IMAGE, hosts=groups, nodes={**nodes, **changed}
    )
    with catalog.open_testbed(spec, "existing", keep=False, storages=storages) as testbed:
        yield testbed


@pytest.fixture(scope="module")
def image(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> None:
    give_image(lab, IMAGE, tmp_path_factory.mktemp("image"))


Existing = tuple["Testbed", Substrate, Callable[[Deployment], Platform]]


@pytest.fixture
def existing(lab: Lab, image: None, kubeconfig: Path, url: str) -> Iterator[Existing]:
    """The cluster, its nodes as hosts, and how platforms are made on it, for a user with exactly
    these rights; nothing may be left of it."""
    kubeconfig.write_bytes(kubeconfig_of(lab, "carrier", url))
    specs = {"kubernetes": SubstrateSpec(kind="nodes")}
    with (
        allowed(lab, "carrier", ALL, kubeconfig),
        claimed(lab, {Storage.VOLUME}) as testbed,
        catalog.open_substrate("kubernetes", specs, testbed, testbed.hosts, keep=False) as opened,
    ):

        def platform_of(deployment: Deployment) -> Platform:
            trees = catalog.software("nodes")
            return catalog.platform(deployment, testbed, opened, trees, STAY)

        yield testbed, opened, platform_of
    assert traces(lab) == []


def test_a_user_with_exactly_these_rights_carries_out_a_stay_in_a_cluster_of_someone_elses(
    lab: Lab, existing: Existing
) -> None:
    testbed, substrate, platform_of = existing
    assert isinstance(substrate, HasKubernetes)
    assert [substrate.node(host.name) for host in testbed.hosts] == [
        host.name for host in (*lab.members, lab.client)
    ]
    substrate.freeze()
    with closing(connect(substrate.api)) as client:
        assert len(list(client.list(Node))) == 3
    facts = substrate.facts()
    assert facts["ours"] is False
    assert facts["version"] == facts["kubelet_version"]
    assert str(facts["version"]).startswith("v1.")

    (before,) = traces(lab)
    stored = deployed_as("service-ip", database=NAMED, storage=Storage.VOLUME)
    with living(platform_of(stored), stored, testbed) as (platform, target, may):
        remotes = driven(client_of(testbed), target)
        assert remotes
        assert remotes <= may
        assert platform.network()["encapsulation"] == "vxlan"
        members = platform.running()
        assert len(members) == 2
        for member in members:
            asked = ("redis-cli", "--version")
            done = platform.run(member.member, asked, stdin="", timeout=30.0)
            assert done.stdout.startswith("redis-cli "), done.stderr
            assert platform.log(member.member)
        (there,) = catalog.left_in_cluster(CONTEXT).stays
        left = [name for names in there.objects.values() for name in names]
        assert sorted([before, *left]) == sorted(traces(lab))
        assert set(there.objects) == {"namespace", "persistentvolume"}
        assert there.testbed == before
        assert there.since
    assert catalog.left_in_cluster(CONTEXT).stays == ()


@pytest.mark.proof
def test_so_it_is_from_inside_of_a_pod(existing: Existing) -> None:
    testbed, _, platform_of = existing
    inside = deployed_as("container-dns", ClientPlace.CONTAINER, NAMED)
    with living(platform_of(inside), inside, testbed) as (platform, target, may):
        remotes = driven(platform.client(client_of(testbed)), target)
        assert remotes
        assert remotes <= may


@pytest.mark.usefixtures("kubeconfig")
def test_a_host_that_is_no_node_of_the_cluster_is_named(lab: Lab) -> None:
    control = lab.kubernetes.control
    with (
        pytest.raises(UnavailableError, match=f"the cluster has no node `{control}`"),
        claimed(lab, client=(control,)),
    ):
        raise AssertionError("the control host is no node")


def test_hosts_of_another_lab_are_not_taken_for_nodes_that_have_their_addresses(
    lab: Lab, kubeconfig: Path
) -> None:
    spec = TestbedSpec(kind="namespace", hosts={"db": 2, "client": 1}, cores=Cores.SHARED)
    with open_namespace(spec, name="other", engine=engine_path(), keep=False) as other:
        assert {host.address for host in other.hosts} <= {
            host.address for host in lab.testbed.hosts
        }
        seen = catalog.cluster(CONTEXT, kubeconfig)
    own = (*lab.members, lab.client)
    assert {node.host for node in seen.nodes} == {
        f"{host.name} of lab {lab.testbed.name}" for host in own
    }


def test_a_kubeconfig_that_leads_nowhere_is_told(lab: Lab, kubeconfig: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    kubeconfig.write_bytes(lab.kubernetes.kubeconfig(f"https://127.0.0.1:{free}"))
    with (
        pytest.raises(UnavailableError, match="the cluster of context `dunnage` does not answer"),
        claimed(lab),
    ):
        raise AssertionError("nobody answers there")


def test_a_kubeconfig_that_is_over_is_told_with_its_end(
    lab: Lab, kubeconfig: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lab's own authority has signed it, and its own API server refuses it."""
    with monkeypatch.context() as past:
        past.setattr(certificates, "_LASTS", -timedelta(minutes=1))
        kubeconfig.write_bytes(kubeconfig_of(lab, "late", url))
    ends = certificate_ends(ApiServer(kubeconfig))
    assert ends is not None
    told = (
        f"the cluster of context `{CONTEXT}` refuses: Unauthorized; the certificate of its user "
        f"was valid until {ends:%Y-%m-%d %H:%M} UTC"
    )
    with pytest.raises(UnavailableError) as refused, claimed(lab):
        raise AssertionError("it is over")
    assert (refused.value.what, refused.value.hint) == (
        told,
        f"kubectl --context {CONTEXT} auth whoami",
    )
    with pytest.raises(UnavailableError, match=re.escape(told)):
        catalog.cluster(CONTEXT, kubeconfig)


@pytest.mark.parametrize("lacks", [right for right in ALL if right.subresource == "exec"])
def test_a_right_that_is_missing_is_named(
    lab: Lab, kubeconfig: Path, url: str, lacks: Right
) -> None:
    kubeconfig.write_bytes(kubeconfig_of(lab, "handless", url))
    with (
        allowed(lab, "handless", [right for right in ALL if right != lacks], kubeconfig),
        pytest.raises(UnavailableError, match=f"may not {lacks}$"),
        claimed(lab),
    ):
        raise AssertionError("it may not")


def test_doctor_tells_of_the_cluster_as_whoever_may_do_everything_sees_it(
    lab: Lab, kubeconfig: Path, url: str
) -> None:
    seen = catalog.cluster(CONTEXT, kubeconfig)
    assert (seen.server, seen.user) == (url, "dunnage")
    assert "system:masters" in seen.groups
    assert all(right.held for right in seen.rights)
    hosts = (*lab.members, lab.client)
    assert {(node.name, node.host) for node in seen.nodes} == {
        (host.name, f"{host.name} of lab {lab.testbed.name}") for host in hosts
    }
    assert {node.told["address"] for node in seen.nodes} == {host.address for host in hosts}
    assert not any(node.unready for node in seen.nodes)
    assert seen.version == seen.nodes[0].told["kubelet"]
    assert seen.network == "flannel, vxlan (perhaps not between all nodes)"
    assert seen.proxy.startswith("unknown: ")  # a lab's kube-proxy is told by no ConfigMap


def test_what_doctor_tells_to_type_gives_the_right_that_is_missing(
    lab: Lab, kubeconfig: Path, url: str, tmp_path: Path
) -> None:
    admin = tmp_path / "admin"
    admin.touch(0o600)
    admin.write_bytes(kubeconfig.read_bytes())
    kubeconfig.write_bytes(kubeconfig_of(lab, "helped", url))
    lacks = Right("create", "pods", "exec")
    with allowed(lab, "helped", [right for right in ALL if right != lacks], kubeconfig):
        seen = catalog.cluster(CONTEXT, kubeconfig)
        assert seen.user == "helped"
        (missing_one,) = (right for right in seen.rights if not right.held)
        assert missing_one.right == str(lacks)
        programs = TREES.kubernetes(print).binaries
        where = {
            "PATH": f"{programs}:/usr/bin:/bin",
            "KUBECONFIG": str(admin),
            "HOME": str(tmp_path),  # kubectl keeps a cache there
        }
        typed = (granting(lacks, "somebody-before", CONTEXT), missing_one.how)
        made = {f"{kind}/{name}" for how in typed for kind, name in MAKES.findall(how)}
        assert len(made) == 3  # one role, and one binding for each of them
        try:
            for how in typed:
                done = run(["sh", "-c", how], env=where, capture_output=True, text=True)
                assert done.returncode == 0, done.stderr
            assert eventually(
                lambda: all(each.held for each in catalog.cluster(CONTEXT, kubeconfig).rights)
            )
        finally:
            gone = ["kubectl", "delete", "--ignore-not-found", *made]
            run(gone, env=where, check=True, capture_output=True)


STUDY = """
dunnage: 1
name: by-hand
testbed: {kind: namespace, hosts: {db: 2, client: 1}}
database: {kind: redis, topology: replicas, members: 2}
deployments:
  ports: {platform: kubernetes, network: flannel-vxlan, endpoint: node-port, storage: volume}
  names:
    {platform: kubernetes, network: flannel-vxlan, endpoint: container-dns, client: container}
workloads: [A]
records: 100
load: {threads: [8], duration: 4s}
blocks: 6
questions:
  Q1: {baseline: ports, against: [names]}
"""


def test_kubectl_takes_what_a_plan_writes(lab: Lab, kubeconfig: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    plan = [sys.executable, "-m", "dunnage", "plan", str(study), "--manifests"]
    written = run(plan, check=True, capture_output=True, text=True).stdout
    documents = written.split("---\n")[1:]
    spaces = [each for each in documents if "\nkind: Namespace\n" in each]
    assert len(spaces) == 2
    programs = TREES.kubernetes(print).binaries

    def kubectl(*words: str, given: str) -> str:
        done = run(
            [programs / "kubectl", "--kubeconfig", kubeconfig, *words],
            input=given,
            env={**os.environ, "HOME": str(tmp_path)},  # it keeps a cache there
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def given(*objects: str) -> str:
        return "---\n".join(objects)

    def accounts() -> bool:
        """Whether pods can be made: each namespace is given an account for them a little later."""
        with closing(connect(lab.kubernetes.api)) as client:
            found = [each.metadata for each in client.list(ServiceAccount, namespace="*")]
        own = [each for each in found if each and str(each.namespace).startswith("dunnage-")]
        return len(own) == 2

    try:
        kubectl("apply", "-f", "-", given=given(*spaces))
        assert eventually(accounts, 60.0)
        rest = [each for each in documents if each not in spaces]
        told = kubectl("apply", "--dry-run=server", "-f", "-", given=given(*rest)).splitlines()
        assert [line.partition("/")[0] for line in told] == [
            *["service"] * 4,
            *["persistentvolume", "persistentvolumeclaim", "statefulset.apps"] * 2,
            *["service"] * 2,
            *["statefulset.apps"] * 2,
            "pod",
        ]
    finally:
        kubectl("delete", "--ignore-not-found", "-f", "-", given=given(*spaces))
    assert list(traces(lab)) == []


@pytest.mark.parametrize("storages", [(), {Storage.VOLUME}], ids=["any", "volume"])
def test_every_missing_right_is_named(
    lab: Lab, kubeconfig: Path, url: str, storages: Collection[Storage]
) -> None:
    """Of a user who may read the nodes, and nothing else."""
    kubeconfig.write_bytes(kubeconfig_of(lab, "reader", url))
    reads = Right("list", "nodes")
    with (
        allowed(lab, "reader", [reads], kubeconfig),
        pytest.raises(UnavailableError) as raised,
        claimed(lab, storages),
    ):
        raise AssertionError("it may not")
    told = raised.value.what.partition(" may not ")[2].split(", ")
    assert told == [str(right) for right in needed(storages) if right != reads]
