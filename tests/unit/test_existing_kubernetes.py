"""Someone else's cluster as a substrate: the one whose nodes a testbed's hosts are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from lightkube.codecs import from_dict
from stand_in_cluster import Cluster, cluster_of, node

from dunnage.contracts.host import Host
from dunnage.contracts.kubernetes import ApiServer, LabelsNodes
from dunnage.errors import UnavailableError
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.study import TestbedSpec
from dunnage.substrates.existing_kubernetes import ExistingKubernetes, open_kubernetes_of

NODES = (node("n1", "one"), node("n2", "two"), node("n3", "three", kubeletVersion="v0"))


@pytest.fixture
def hosts() -> Iterator[tuple[Host, ...]]:
    with open_fake(TestbedSpec(kind="fake", hosts={"db": 2}), name="existing") as testbed:
        yield testbed.hosts


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster that allows everything, by the context `mine`."""
    with cluster_of(*NODES, kubeconfig=tmp_path / "kubeconfig") as played:
        yield played


@pytest.fixture
def testbed(tmp_path: Path) -> Any:
    """One whose hosts are nodes of it."""

    class OfNodes:
        api = ApiServer(tmp_path / "kubeconfig", None, "mine")
        labels: ClassVar[dict[str, str]] = {"team": "t"}
        nodes: ClassVar[dict[str, str]] = {"db-1": "n1", "db-2": "n2"}

        def node(self, host: str) -> str:
            return self.nodes[host]

    return OfNodes()


def refused(testbed: Any, hosts: tuple[Host, ...]) -> str:
    with pytest.raises(UnavailableError) as raised, open_kubernetes_of(testbed, hosts):
        raise AssertionError("it was opened")
    return f"{raised.value} {raised.value.hint}"


@pytest.mark.usefixtures("cluster")
def test_a_testbed_of_nodes_brings_its_cluster_which_tells_of_its_hosts_only(
    testbed: Any, hosts: tuple[Host, ...]
) -> None:
    with open_kubernetes_of(testbed, hosts) as theirs:
        assert (theirs.node("db-1"), theirs.node("db-2")) == ("n1", "n2")
        assert theirs.labels == {"team": "t"}
        assert theirs.runtime("db-1") is None
        assert theirs.facts() == {
            "context": "mine",
            "version": "v1.34.2",
            "kubelet_version": "v1",
            "container_runtime": "c://2",
            "kernel": "6.1",
            "ours": False,
            "frozen_when_unused": False,
        }


def test_a_node_that_is_gone_is_told(
    testbed: Any, hosts: tuple[Host, ...], cluster: Cluster
) -> None:
    cluster.answers["/api/v1/nodes"] = (200, {"items": [NODES[0].to_dict()]})
    told = refused(testbed, hosts)
    assert told.startswith("db-2: its node `n2` is gone")
    assert told.endswith("--context mine get nodes")


@pytest.mark.parametrize("path", ["/api/v1/nodes", "/version"])
@pytest.mark.parametrize("code", [401, 403])
def test_a_cluster_that_refuses_meanwhile_is_told(
    testbed: Any, hosts: tuple[Host, ...], cluster: Cluster, path: str, code: int
) -> None:
    cluster.answers[path] = (code, {"code": code, "message": "who are you"})
    told = refused(testbed, hosts)
    assert "the cluster of context `mine` refuses: " in told
    assert told.endswith("--context mine auth whoami")


def test_it_is_left_as_it_is_and_knows_its_nodes_only() -> None:
    api = ApiServer(Path("k"), None, "mine")
    theirs = ExistingKubernetes(api, {"db-1": node("node-7", "x")}, "v1", {})
    theirs.wake()
    theirs.freeze()
    theirs.mend("db-1")
    assert (theirs.node("db-1"), theirs.runtime("db-1"), theirs.units("db-1")) == (
        "node-7",
        None,
        (),
    )
    with pytest.raises(KeyError):
        theirs.runtime("db-2")
    assert theirs.facts()["ours"] is False
    assert theirs.asking("get nodes") == "kubectl --kubeconfig k --context mine get nodes"


def test_a_volume_is_bound_by_the_hostname_that_a_node_is_labelled_with() -> None:
    labelled, bare = node("ip-10-0-1-20.ec2.internal", "x"), node("n2", "y")
    labelled.metadata.labels = {"kubernetes.io/hostname": "ip-10-0-1-20"}
    api = ApiServer(Path("k"), None, "mine")
    theirs = ExistingKubernetes(api, {"db-1": labelled, "db-2": bare}, "v1", {})
    assert isinstance(theirs, LabelsNodes)
    assert theirs.hostname("db-1") == "ip-10-0-1-20"
    with pytest.raises(UnavailableError, match="db-2: its node `n2` has no label") as refused:
        theirs.hostname("db-2")
    typed = "kubectl --kubeconfig k --context mine label node n2 kubernetes.io/hostname=n2"
    assert refused.value.hint == typed


def test_nodes_that_differ_are_told_apart_in_facts_and_one_may_tell_nothing() -> None:
    silent = from_dict({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2"}})
    nodes = {"db-1": node("n1", "x"), "db-2": silent}
    facts = ExistingKubernetes(ApiServer(Path("k")), nodes, "v1", {}).facts()
    assert facts["kubelet_version"] == "db-1: v1, db-2: None"
