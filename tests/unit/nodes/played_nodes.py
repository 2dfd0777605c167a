"""Nodes on an API server that answers as it is told, and agents that are played."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from stand_in_cluster import node

from dunnage.clusters.owned import owned
from dunnage.contracts.cluster import Owner
from dunnage.errors import RunError, UnavailableError
from dunnage.hosts.nodes.opening import open_nodes
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


def noting(made: list[Any]) -> Callable[[Any], tuple[int, Any]]:
    """Takes what is to be made, and notes it."""

    def taken(given: Any) -> tuple[int, Any]:
        made.append(given)
        return 201, given

    return taken


def space(
    named: str, owner: Owner, stay: str = "", *, made: str = "", nodes: Sequence[str] = ()
) -> dict[str, Any]:
    """A namespace as the cluster tells of it, `made` at that moment."""
    labels = {"dunnage.stay": stay} if stay else {"dunnage.testbed": named}
    labels |= {"dunnage.testbed": "dunnage-nodes-1"} if stay else {}
    annotations = owned("other", owner, nodes)
    metadata: dict[str, Any] = {"name": named, "labels": labels, "annotations": annotations}
    metadata |= {"creationTimestamp": made} if made else {}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
