"""Nodes that become hosts: their agents begin, speak, and are told of where they do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from lightkube import Client
from played_nodes import (
    NAME,
    NOTHING,
    SPACE,
    PlayedLink,
    noting,
    opened,
    pod,
    refused,
    running,
)
from stand_in_cluster import Cluster

from dunnage.clusters import begun
from dunnage.clusters.owned import owned
from dunnage.contracts.kubernetes import LabelsNamespaces, MakesPods, OnKubernetes
from dunnage.hosts.channel.channel import ChannelError, GoneError
from dunnage.hosts.nodes import pods as of_pods
from dunnage.hosts.nodes import testbed as made_here
from dunnage.hosts.nodes.owner import own


def created(cluster: Cluster) -> list[Any]:
    made: list[Any] = []
    for path in ("POST /api/v1/namespaces", f"POST {SPACE}/pods"):
        cluster.answers[path] = noting(made)
    return made


def test_each_node_is_a_host_with_its_own_agent(cluster: Cluster, tmp_path: Path) -> None:
    made = created(cluster)
    with opened(tmp_path) as testbed:
        assert isinstance(testbed, OnKubernetes)
        assert isinstance(testbed, LabelsNamespaces)
        db, client = testbed.hosts
        assert isinstance(db, MakesPods)
        assert db.image == "busy"
        assert [(each.name, each.group, each.address) for each in (db, client)] == [
            ("db-1", "db", "10.0.0.1"),
            ("client-1", "client", "10.0.0.2"),
        ]
        assert [testbed.node(host.name) for host in testbed.hosts] == ["n1", "n2"]
        assert testbed.group("client") == (client,)
        assert (db.control_group(""), db.control_group("u")) == ("/", "/kubepods/p/c/u")
        assert db.scratch == f"/var/lib/dunnage/nodes/{NAME}/db-1"
        assert testbed.labels == {"team": "t", "dunnage.testbed": NAME}
        assert testbed.lost() == ()
        facts = testbed.environment()
        assert facts["hosts.privileged"] is True
        assert facts["hosts.one_machine"] is testbed.one_machine is False
        assert facts["node"] == "db-1: n1, client-1: n2"
        assert facts["hosts.image"] == "db-1: sha256:0a, client-1: None"
        assert facts["memory.total"] is None
    space, dry, *pods = made
    assert space["metadata"]["labels"]["team"] == "t"
    assert space["metadata"]["annotations"] == owned("study", own(), ["n1", "n2"])
    assert dry == pods[0]
    assert [each["spec"]["hostPID"] for each in pods] == [True, True]
    assert sum("dryRun=All" in asked for asked in cluster.asked) == 1
    assert all(link.asked[-1] == "end" and link.closed for link in PlayedLink.made)
    assert f"DELETE {SPACE}" in cluster.asked


def test_where_the_cluster_refuses_rights_agents_have_none_and_say_why(
    cluster: Cluster, tmp_path: Path
) -> None:
    why = {"kind": "Status", "code": 403, "message": "violates PodSecurity"}
    cluster.answers[f"POST {SPACE}/pods"] = lambda given: (
        (403, why) if given["spec"].get("hostPID") else (201, given)
    )
    with opened(tmp_path) as testbed:
        told = "the cluster takes no privileged pods: violates PodSecurity"
        assert testbed.confined == told
        assert {host.confined for host in testbed._hosts.values()} == {told}
        assert testbed.environment()["hosts.privileged"] is False
        assert testbed.hosts[0].scratch == "/dunnage/db-1"
        assert testbed.hosts[0].control_group("") == f"/{NAME}/db-1"


def test_a_cluster_that_takes_no_agent_at_all_is_told(cluster: Cluster, tmp_path: Path) -> None:
    no = {"kind": "Status", "code": 422, "message": "quota is used up"}
    cluster.answers[f"POST {SPACE}/pods"] = (422, no)
    found = refused(tmp_path)
    assert "db-1: the cluster takes no agent's pod: quota is used up" in found
    assert "[dunnage doctor --context mine]" in found
    assert f"DELETE {SPACE}" in cluster.asked
    cluster.answers[f"POST {SPACE}/pods"] = (500, {**no, "code": 500})
    assert "the cluster of context `mine` refuses: quota is used up" in refused(tmp_path)


def test_a_namespace_that_is_too_new_for_pods_is_waited_for(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    early = {"kind": "Status", "code": 403, "message": "error looking up service account x/default"}
    answers = [(403, early), (403, early)]
    cluster.answers[f"POST {SPACE}/pods"] = lambda given: answers.pop() if answers else (201, given)
    with opened(tmp_path) as testbed:
        assert testbed.confined == ""
    monkeypatch.setattr(of_pods, "_ACCOUNT", 0.0)
    cluster.answers[f"POST {SPACE}/pods"] = (403, early)
    assert "service account" in refused(tmp_path)


@pytest.mark.parametrize(
    ("state", "phase", "told"),
    [
        (
            {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}},
            "Pending",
            "ImagePullBackOff: no such image",
        ),
        ({"terminated": {"exitCode": 1}}, "Failed", "Failed"),
        ({}, "Pending", "it has no container after 0.05 s"),
        ({"waiting": {"reason": "ErrImagePull", "message": "busy"}}, "Pending", "ErrImagePull"),
    ],
)
def test_an_agent_that_does_not_run_is_told_with_its_log(
    cluster: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    state: dict[str, Any],
    phase: str,
    told: str,
) -> None:
    monkeypatch.setattr(begun, "_PATIENCE", 0.0)
    monkeypatch.setattr(of_pods, "_STARTED", 0.05)
    cluster.answers[f"{SPACE}/pods/agent-2"] = pod("agent-2", state, phase)
    found = refused(tmp_path)
    assert found.startswith("client-1: the agent's pod does not run on node `n2`: ")
    assert told in found
    assert "[kubectl --context mine describe node n2]" in found, "its pod is gone by then"
    warned = {"type": "Warning", "reason": "FailedMount", "message": "no such path"}
    events = {"items": [{**warned, "involvedObject": {}, "metadata": {}}]}
    cluster.answers[f"{SPACE}/events"] = (200, events)
    assert "; the cluster warned: FailedMount: no such path" in refused(tmp_path)


def test_why_an_agent_does_not_run_is_told_though_nothing_else_can_be_read(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*_: object, **__: object) -> None:
        raise httpx2.ReadTimeout("late")

    cluster.answers[f"{SPACE}/pods/agent-2"] = pod(
        "agent-2", {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    )
    cluster.answers[f"{SPACE}/events"] = NOTHING
    monkeypatch.setattr(of_pods, "warnings", late)
    monkeypatch.setattr(Client, "log", late)
    told = "does not run on node `n2`: ImagePullBackOff: no such image ["
    assert told in refused(tmp_path)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (GoneError("not found"), "does not run on node `n1`: its agent has ended"),
        (ChannelError("no way"), "its agent cannot be reached: no way"),
    ],
)
def test_an_agent_that_cannot_be_spoken_to_is_told(
    cluster: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: ChannelError,
    told: str,
) -> None:
    def never(*_: object) -> None:
        raise error

    monkeypatch.setattr(made_here, "Link", never)
    monkeypatch.setattr(made_here, "_LISTENS", 0.01)
    monkeypatch.setattr(made_here, "_AGAIN", 0.001)
    found = refused(tmp_path)
    assert told in found
    assert "[kubectl --context mine describe node n1]" in found


def test_agents_are_ended_though_another_cannot_be_spoken_to(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def joined(host: str, open_stream: Callable[[], Any]) -> PlayedLink:
        if host == "db-1":
            raise GoneError("not found")
        return PlayedLink(host, open_stream)

    monkeypatch.setattr(made_here, "Link", joined)
    assert "its agent has ended" in refused(tmp_path)
    (other,) = PlayedLink.made
    assert (other.asked, other.closed) == (["end"], True)


def test_a_client_may_have_a_pod_of_its_own_beside_an_agent(
    cluster: Cluster, tmp_path: Path
) -> None:
    made: list[Any] = []
    there = "/api/v1/namespaces/stay/pods"
    cluster.answers[f"POST {there}"] = noting(made)
    cluster.answers[f"GET {there}/agent-2"] = pod("agent-2", running())
    with opened(tmp_path) as testbed:
        (client,) = testbed.group("client")
        assert isinstance(client, MakesPods)
        beside = client.beside("stay", {"dunnage.stay": "b1"})
        assert (beside.name, beside.address) == (client.name, client.address)
        assert beside.scratch == "/dunnage/client-1"
        (one,) = made
        assert one["metadata"]["namespace"] == "stay"
        assert one["metadata"]["labels"]["dunnage.stay"] == "b1"
        assert "hostPID" not in one["spec"]
        cluster.answers[f"GET {there}/agent-2"] = (404, {"kind": "Status", "code": 404})
        beside.leave()
        assert PlayedLink.made[-1].closed


def test_a_node_whose_control_groups_cannot_be_told_is_refused(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise ValueError("in no control group")

    monkeypatch.setattr(made_here, "groups", none)
    found = refused(tmp_path)
    assert found.startswith("db-1: in no control group")
    assert "mine debug node/n1 -it --image=busy -- cat /proc/1/cgroup]" in found
