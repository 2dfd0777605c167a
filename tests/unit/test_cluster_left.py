"""What Dunnage has in someone else's cluster, and what of it nobody uses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from stand_in_cluster import Cluster, cluster_of, node

from dunnage import catalog
from dunnage.clusters import lost_pods, removal
from dunnage.clusters.context import Context
from dunnage.clusters.left import left, parted, remove
from dunnage.clusters.owned import owned
from dunnage.contracts.cluster import LeftSeen, Owner, StaySeen, TestbedSeen
from dunnage.errors import UnavailableError

FORBIDDEN = (403, {"kind": "Status", "code": 403, "message": "you may not"})
OWNER = Owner("machine", "boot", 7, 99)


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    return tmp_path / "kubeconfig"


@pytest.fixture
def cluster(kubeconfig: Path) -> Iterator[Cluster]:
    with cluster_of(kubeconfig=kubeconfig) as played:
        nothing: tuple[int, Any] = (200, {"items": []})
        lists = ("namespaces", "persistentvolumes", "pods")
        played.answers |= {f"/api/v1/{each}": nothing for each in lists}
        yield played


def labelled(
    kind: str, named: str, stay: str = "", testbed: str = "", made: str = "2026-01-02T03:04:05Z"
) -> dict[str, Any]:
    labels = {"dunnage.stay": stay} if stay else {}
    labels |= {"dunnage.testbed": testbed} if testbed else {}
    metadata = {"name": named, "labels": labels, "annotations": {}}
    metadata |= {"creationTimestamp": made} if made else {}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}


def agent(node: str | None, phase: str, testbed: str, stay: str = "") -> dict[str, Any]:
    pod = labelled("Pod", f"agent-{node}", stay, testbed)
    spec: dict[str, Any] = {"containers": []} | ({"nodeName": node} if node else {})
    return {**pod, "spec": spec, "status": {"phase": phase} if phase else {}}


def hold(cluster: Cluster, **items: list[dict[str, Any]]) -> None:
    cluster.answers |= {f"/api/v1/{kind}": (200, {"items": each}) for kind, each in items.items()}


def test_stays_are_told_with_what_removes_them(cluster: Cluster, kubeconfig: Path) -> None:
    hold(
        cluster,
        namespaces=[
            labelled("Namespace", "dunnage-b2", "b2", made="2026-01-03T00:00:00Z"),
            labelled("Namespace", "dunnage-b1", "b1", "dunnage-nodes-1"),
            labelled("Namespace", "someones"),
            labelled("Namespace", "dunnage-b0", "b0", made=""),
        ],
        persistentvolumes=[
            labelled("PersistentVolume", f"dunnage-b1-redis-{at}", "b1") for at in (1, 2)
        ],
    )
    seen = left("mine", kubeconfig)
    unknown, first, second = seen.stays
    assert (unknown.stay, unknown.since, unknown.testbed) == ("b0", "", "")
    assert (first.stay, first.since) == ("b1", "2026-01-02 03:04:05 UTC")
    assert first.testbed == "dunnage-nodes-1"
    assert first.objects == {
        "namespace": ("dunnage-b1",),
        "persistentvolume": ("dunnage-b1-redis-1", "dunnage-b1-redis-2"),
    }
    assert first.removing == (
        f"kubectl --kubeconfig {kubeconfig} --context mine delete namespace,persistentvolume "
        "--selector dunnage.stay=b1"
    )
    assert second.objects == {"namespace": ("dunnage-b2",)}
    assert seen.testbeds == ()
    assert catalog.left_in_cluster("mine", kubeconfig) == seen
    assert any("managed-by" in asked for asked in cluster.asked)


def test_testbeds_are_told_with_their_agents_and_their_owner(
    cluster: Cluster, kubeconfig: Path
) -> None:
    held = labelled("Namespace", "dunnage-nodes-1", testbed="dunnage-nodes-1")
    held["metadata"]["annotations"] = owned("study", OWNER, ["n1", "n2"])
    strange = labelled("Namespace", "dunnage-nodes-2", testbed="dunnage-nodes-2", made="")
    strange["metadata"]["annotations"] = {"dunnage/owner": json.dumps({"pid": "no number"})}
    hold(
        cluster,
        namespaces=[held, strange],
        pods=[
            agent("n1", "Running", "dunnage-nodes-1"),
            agent(None, "", "dunnage-nodes-1"),
            agent("n1", "Succeeded", "dunnage-nodes-2"),
            agent("n9", "Running", "dunnage-nodes-2", stay="a client of a stay"),
        ],
    )
    unknown, known = left("mine", kubeconfig).testbeds
    assert (known.study, known.owner) == ("study", OWNER)
    assert (known.nodes, unknown.nodes) == (("n1", "n2"), ())
    made = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert known.age is not None
    assert made + timedelta(seconds=known.age) <= datetime.now(UTC)
    assert unknown.age is None
    assert known.agents == {"n1": "Running", "agent-None": "Pending"}
    assert known.asked
    assert (unknown.study, unknown.owner) == ("", None)
    assert unknown.agents == {"n1": "Succeeded"}
    assert not unknown.asked
    assert known.removing.endswith("delete namespace --selector dunnage.testbed=dunnage-nodes-1")


def seen(testbed: str, *stays: StaySeen) -> LeftSeen:
    return LeftSeen(stays, (TestbedSeen(testbed, "", "", None, {}, ""),))


def stay(name: str, testbed: str = "") -> StaySeen:
    volume = {"persistentvolume": (f"volume-{name}",)} if name == "b1" else {}
    return StaySeen(name, "", {"namespace": (f"dunnage-{name}",), **volume}, "", testbed)


def test_a_stay_is_used_as_its_testbed_is_and_of_one_without_nobody_knows() -> None:
    mine, orphan, unknown = stay("b1", "T"), stay("b2", "gone"), stay("b3")
    whole = seen("T", mine, orphan, unknown)
    unused, kept = parted(whole, lambda each: each.testbed == "T")
    assert unused == LeftSeen((orphan,), ())
    assert kept == LeftSeen((mine, unknown), whole.testbeds)
    unused, kept = parted(whole, lambda _: False)
    assert unused == LeftSeen((mine, orphan), whole.testbeds)
    assert kept == LeftSeen((unknown,), ())


def test_what_nobody_uses_is_removed_stays_before_what_they_live_on(
    cluster: Cluster, kubeconfig: Path
) -> None:
    hold(
        cluster,
        namespaces=[
            labelled("Namespace", "dunnage-b1", "b1", "dunnage-nodes-1"),
            labelled("Namespace", "dunnage-nodes-1", testbed="dunnage-nodes-1"),
            labelled("Namespace", "dunnage-b2", "b2"),
        ],
        persistentvolumes=[labelled("PersistentVolume", "v1", "b1", "dunnage-nodes-1")],
    )
    for each in ("namespaces/dunnage-b1", "namespaces/dunnage-nodes-1"):
        cluster.answers[f"DELETE /api/v1/{each}"] = (200, {"kind": "Status"})
    unused, kept = remove("mine", kubeconfig, lambda _: False)
    assert [each.stay for each in unused.stays] == ["b1"]
    assert [each.stay for each in kept.stays] == ["b2"]
    deleted = [each.partition("?")[0] for each in cluster.asked if each.startswith("DELETE ")]
    assert deleted == [
        "DELETE /api/v1/namespaces/dunnage-b1",
        "DELETE /api/v1/persistentvolumes/v1",
        "DELETE /api/v1/namespaces/dunnage-nodes-1",
    ]


def test_of_testbeds_of_elsewhere_without_agents_only_those_go_that_are_not_just_made(
    cluster: Cluster, kubeconfig: Path
) -> None:
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    hold(
        cluster,
        namespaces=[
            labelled("Namespace", "dunnage-nodes-1", testbed="dunnage-nodes-1", made=now),
            labelled("Namespace", "dunnage-nodes-2", testbed="dunnage-nodes-2"),
            labelled("Namespace", "dunnage-b1", "b1", "dunnage-nodes-2"),
        ],
    )
    for each in ("dunnage-b1", "dunnage-nodes-2"):
        cluster.answers[f"DELETE /api/v1/namespaces/{each}"] = (200, {"kind": "Status"})
    unused, kept = catalog.clean_cluster("mine", kubeconfig)
    assert [each.testbed for each in unused.testbeds] == ["dunnage-nodes-2"]
    assert [each.stay for each in unused.stays] == ["b1"]
    assert [each.testbed for each in kept.testbeds] == ["dunnage-nodes-1"]


def test_what_does_not_go_is_told(
    cluster: Cluster, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = labelled("Namespace", "dunnage-nodes-1", testbed="dunnage-nodes-1")
    hold(cluster, namespaces=[held])
    cluster.answers["/api/v1/namespaces/dunnage-nodes-1"] = (200, held)
    monkeypatch.setattr(removal, "REMOVED", 0.3)
    still = "namespace `dunnage-nodes-1` is still there"
    with pytest.raises(UnavailableError, match=still) as told:
        remove("mine", kubeconfig, lambda _: False)
    described = "describe namespace dunnage-nodes-1"
    assert told.value.hint == Context("mine", kubeconfig).asking(described)


TESTBED = "dunnage-nodes-1"
LEFT = f"/api/v1/namespaces/{TESTBED}"


def on(where: str, space: str = TESTBED) -> dict[str, Any]:
    """An agent's pod on a node."""
    pod = agent(where, "Running", space)
    pod["metadata"]["namespace"] = space
    return pod


def nodes(**ready: str) -> tuple[int, Any]:
    """Nodes, each with what is told of its being ready."""
    told = [node(name, f"i-{name}").to_dict() for name in ready]
    for each, status in zip(told, ready.values(), strict=True):
        each["status"]["conditions"][0]["status"] = status
    return 200, {"items": told}


def forgotten(cluster: Cluster) -> list[str]:
    """Pods that were deleted, each by its path with the seconds that it may go on."""
    return [each for each in cluster.asked if each.startswith("DELETE ") and "/pods/" in each]


def test_pods_whose_nodes_are_not_ready_or_gone_are_forgotten_and_no_others(
    cluster: Cluster, kubeconfig: Path
) -> None:
    """Nobody can end them, and their namespace would stay as long as they do."""
    kept = "dunnage-nodes-2"
    hold(
        cluster,
        namespaces=[labelled("Namespace", each, testbed=each) for each in (TESTBED, kept)],
        pods=[*map(on, ("up", "cordoned", "down", "silent", "gone")), on("down", kept)],
    )
    cluster.answers[f"DELETE {LEFT}"] = (200, {"kind": "Status"})
    told = nodes(up="True", cordoned="True", down="False", silent="Unknown")
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    told[1]["items"][1]["spec"] = {"taints": [taint]}
    cluster.answers["/api/v1/nodes"] = told
    remove("mine", kubeconfig, lambda each: each.testbed == kept)
    assert forgotten(cluster) == [
        f"DELETE {LEFT}/pods/agent-{each}?gracePeriodSeconds=0"
        for each in ("down", "silent", "gone")
    ]
    assert cluster.asked.index(f"DELETE {LEFT}") < cluster.asked.index(forgotten(cluster)[0])
    listed = [each for each in cluster.asked if each.startswith("GET /api/v1/pods")]
    assert all("managed-by" in each for each in listed), "somebody else's are never seen"


def test_a_node_that_is_told_to_be_lost_while_its_pod_is_waited_for_is_noticed(
    cluster: Cluster, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost_pods, "_LOOKS", 0.0)
    held = labelled("Namespace", TESTBED, testbed=TESTBED)
    hold(cluster, namespaces=[held], pods=[on("n1")])
    looks = iter([nodes(n1="True"), nodes(n1="True")])
    cluster.answers["/api/v1/nodes"] = lambda _: next(looks, nodes(n1="Unknown"))
    gone: tuple[int, Any] = (404, {"kind": "Status", "code": 404})
    cluster.answers[f"DELETE {LEFT}"] = (200, {"kind": "Status"})
    cluster.answers[f"GET {LEFT}"] = lambda _: gone if forgotten(cluster) else (200, held)
    remove("mine", kubeconfig, lambda _: False)
    assert len(forgotten(cluster)) == 1


def test_who_may_not_list_nodes_removes_what_ends_by_itself(
    cluster: Cluster, kubeconfig: Path
) -> None:
    hold(cluster, namespaces=[labelled("Namespace", TESTBED, testbed=TESTBED)], pods=[on("n1")])
    cluster.answers |= {"/api/v1/nodes": FORBIDDEN, f"DELETE {LEFT}": (200, {"kind": "Status"})}
    unused, _ = remove("mine", kubeconfig, lambda _: False)
    assert [each.testbed for each in unused.testbeds] == [TESTBED]
    assert forgotten(cluster) == []
    cluster.answers["/api/v1/nodes"] = (401, {"kind": "Status", "code": 401})
    with pytest.raises(UnavailableError):
        remove("mine", kubeconfig, lambda _: False)


@pytest.mark.parametrize("verb", ["", "DELETE "])
def test_where_something_may_not_be_done_the_refusal_is_told(
    cluster: Cluster, kubeconfig: Path, verb: str
) -> None:
    hold(cluster, namespaces=[labelled("Namespace", "T", testbed="T")])
    cluster.answers[f"{verb}/api/v1/namespaces{'/T' if verb else ''}"] = FORBIDDEN
    with pytest.raises(UnavailableError, match="the cluster of context `mine` refuses: "):
        remove("mine", kubeconfig, lambda _: False)


def test_whose_volumes_may_not_be_listed_is_shown_all_else(
    cluster: Cluster, kubeconfig: Path
) -> None:
    hold(cluster, namespaces=[labelled("Namespace", "dunnage-b1", "b1", "dunnage-nodes-1")])
    cluster.answers["/api/v1/persistentvolumes"] = FORBIDDEN
    cluster.answers["DELETE /api/v1/namespaces/dunnage-b1"] = (200, {"kind": "Status"})
    seen = left("mine", kubeconfig)
    assert ([each.stay for each in seen.stays], seen.volumes_unread) == (["b1"], "you may not")
    unused, kept = remove("mine", kubeconfig, lambda _: False)
    assert [each.stay for each in unused.stays] == ["b1"]
    assert kept == LeftSeen((), (), "you may not")
    cluster.answers["/api/v1/persistentvolumes"] = (500, {"kind": "Status", "code": 500})
    with pytest.raises(UnavailableError):
        left("mine", kubeconfig)
