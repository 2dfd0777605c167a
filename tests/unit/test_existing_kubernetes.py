"""What keeps someone else's cluster from being used, and what it tells of itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from lightkube.codecs import from_dict
from stand_in_cluster import REVIEWS, Cluster, cluster_of, node

from dunnage.clusters.nodes import name
from dunnage.clusters.rights import RIGHTS, Right
from dunnage.contracts.host import Completed, Host
from dunnage.contracts.kubernetes import ApiServer
from dunnage.errors import UnavailableError
from dunnage.hosts.fake.host import FakeHost
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.study import TestbedSpec
from dunnage.substrates.existing_kubernetes import (
    ExistingKubernetes,
    open_existing_kubernetes,
    open_kubernetes_of,
)
from dunnage.substrates.nodes_of_hosts import nodes_of

MINE = {"db-1": "mine", "db-2": "mine"}


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> tuple[Host, ...]:
    """Each shows a machine id of its own."""
    with open_fake(TestbedSpec(kind="fake", hosts={"db": 2}), name="existing") as testbed:
        monkeypatch.setattr(FakeHost, "run", shown)
        return testbed.hosts


def shown(host: Host, argv: list[str], **_: object) -> Completed:
    assert "/etc/machine-id" in argv[-1]
    return Completed(0, f"id-of-{host.name}\nboot\n", "")


BOTH = (node("n1", "id-of-db-1"), node("n2", "id-of-db-2"), node("n3", "another"))


def refused(hosts: tuple[Host, ...], contexts: dict[str, str]) -> str:
    with pytest.raises(UnavailableError) as raised, open_existing_kubernetes(contexts, hosts):
        raise AssertionError("it was opened")
    assert raised.value.hint.lstrip("(").removeprefix("umask 077; ").startswith("kubectl ")
    return f"{raised.value} {raised.value.hint}"


def test_every_host_names_the_same_context(hosts: tuple[Host, ...]) -> None:
    assert refused(hosts, {"db-1": "a"}).startswith("db-2: no context is named for this host")
    assert "nodes of one cluster, not of a, b" in refused(hosts, {"db-1": "a", "db-2": "b"})


def test_a_kubeconfig_that_is_not_there_or_lacks_the_context_is_told(
    hosts: tuple[Host, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    told = refused(hosts, MINE)
    assert "the kubeconfig of context `mine` cannot be used" in told
    assert "config` cannot be read: No such file" in told
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube/config").write_text("clusters: []\ncontexts: []\n")
    told = refused(hosts, MINE)
    assert "has no context `mine`" in told
    assert told.endswith("kubectl config get-contexts")


def test_of_a_list_of_kubeconfigs_nothing_is_guessed(
    hosts: tuple[Host, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/a:/b")
    told = refused(hosts, MINE)
    assert "`KUBECONFIG` names several files: `/a`, `/b`" in told
    assert "kubectl config view --flatten" in told
    monkeypatch.setenv("KUBECONFIG", ":/a:")
    assert "`/a` cannot be read" in refused(hosts, MINE)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A cluster that allows everything, by the context `mine`."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    with cluster_of(*BOTH, kubeconfig=tmp_path / "kubeconfig") as played:
        yield played


def test_a_cluster_that_has_the_hosts_is_used_and_tells_of_their_nodes_only(
    hosts: tuple[Host, ...], cluster: Cluster
) -> None:
    others = (*BOTH[:2], node("n3", "another", kubeletVersion="v0"))
    cluster.answers["/api/v1/nodes"] = (200, {"items": [each.to_dict() for each in others]})
    with open_existing_kubernetes(MINE, hosts) as existing:
        assert (existing.node("db-1"), existing.node("db-2")) == ("n1", "n2")
        assert existing.facts() == {
            "context": "mine",
            "version": "v1.34.2",
            "kubelet_version": "v1",
            "container_runtime": "c://2",
            "kernel": "6.1",
            "ours": False,
            "frozen_when_unused": False,
        }


@pytest.mark.parametrize("path", [REVIEWS, "/api/v1/nodes", "/version"])
@pytest.mark.parametrize("code", [401, 403])
def test_a_cluster_that_refuses_is_not_one_that_does_not_answer(
    hosts: tuple[Host, ...], cluster: Cluster, path: str, code: int
) -> None:
    cluster.answers[path] = (code, {"code": code, "message": "who are you"})
    told = refused(hosts, MINE)
    assert "the cluster of context `mine` refuses: " in told
    assert told.endswith("kubectl --context mine auth whoami")


def test_a_cluster_that_is_not_there_is_told(hosts: tuple[Host, ...], cluster: Cluster) -> None:
    cluster.shutdown()
    cluster.server_close()
    told = refused(hosts, MINE)
    assert "the cluster of context `mine` does not answer: " in told
    assert told.endswith("kubectl --context mine cluster-info")


def test_missing_rights_are_named(hosts: tuple[Host, ...], cluster: Cluster) -> None:
    cluster.answers[REVIEWS] = (201, {"spec": {}, "status": {"allowed": False}})
    told = refused(hosts, MINE)
    assert f"the user of context `mine` may not {', '.join(map(str, RIGHTS))}" in told


def test_a_right_is_told_as_kubectl_asks_for_it() -> None:
    assert str(Right("create", "pods", "exec")) == "create pods/exec"
    assert str(Right("delete", "statefulsets", group="apps")) == "delete statefulsets.apps"


def test_commands_run_by_a_right_of_their_own() -> None:
    assert {"get pods/exec", "create pods/exec"} <= set(map(str, RIGHTS))


def test_it_is_left_as_it_is_and_knows_its_nodes_only() -> None:
    api = ApiServer(Path("k"), None, "mine")
    theirs = ExistingKubernetes(api, {"db-1": node("node-7", "x")}, "v1")
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


def test_a_testbed_of_nodes_brings_its_cluster(
    hosts: tuple[Host, ...], cluster: Cluster, tmp_path: Path
) -> None:
    class OfNodes:
        api = ApiServer(tmp_path / "kubeconfig", None, "mine")
        labels: ClassVar[dict[str, str]] = {"team": "t"}
        nodes: ClassVar[dict[str, str]] = {"db-1": "n2", "db-2": "n3"}

        def node(self, host: str) -> str:
            return self.nodes[host]

    testbed: Any = OfNodes()
    with open_kubernetes_of(testbed, hosts) as theirs:
        assert (theirs.node("db-1"), theirs.node("db-2")) == ("n2", "n3")
        assert theirs.labels == {"team": "t"}
        assert theirs.facts()["version"] == "v1.34.2"
        assert theirs.runtime("db-1") is None
    cluster.answers["/api/v1/nodes"] = (200, {"items": []})
    with (
        pytest.raises(UnavailableError, match="db-1: its node `n2` is gone"),
        open_kubernetes_of(testbed, hosts),
    ):
        raise AssertionError("it was opened")


def test_nodes_that_differ_are_told_apart_in_facts_and_one_may_tell_nothing() -> None:
    silent = from_dict({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2"}})
    nodes = {"db-1": node("n1", "x"), "db-2": silent}
    facts = ExistingKubernetes(ApiServer(Path("k")), nodes, "v1").facts()
    assert facts["kubelet_version"] == "db-1: v1, db-2: None"


# Which node a host is.


def no_node(hosts: tuple[Host, ...], *nodes: Any) -> str:
    with pytest.raises(UnavailableError) as raised:
        nodes_of(hosts, nodes, "kubectl get nodes")
    assert raised.value.hint == "kubectl get nodes"
    return str(raised.value)


def test_a_host_is_the_node_that_has_its_machine_id_and_its_boot_id(
    hosts: tuple[Host, ...],
) -> None:
    found = nodes_of(hosts, BOTH, "kubectl get nodes")
    assert {host: name(each) for host, each in found.items()} == {
        "db-1": "n1",
        "db-2": "n2",
    }
    told = no_node(hosts, BOTH[0], node("n2", "id-of-db-2", "an earlier start"))
    assert told.startswith("db-2: no node has this host's machine id `id-of-db-2`")


def test_an_address_alone_makes_no_host_a_node(hosts: tuple[Host, ...]) -> None:
    same = node("db-1", "of another lab", address=hosts[0].address)
    assert "no node has this host's machine id" in no_node(hosts, same)


def test_two_nodes_of_one_id_or_two_hosts_of_one_node_are_refused(
    hosts: tuple[Host, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    clones = node("n1", "id-of-db-1"), node("clone", "id-of-db-1")
    assert "nodes n1, clone all have this host's machine id" in no_node(hosts, *clones)
    same = Completed(0, "id-of-db-1\nboot\n", "")
    monkeypatch.setattr(FakeHost, "run", lambda *_, **__: same)
    assert no_node(hosts, *BOTH).startswith("db-2: its node `n1` is that of `db-1` too")


def test_a_node_that_is_not_ready_is_refused(hosts: tuple[Host, ...]) -> None:
    late = node("n1", "id-of-db-1")
    late.status.conditions[0].status = "False"
    late.status.conditions[0].message = "no network plugin"
    assert no_node(hosts, late).startswith("db-1: its node `n1` is not ready: no network plugin")


@pytest.mark.parametrize("answer", [Completed(0, "boot\n", ""), Completed(1, "", "no file")])
def test_a_host_without_a_machine_id_is_told(
    hosts: tuple[Host, ...], monkeypatch: pytest.MonkeyPatch, answer: Completed
) -> None:
    monkeypatch.setattr(FakeHost, "run", lambda *_, **__: answer)
    with pytest.raises(UnavailableError, match="db-1: the host shows no machine id"):
        nodes_of(hosts, BOTH, "")
