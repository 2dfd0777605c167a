"""A cluster whose nodes become hosts."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from played_nodes import NODES, NOTHING, SPACE, PlayedLink, pod, running
from stand_in_cluster import Cluster, cluster_of

from dunnage.hosts.nodes import opening
from dunnage.hosts.nodes import pods as of_pods
from dunnage.hosts.nodes import testbed as made_here


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
