"""Nodes that become hosts, against an API server that answers as it is told; agents are played."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from lightkube import Client
from stand_in_cluster import REVIEWS, Cluster, cluster_of, node

from dunnage.clusters import begun
from dunnage.clusters.owned import owned
from dunnage.clusters.rights import OF_VOLUMES
from dunnage.contracts.cluster import Owner
from dunnage.contracts.host import Shared
from dunnage.contracts.kubernetes import LabelsNamespaces, MakesPods, OnKubernetes
from dunnage.errors import DunnageError, HostLostError, RunError, UnavailableError
from dunnage.hosts.channel.channel import ChannelError, GoneError
from dunnage.hosts.nodes import opening
from dunnage.hosts.nodes import pods as of_pods
from dunnage.hosts.nodes import testbed as made_here
from dunnage.hosts.nodes.groups import groups
from dunnage.hosts.nodes.opening import open_nodes
from dunnage.hosts.nodes.owner import own
from dunnage.hosts.nodes.testbed import NodesTestbed
from dunnage.model.choices import Storage
from dunnage.model.study import TestbedSpec

SPEC = TestbedSpec(
    kind="nodes",
    context="mine",
    image="busy",
    hosts={"db": 1, "client": 1},
    nodes={"db": ("n1",), "client": ("n2",)},
    labels={"team": "t"},
)
NAME = "dunnage-nodes-0a0b0c0d"
SPACE = f"/api/v1/namespaces/{NAME}"
NODES = (node("n1", "i1", "b1", "10.0.0.1"), node("n2", "i2", "b2", "10.0.0.2"))
NOTHING: tuple[int, Any] = (200, {"items": []})


class PlayedLink:
    """Answers every question of an agent's."""

    made: list[PlayedLink]
    group = "/kubepods/p/c"

    def __init__(self, host: str, open_stream: Callable[[], Any]) -> None:
        self.host = host
        self.asked: list[str] = []
        self.closed = False
        PlayedLink.made.append(self)

    def ask(self, what: str, content: bytes = b"", **more: Any) -> tuple[dict[str, Any], bytes]:
        self.asked.append(what)
        if what == "get" and more["path"] == "/proc/1/cgroup":
            return {"told": "content"}, b"0::/init.scope\n"
        if what == "get" and more["path"] == "/proc/self/cgroup":
            return {"told": "content"}, f"0::{self.group}\n".encode()
        if what == "get" and more["path"] == "/proc/meminfo":
            raise RunError("it cannot be read")
        return {"told": "missing" if what == "get" else "done"}, b""

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    monkeypatch.setattr(secrets, "token_hex", lambda _: "0a0b0c0d")
    monkeypatch.setattr(made_here, "bring", lambda *_: None)
    monkeypatch.setattr(made_here, "Link", PlayedLink)
    monkeypatch.setattr(opening, "insist_on_architecture", lambda *_: None)
    monkeypatch.setattr(of_pods, "_INTERVAL", 0.001)
    PlayedLink.made = []
    with cluster_of(*NODES, kubeconfig=tmp_path / "kubeconfig") as played:
        lists = ("namespaces", "persistentvolumes", "pods")
        played.answers |= {f"/api/v1/{each}": NOTHING for each in lists}
        played.answers |= {
            "POST /api/v1/namespaces": lambda made: (201, made),
            f"POST {SPACE}/pods": lambda made: (201, made),
            f"{SPACE}/pods/agent-1": pod("agent-1", running()),
            f"{SPACE}/pods/agent-2": pod("agent-2", running()),
            f"DELETE {SPACE}": (200, {"kind": "Status"}),
        }
        yield played


def running() -> dict[str, Any]:
    return {"running": {"startedAt": "2026-01-01T00:00:00Z"}}


def pod(named: str, state: dict[str, Any], phase: str = "Running") -> tuple[int, Any]:
    known = {"name": "agent", "image": "busy", "ready": True, "restartCount": 0}
    known |= {"imageID": "" if named == "agent-2" else "sha256:0a"}
    status = {"phase": phase, "containerStatuses": [{**known, "state": state}]}
    return 200, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": named}, "status": status}


@contextmanager
def opened(
    tmp_path: Path,
    spec: TestbedSpec = SPEC,
    storages: Collection[Storage] = (),
    told: list[str] | None = None,
) -> Iterator[NodesTestbed]:
    engine = tmp_path / "engine"
    engine.write_bytes(b"program")
    with open_nodes(
        spec,
        name="study",
        engine=engine,
        storages=storages,
        keep=False,
        tell=(told if told is not None else []).append,
    ) as testbed:
        yield testbed


def refused(tmp_path: Path, spec: TestbedSpec = SPEC, storages: Collection[Storage] = ()) -> str:
    with pytest.raises(UnavailableError) as raised, opened(tmp_path, spec, storages):
        raise AssertionError("it was opened")
    assert raised.value.hint
    return f"{raised.value} [{raised.value.hint}]"


def created(cluster: Cluster) -> list[Any]:
    made: list[Any] = []
    for path in ("POST /api/v1/namespaces", f"POST {SPACE}/pods"):
        cluster.answers[path] = noting(made)
    return made


def noting(made: list[Any]) -> Callable[[Any], tuple[int, Any]]:
    """Takes what is to be made, and notes it."""

    def taken(given: Any) -> tuple[int, Any]:
        made.append(given)
        return 201, given

    return taken


def test_each_node_is_a_host_with_its_own_agent(cluster: Cluster, tmp_path: Path) -> None:
    made = created(cluster)
    with opened(tmp_path) as testbed:
        assert isinstance(testbed, OnKubernetes)
        assert isinstance(testbed, LabelsNamespaces)
        db, client = testbed.hosts
        assert isinstance(db, MakesPods)
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
    assert space["metadata"]["annotations"] == owned("study", own())
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


def test_what_a_study_needs_to_have_nodes_is_asked_for_before_anything_is_made(
    cluster: Cluster, tmp_path: Path
) -> None:
    with pytest.raises(UnavailableError, match="`--keep` is for labs"):
        open_nodes(SPEC, name="s", engine=tmp_path, storages=(), keep=True, tell=print).__enter__()
    nameless = SPEC.model_copy(update={"image": None})
    assert "need a `context` and an `image`" in refused(tmp_path, nameless)
    cluster.answers[REVIEWS] = (201, {"spec": {}, "status": {"allowed": False}})
    found = refused(tmp_path)
    assert "may not list nodes, " in found
    assert "list pods, delete pods" in found
    assert "volumes" not in found
    assert "dunnage doctor --context mine" in found
    assert not any(asked.startswith("POST /api/v1/n") for asked in cluster.asked)


@pytest.mark.parametrize("path", [REVIEWS, "/api/v1/nodes"])
@pytest.mark.parametrize("code", [401, 403])
def test_a_cluster_that_refuses_is_not_one_that_does_not_answer(
    cluster: Cluster, tmp_path: Path, path: str, code: int
) -> None:
    cluster.answers[path] = (code, {"code": code, "message": "who are you"})
    found = refused(tmp_path)
    assert "the cluster of context `mine` refuses: " in found
    assert "[kubectl --context mine auth whoami]" in found


def test_a_cluster_that_is_not_there_is_told(cluster: Cluster, tmp_path: Path) -> None:
    cluster.shutdown()
    cluster.server_close()
    found = refused(tmp_path)
    assert "the cluster of context `mine` does not answer: " in found
    assert "[kubectl --context mine cluster-info]" in found


def without_volumes(asked: Any) -> tuple[int, Any]:
    """What a cluster says to who may do everything but what is of volumes."""
    wanted = asked["spec"]["resourceAttributes"]["resource"]
    return 201, {"spec": {}, "status": {"allowed": not wanted.startswith("persistentvolume")}}


def test_who_may_do_nothing_with_volumes_is_refused_only_where_a_study_has_some(
    cluster: Cluster, tmp_path: Path
) -> None:
    no = {"kind": "Status", "code": 403, "message": "no volumes"}
    cluster.answers |= {REVIEWS: without_volumes, "/api/v1/persistentvolumes": (403, no)}
    found = refused(tmp_path, storages={Storage.VOLUME})
    assert f"may not {', '.join(map(str, OF_VOLUMES))}" in found
    with opened(tmp_path, storages={Storage.BIND}) as testbed:
        assert len(testbed.hosts) == 2


def space(named: str, owner: Owner, stay: str = "") -> dict[str, Any]:
    labels = {"dunnage.stay": stay} if stay else {"dunnage.testbed": named}
    labels |= {"dunnage.testbed": "dunnage-nodes-1"} if stay else {}
    metadata = {"name": named, "labels": labels, "annotations": owned("other", owner)}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def on_node(testbed: str, where: str) -> dict[str, Any]:
    metadata = {"name": "agent-1", "labels": {"dunnage.testbed": testbed}}
    spec = {"containers": [], "nodeName": where}
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Running"}}


def test_nodes_of_another_study_are_refused_and_others_are_not(
    cluster: Cluster, tmp_path: Path
) -> None:
    elsewhere = Owner("another machine", "boot", 1, 1)
    cluster.answers["GET /api/v1/namespaces"] = (
        200,
        {"items": [space("dunnage-nodes-1", elsewhere)]},
    )
    cluster.answers["/api/v1/pods"] = (200, {"items": [on_node("dunnage-nodes-1", "n2")]})
    assert "study `other` has agents on n2: two studies would disturb each other" in (
        refused(tmp_path)
    )
    cluster.answers["/api/v1/pods"] = (200, {"items": [on_node("dunnage-nodes-1", "n7")]})
    with opened(tmp_path) as testbed:
        assert len(testbed.hosts) == 2


def test_a_study_that_begins_meanwhile_is_noticed_once_agents_are_there(
    cluster: Cluster, tmp_path: Path
) -> None:
    elsewhere = Owner("another machine", "boot", 1, 1)

    def there_too(*testbeds: str) -> Callable[[Any], tuple[int, Any]]:
        def made(given: Any) -> tuple[int, Any]:
            spaces = [space(each, elsewhere) for each in testbeds]
            pods = [on_node(each, "n1") for each in testbeds]
            cluster.answers["GET /api/v1/namespaces"] = (200, {"items": spaces})
            cluster.answers["/api/v1/pods"] = (200, {"items": pods})
            return 201, given

        return made

    cluster.answers[f"POST {SPACE}/pods"] = there_too(NAME)
    with opened(tmp_path) as testbed:
        assert len(testbed.hosts) == 2
    cluster.answers |= {"GET /api/v1/namespaces": NOTHING, "/api/v1/pods": NOTHING}
    cluster.answers[f"POST {SPACE}/pods"] = there_too(NAME, "dunnage-nodes-1")
    assert "study `other` has agents on n1" in refused(tmp_path)
    assert cluster.asked[-2:] == [f"DELETE {SPACE}", f"GET {SPACE}"]


def test_what_a_study_left_that_was_killed_here_is_removed_first(
    cluster: Cluster, tmp_path: Path
) -> None:
    dead = replace(own(), born=1)
    theirs = [space("dunnage-nodes-1", dead), space("dunnage-b1", dead, stay="b1")]
    cluster.answers["GET /api/v1/namespaces"] = (200, {"items": theirs})
    cluster.answers["/api/v1/pods"] = (200, {"items": [on_node("dunnage-nodes-1", "n2")]})
    with opened(tmp_path):
        deleted = [asked for asked in cluster.asked if asked.startswith("DELETE")]
    spaces = ("dunnage-b1", "dunnage-nodes-1")
    assert deleted == [f"DELETE /api/v1/namespaces/{each}" for each in spaces]


def test_a_host_that_was_lost_gets_a_new_agent_if_its_node_is_ready(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as testbed:
        (before,) = (link for link in PlayedLink.made if link.host == "db-1")
        cluster.answers[f"GET {SPACE}/pods/agent-1"] = Pods(pod("agent-1", running()))
        cluster.answers[f"DELETE {SPACE}/pods/agent-1"] = (200, {"kind": "Status"})
        db, _ = testbed.hosts
        assert db.control_group("u") == "/kubepods/p/c/u"
        monkeypatch.setattr(PlayedLink, "group", "/kubepods/p/d")
        testbed.restore("db-1")
        assert before.closed
        assert PlayedLink.made[-1].host == "db-1"
        assert db.control_group("u") == "/kubepods/p/d/u"
        assert isinstance(db, Shared)
        assert db.shared == {"agent": "/kubepods/p/d", "pods": "/kubepods"}


def test_a_node_that_is_not_ready_is_waited_for_and_given_up_in_the_end(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = NODES[0].to_dict()
    late["status"]["conditions"][0]["status"] = "False"
    monkeypatch.setattr(made_here, "_LOOKS", 0.0)
    told: list[str] = []
    with opened(tmp_path, told=told) as testbed:
        ready: tuple[int, Any] = (200, {"items": [each.to_dict() for each in NODES]})
        away: tuple[int, Any] = (503, {"kind": "Status", "code": 503})
        looks = iter([(200, {"items": [late]}), away])
        cluster.answers["/api/v1/nodes"] = lambda _: next(looks, ready)
        cluster.answers[f"GET {SPACE}/pods/agent-1"] = Pods(pod("agent-1", running()))
        cluster.answers[f"DELETE {SPACE}/pods/agent-1"] = (200, {"kind": "Status"})
        testbed.restore("db-1")
        assert next(looks, None) is None
        assert PlayedLink.made[-1].host == "db-1"
        assert told == ["waiting for node `n1` of `db-1`, at most 10 min"]
        monkeypatch.setattr(made_here, "RETURNS", -1.0)
        for nodes, why in (([late], "Ready is False"), ([], "the cluster has it no more")):
            cluster.answers["/api/v1/nodes"] = (200, {"items": nodes})
            with pytest.raises(UnavailableError, match=f"`n1` is not ready: {why}"):
                testbed.restore("db-1")


def test_a_node_that_is_lost_again_while_its_agent_begins_is_waited_for_too(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_here, "_LOOKS", 0.0)
    with opened(tmp_path) as testbed:
        there = pod("agent-1", running())
        gone: tuple[int, Any] = (404, {"kind": "Status", "code": 404})
        looks = iter([gone, there, gone])
        cluster.answers[f"GET {SPACE}/pods/agent-1"] = lambda _: next(looks, there)
        cluster.answers[f"DELETE {SPACE}/pods/agent-1"] = (200, {"kind": "Status"})
        failures: list[DunnageError] = [HostLostError("no answer"), RunError("it broke")]
        found = groups

        def told(*texts: str) -> tuple[str, str]:
            if failures:
                looks_again = iter([gone])
                cluster.answers[f"GET {SPACE}/pods/agent-1"] = lambda _: next(looks_again, there)
                raise failures.pop()
            return found(*texts)

        monkeypatch.setattr(made_here, "groups", told)
        testbed.restore("db-1")
        assert failures == []
        lost = [link for link in PlayedLink.made if link.host == "db-1"]
        assert [link.closed for link in lost] == [True, True, True, False]


class Pods:
    """A pod that is gone when it is asked for first, and there again afterwards."""

    def __init__(self, there: tuple[int, Any]) -> None:
        self._answers = [(404, {"kind": "Status", "code": 404}), there]

    def __call__(self, _: object) -> tuple[int, Any]:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


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


def test_a_release_that_fails_is_told_and_hides_no_other_error(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.answers[f"DELETE {SPACE}"] = (403, {"kind": "Status", "code": 403, "message": "no"})
    told: list[str] = []
    with opened(tmp_path, told=told):
        pass
    assert told == [
        "not all that the study had in the cluster was removed: "
        "kubernetes: the cluster of context `mine` refuses: no",
        "  try: dunnage clean --context mine",
    ]
    with pytest.raises(ZeroDivisionError) as first, opened(tmp_path):
        raise ZeroDivisionError
    assert "during clean-up: " in first.value.__notes__[0]


def away_once(answer: tuple[int, Any]) -> Callable[[Any], tuple[int, Any]]:
    """What a server answers that is away when it is asked for the first time."""
    answers = iter([(503, {"kind": "Status", "code": 503})])
    return lambda _: next(answers, answer)


def test_an_api_server_that_is_away_for_a_moment_at_the_end_ends_no_study(
    cluster: Cluster, tmp_path: Path
) -> None:
    told: list[str] = []
    with opened(tmp_path, told=told):
        cluster.answers[f"DELETE {SPACE}"] = away_once((200, {"kind": "Status"}))
        cluster.answers[f"GET {SPACE}"] = away_once((404, {"kind": "Status", "code": 404}))
    assert told == []
    assert cluster.asked[-4:] == [f"DELETE {SPACE}"] * 2 + [f"GET {SPACE}"] * 2


def test_an_api_server_that_is_away_for_a_moment_at_the_begin_ends_no_study(
    cluster: Cluster, tmp_path: Path
) -> None:
    dead = replace(own(), born=1)
    theirs: tuple[int, Any] = (200, {"items": [space("dunnage-nodes-1", dead)]})
    there = "/api/v1/namespaces/dunnage-nodes-1"
    cluster.answers["GET /api/v1/namespaces"] = away_once(theirs)
    cluster.answers["/api/v1/pods"] = away_once(NOTHING)
    cluster.answers[f"DELETE {there}"] = away_once((200, {"kind": "Status"}))
    cluster.answers[f"{SPACE}/pods/agent-1"] = away_once(pod("agent-1", running()))
    with opened(tmp_path) as testbed:
        assert len(testbed.hosts) == 2
    assert cluster.asked.count(f"DELETE {there}") == 2


def test_nobody_waits_for_a_node_that_is_lost_in_the_end(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.answers[f"DELETE {SPACE}/pods/agent-1"] = (200, {"kind": "Status"})
    there = "/api/v1/namespaces/stay/pods"
    cluster.answers[f"POST {there}"] = noting([])
    cluster.answers[f"GET {there}/agent-1"] = pod("agent-1", running())
    with opened(tmp_path) as testbed:
        db, _ = testbed.hosts
        assert isinstance(db, MakesPods)
        beside = db.beside("stay", {})
        asked = PlayedLink.ask

        def lost(link: PlayedLink, what: str, content: bytes = b"", **more: Any) -> Any:
            if link.host == "db-1":
                raise HostLostError("no answer")
            return asked(link, what, content, **more)

        monkeypatch.setattr(PlayedLink, "ask", lost)
        cluster.answers[f"DELETE {there}/agent-1"] = (200, {"kind": "Status"})
        cluster.answers[f"GET {there}/agent-1"] = (404, {"kind": "Status", "code": 404})
        beside.leave()
        assert f"DELETE {there}/agent-1?gracePeriodSeconds=0" in cluster.asked
        assert testbed.lost() == ("db-1",)
    assert f"DELETE {SPACE}/pods/agent-1?gracePeriodSeconds=0" in cluster.asked
    assert not any("pods/agent-2?grace" in each for each in cluster.asked)


def test_a_node_whose_control_groups_cannot_be_told_is_refused(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise ValueError("in no control group")

    monkeypatch.setattr(made_here, "groups", none)
    with pytest.raises(UnavailableError, match="db-1: in no control group"), opened(tmp_path):
        raise AssertionError("it was opened")
