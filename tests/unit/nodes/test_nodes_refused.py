"""Nodes that a study may not have: rights, other studies, and what a killed one left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from played_nodes import NAME, NODES, NOTHING, SPACE, SPEC, opened, refused, space
from stand_in_cluster import REVIEWS, Cluster, node

from dunnage.clusters import removal
from dunnage.clusters.rights import OF_VOLUMES
from dunnage.contracts.cluster import Owner
from dunnage.errors import UnavailableError
from dunnage.hosts.nodes import opening, owner
from dunnage.hosts.nodes.opening import open_nodes
from dunnage.hosts.nodes.owner import own
from dunnage.model.choices import Storage


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
    assert "study `other` has n2 as hosts: two studies would disturb each other" in (
        refused(tmp_path)
    )
    cluster.answers["/api/v1/pods"] = (200, {"items": [on_node("dunnage-nodes-1", "n7")]})
    with opened(tmp_path) as testbed:
        assert len(testbed.hosts) == 2


ELSEWHERE = Owner("another machine", "boot", 1, 1)
MINE, LATER = "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"
"""When a cluster made the testbed of these tests, and a moment after that."""


def begins_meanwhile(cluster: Cluster, testbed: str, made: str) -> None:
    """Have another study's testbed be there once ours has agents; it has none yet."""
    cluster.answers |= {"GET /api/v1/namespaces": NOTHING, "/api/v1/pods": NOTHING}

    def agent(given: Any) -> tuple[int, Any]:
        spaces = [
            space(NAME, own(), made=MINE),
            space(testbed, ELSEWHERE, made=made, nodes=("n1", "n7")),
        ]
        cluster.answers["GET /api/v1/namespaces"] = (200, {"items": spaces})
        cluster.answers["/api/v1/pods"] = (200, {"items": [on_node(NAME, "n1")]})
        return 201, given

    cluster.answers[f"POST {SPACE}/pods"] = agent


@pytest.fixture
def all_young(monkeypatch: pytest.MonkeyPatch) -> None:
    """No testbed is too old to have no agents."""
    monkeypatch.setattr(owner, "_BEGINS", float("inf"))


FIRST, LAST = "dunnage-nodes-00000000", "dunnage-nodes-ffffffff"
"""Names before and after that of ours."""


@pytest.mark.usefixtures("all_young")
@pytest.mark.parametrize(("testbed", "made"), [(FIRST, LATER), (LAST, MINE), (LAST, LATER)])
def test_of_two_studies_that_begin_at_once_the_older_one_goes_on(
    cluster: Cluster, tmp_path: Path, testbed: str, made: str
) -> None:
    begins_meanwhile(cluster, testbed, made)
    with opened(tmp_path) as hosts:
        assert len(hosts.hosts) == 2


@pytest.mark.usefixtures("all_young")
@pytest.mark.parametrize(("testbed", "made"), [(LAST, "2026-01-02T03:04:04Z"), (FIRST, MINE)])
def test_of_two_studies_that_begin_at_once_the_younger_one_ends(
    cluster: Cluster, tmp_path: Path, testbed: str, made: str
) -> None:
    begins_meanwhile(cluster, testbed, made)
    assert "study `other` has n1 as hosts since 2026-01-02 03:04:0" in refused(tmp_path)
    assert cluster.asked[-2:] == [f"DELETE {SPACE}", f"GET {SPACE}"]


@pytest.mark.usefixtures("all_young")
def test_nodes_are_taken_from_the_moment_that_a_study_names_them(
    cluster: Cluster, tmp_path: Path
) -> None:
    there = space("dunnage-nodes-1", ELSEWHERE, made=MINE, nodes=("n2",))
    cluster.answers["GET /api/v1/namespaces"] = (200, {"items": [there]})
    assert "study `other` has n2 as hosts since 2026-01-02 03:04:05 UTC" in refused(tmp_path)
    made = [asked for asked in cluster.asked if asked == "POST /api/v1/namespaces"]
    assert made == []


def test_nodes_of_another_study_that_are_the_same_machine_are_refused(
    cluster: Cluster, tmp_path: Path
) -> None:
    """As those of `kind` are, though no node has both."""
    there = space("dunnage-nodes-1", ELSEWHERE, made=MINE, nodes=("n7", "n8"))
    cluster.answers["GET /api/v1/namespaces"] = (200, {"items": [there]})
    cluster.answers["/api/v1/pods"] = (200, {"items": [on_node("dunnage-nodes-1", "n7")]})
    others = (node("n7", "i7", "b2"), node("n8", "i8", "b8"))
    cluster.answers["/api/v1/nodes"] = (200, {"items": [n.to_dict() for n in (*NODES, *others)]})
    found = refused(tmp_path)
    assert "study `other` has n7 (on the machine of n2) as hosts since 2026-01-02 03:0" in found
    assert "[dunnage clean --context mine]" in found
    apart = (node("n7", "i7", "b7"), node("n8", "i8", ""))
    cluster.answers["/api/v1/nodes"] = (200, {"items": [n.to_dict() for n in (*NODES, *apart)]})
    with opened(tmp_path) as testbed:
        assert len(testbed.hosts) == 2


def test_a_node_is_this_machine_by_the_start_of_its_kernel(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def here(boot: str) -> bool:
        monkeypatch.setattr(opening, "this_machine", lambda: ("another id, as of `kind`", boot))
        return opening.are_here(SPEC)

    assert here("b2")
    assert not here("b9")
    unknown = [node(each, each, "", f"10.0.0.{each[1]}").to_dict() for each in ("n1", "n2")]
    cluster.answers["/api/v1/nodes"] = (200, {"items": unknown})
    assert not here("")
    cluster.answers["/api/v1/nodes"] = (403, {"kind": "Status", "code": 403})
    assert not here("b2"), "who opens them is told which right is missing"
    assert not opening.are_here(SPEC.model_copy(update={"context": None}))
    cluster.answers["/api/v1/nodes"] = (401, {"kind": "Status", "code": 401})
    with pytest.raises(UnavailableError, match="the cluster of context `mine` refuses"):
        here("b2")


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


@pytest.mark.parametrize(("held", "goes_on"), [("n7", True), ("n2", False)])
def test_what_a_killed_study_left_and_does_not_go_ends_only_who_needs_its_nodes(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: str, goes_on: bool
) -> None:
    monkeypatch.setattr(removal, "REMOVED", 0.2)
    left = space("dunnage-nodes-1", replace(own(), born=1), nodes=(held,))
    cluster.answers["GET /api/v1/namespaces"] = (200, {"items": [left]})
    cluster.answers["/api/v1/namespaces/dunnage-nodes-1"] = (200, left)
    still = "kubernetes: namespace `dunnage-nodes-1` is still there after 0.2 s"
    if not goes_on:
        assert refused(tmp_path).startswith(still)
        return
    told: list[str] = []
    with opened(tmp_path, told=told) as testbed:
        assert len(testbed.hosts) == 2
    assert told == [
        f"not all that a killed study left in the cluster was removed: {still}",
        "  try: dunnage clean --context mine --yes",
    ]
