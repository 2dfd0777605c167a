"""`doctor --context` and `clean --context`: what may be done in someone else's cluster, and what
stays have there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command import Command

from dunnage import catalog, lab_tool
from dunnage.contracts.cluster import (
    EVERY_STUDY,
    ClusterSeen,
    LeftSeen,
    NodeSeen,
    RightSeen,
    StaySeen,
    TestbedSeen,
)
from dunnage.errors import UnavailableError

GIVES = "kubectl create clusterrole dunnage-get-pods --verb=get --resource=pods"


def seen(*, held: bool = True, unread: str = "", purpose: str = EVERY_STUDY) -> ClusterSeen:
    nodes = (
        NodeSeen("n1", "db-1 of lab 0a1b2c3d", "", {"kubelet": "v1.34"}),
        NodeSeen("n2", "", "tainted: [/] \x1b[2J", {}),
    )
    return ClusterSeen(
        context="mine",
        server="https://10.0.0.1:6443",
        version="v1.34.2",
        user="me",
        groups=("staff",),
        rights=(
            RightSeen("list nodes", EVERY_STUDY, True, ""),
            RightSeen("get pods", purpose, held, "" if held else GIVES),
        ),
        nodes=() if unread else nodes,
        nodes_unread=unread,
        network="flannel, vxlan",
        proxy="unknown: not found",
    )


def played(monkeypatch: pytest.MonkeyPatch, told: ClusterSeen) -> list[tuple[str, Path | None]]:
    asked: list[tuple[str, Path | None]] = []

    def cluster(context: str, kubeconfig: Path | None) -> ClusterSeen:
        asked.append((context, kubeconfig))
        return told

    monkeypatch.setattr(catalog, "cluster", cluster)
    return asked


def test_a_cluster_with_every_right_is_told_with_its_nodes(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = played(monkeypatch, seen())
    shown = dunnage("doctor", "--context", "mine", "--kubeconfig", "file")
    assert asked == [("mine", Path("file"))]
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[:4] == [
        "context mine: Kubernetes v1.34.2 at https://10.0.0.1:6443",
        "you are me, in staff",
        "network of pods: flannel, vxlan",
        "kube-proxy: unknown: not found",
    ]
    assert "list nodes  every study  yes" in shown.out
    assert "db-1 of lab 0a1b2c3d" in shown.out
    assert "tainted: [/]" in shown.out
    assert "\x1b" not in shown.out
    assert "1 of 2 nodes are hosts of ours" in shown.err
    assert "every right that Dunnage needs is here" in shown.err


def test_each_missing_right_is_named_with_what_to_type(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    played(monkeypatch, seen(held=False))
    shown = dunnage("doctor", "--context", "mine")
    assert shown.code == 3
    assert "get pods    every study  no" in shown.out
    assert "1 right is missing; who administers the cluster at https://10.0.0.1:6443" in shown.err
    assert "with a context of their own instead of `mine`:" in shown.err
    assert f"  {GIVES}  # get pods, for every study" in shown.err


def test_a_right_that_only_some_studies_need_is_named_and_ends_nothing(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    played(monkeypatch, seen(held=False, purpose="`storage: volume`"))
    shown = dunnage("doctor", "--context", "mine")
    assert shown.code == 0
    assert "get pods    `storage: volume`  no" in shown.out
    assert "every right that each study needs is here" in shown.err
    assert f"  {GIVES}  # get pods, for `storage: volume`" in shown.err
    assert dunnage("doctor", "--context", "mine", "--format", "json").code == 0


def test_nodes_that_cannot_be_read_and_a_user_that_is_not_told_are_said(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    played(monkeypatch, replace(seen(unread="nodes is forbidden"), user="", groups=()))
    shown = dunnage("doctor", "--context", "mine")
    assert "nodes cannot be read: nodes is forbidden" in shown.out
    assert "you are unknown: the cluster does not tell" in shown.out
    assert "hosts of ours" not in shown.err


def test_all_of_it_is_in_the_json(dunnage: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    played(monkeypatch, seen(held=False))
    shown = dunnage("doctor", "--context", "mine", "--format", "json")
    assert shown.code == 3
    told = json.loads(shown.out)
    assert told["missing"] == ["get pods"]
    assert told["rights"][1] == {
        "right": "get pods",
        "purpose": "every study",
        "held": False,
        "how": GIVES,
    }
    assert told["nodes"][0]["host"] == "db-1 of lab 0a1b2c3d"
    assert (told["user"], told["groups"], told["network"]) == ("me", ["staff"], "flannel, vxlan")
    played(monkeypatch, seen())
    assert dunnage("doctor", "--context", "mine", "--format", "json").code == 0


def test_a_cluster_that_cannot_be_asked_is_one_message(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = tmp_path / "nowhere"
    shown = dunnage("doctor", "--context", "mine", "--kubeconfig", nowhere)
    assert (shown.code, shown.out) == (3, "")
    assert f"`{nowhere}` cannot be read: No such file or directory" in shown.err
    assert f"try: kubectl --kubeconfig {nowhere} config get-contexts" in shown.err

    def refused(*_: object) -> ClusterSeen:
        raise UnavailableError("it does not answer")

    monkeypatch.setattr(catalog, "cluster", refused)
    told = dunnage("doctor", "--context", "mine", "--format", "json")
    assert json.loads(told.out)["error"]["what"] == "it does not answer"


@pytest.mark.parametrize("verb", ["doctor", "clean"])
def test_a_kubeconfig_without_a_context_is_a_mistake(dunnage: Command, verb: str) -> None:
    shown = dunnage(verb, "--kubeconfig", "file")
    assert shown.code == 2
    assert "name one by `--context`" in shown.err
    assert "try: kubectl --kubeconfig file config get-contexts" in shown.err


REMOVES = "kubectl --context mine delete namespace --selector dunnage.stay=b1-x"
ENDS = "kubectl --context mine delete namespace --selector dunnage.testbed=dunnage-nodes-1"
STAYS = (
    StaySeen("b1-x", "2026-01-02 03:04:05 UTC", {"namespace": ("dunnage-b1-x",)}, REMOVES),
    StaySeen("b2-x", "", {"persistentvolume": ("v1", "v2")}, "kubectl delete"),
)
HOSTS = TestbedSeen("dunnage-nodes-1", "mine", "", None, {"n1": "Running", "n2": "Succeeded"}, ENDS)
LEFT = LeftSeen(STAYS, (HOSTS, replace(HOSTS, testbed="dunnage-nodes-2", study="", agents={})))
NOTHING = LeftSeen((), ())


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[LeftSeen]:
    """What Dunnage has in a cluster; nothing of this machine may be removed."""
    there = [LEFT]

    def never(**_: object) -> None:
        raise AssertionError("it removes")

    monkeypatch.setattr(catalog, "left_in_cluster", lambda *_: there[0])
    monkeypatch.setattr(lab_tool, "clean", never)
    return there


LINES = [
    "hosts dunnage-nodes-1 of study `mine`: n1 Running, n2 Succeeded",
    "hosts dunnage-nodes-2: no agents",
    "stay b1-x since 2026-01-02 03:04:05 UTC: namespace dunnage-b1-x",
    "stay b2-x: persistentvolume v1, persistentvolume v2",
]


def test_what_is_in_a_cluster_is_shown_and_nothing_is_removed(
    dunnage: Command, left: list[LeftSeen]
) -> None:
    shown = dunnage("clean", "--context", "mine")
    assert shown.code == 0
    assert shown.out.splitlines() == LINES
    assert "nothing was removed: 2 testbeds and 2 stays may be in use" in shown.err
    assert "to remove what nobody uses: dunnage clean --context mine --yes" in shown.err
    assert f"  {REMOVES}\n" in shown.err
    assert f"  {ENDS}\n" in shown.err
    left[0] = NOTHING
    shown = dunnage("clean", "--context", "mine")
    assert shown.out == ""
    assert "Dunnage has nothing in the cluster of context `mine`" in shown.err
    assert "volumes" not in shown.err
    left[0] = replace(NOTHING, volumes_unread="you may not list them")
    shown = dunnage("clean", "--context", "mine")
    assert "volumes of stays are not known: you may not list them" in shown.err


def test_what_is_in_a_cluster_is_in_the_json(dunnage: Command, left: list[LeftSeen]) -> None:
    shown = dunnage("clean", "--context", "mine", "--format", "json")
    told = json.loads(shown.out)
    assert told["context"] == "mine"
    assert [each["stay"] for each in told["stays"]] == [each.stay for each in left[0].stays]
    assert told["stays"][0]["removing"] == REMOVES
    assert told["testbeds"][0]["agents"] == {"n1": "Running", "n2": "Succeeded"}


def test_what_nobody_uses_is_removed_when_that_is_said(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = LeftSeen(STAYS, (), "you may not list them")
    answers = [(LEFT, NOTHING), (NOTHING, kept), (LEFT, NOTHING)]
    monkeypatch.setattr(catalog, "clean_cluster", lambda *_: answers.pop(0))
    shown = dunnage("clean", "--context", "mine", "--yes")
    assert shown.out.splitlines() == LINES
    assert "2 testbeds and 2 stays removed" in shown.err
    assert "somebody" not in shown.err
    shown = dunnage("clean", "--context", "mine", "--yes")
    assert shown.out == ""
    assert "nothing to remove" in shown.err
    assert "2 stays left, which somebody may use" in shown.err
    assert "volumes of stays are not known: you may not list them" in shown.err
    assert f"  {REMOVES}\n" in shown.err
    told = json.loads(dunnage("clean", "--context", "mine", "--yes", "--format", "json").out)
    assert [each["stay"] for each in told["removed"]["stays"]] == ["b1-x", "b2-x"]
    assert told["left"] == {"stays": [], "testbeds": [], "volumes_unread": ""}


@pytest.mark.usefixtures("left")
def test_labs_and_a_cluster_are_cleaned_one_at_a_time(dunnage: Command) -> None:
    shown = dunnage("clean", "--context", "mine", "--kept")
    assert shown.code == 2
    assert "ask for one" in shown.err
    shown = dunnage("clean", "--yes")
    assert shown.code == 2
    assert "`--yes` is of a cluster" in shown.err
