"""Nodes that are lost, and an API server that is away: waited for, and given up in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from played_nodes import NODES, NOTHING, SPACE, PlayedLink, noting, opened, pod, running, space
from stand_in_cluster import Cluster

from dunnage.contracts.host import Shared
from dunnage.contracts.kubernetes import MakesPods
from dunnage.errors import DunnageError, HostLostError, RunError, UnavailableError
from dunnage.hosts.nodes import testbed as made_here
from dunnage.hosts.nodes.groups import groups
from dunnage.hosts.nodes.owner import own


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
        "  try: dunnage clean --context mine --yes",
    ]
    with pytest.raises(ZeroDivisionError) as first, opened(tmp_path):
        raise ZeroDivisionError
    (note,) = first.value.__notes__
    assert note.startswith("during clean-up: ")
    assert note.endswith("\n  try: dunnage clean --context mine --yes")


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
