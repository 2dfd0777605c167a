"""What a cluster tells of a stay, as it is kept when the stay fails."""

from __future__ import annotations

from typing import Any

import pytest
from played_api import NAMESPACES, Api, begun, ok, opened, status, waiting

from dunnage.errors import StayError

SPACE = f"{NAMESPACES}/dunnage-b1-x-1"
NODES = "/api/v1/nodes"


def pod(name: str, node: str | None, **told: Any) -> dict[str, Any]:
    spec = {"containers": [], **({"nodeName": node} if node else {})}
    return {"metadata": {"name": name}, "spec": spec, "status": told}


def condition(kind: str, state: str, reason: str = "", message: str = "") -> dict[str, Any]:
    return {"type": kind, "status": state, "reason": reason, "message": message}


def event(at: str, reason: str, message: str, count: int = 1) -> dict[str, Any]:
    about = {"kind": "Pod", "name": "redis-1-0"}
    told = {"reason": reason, "message": message, "count": count, "type": "Warning"}
    return {"metadata": {"name": reason}, "involvedObject": about, "lastTimestamp": at, **told}


def node(name: str, *conditions: dict[str, Any], taint: str = "") -> dict[str, Any]:
    spec = {"taints": [{"key": taint, "effect": "NoSchedule"}]} if taint else {}
    return {"metadata": {"name": name}, "spec": spec, "status": {"conditions": list(conditions)}}


READY = condition("Ready", "True"), condition("MemoryPressure", "False")
ENDED = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}


def test_pods_their_nodes_and_events_are_told_with_their_reasons() -> None:
    crashed = waiting("CrashLoopBackOff") | {"restartCount": 2, "lastState": ENDED}
    runs = pod("redis-1-0", "db-1", phase="Running", containerStatuses=[crashed])
    lacking = condition("PodScheduled", "False", "Unschedulable", "0/3 nodes are available")
    fits = pod("redis-2-0", None, phase="Pending", conditions=[lacking])
    full = condition("MemoryPressure", "True", "KubeletHasInsufficientMemory")
    nodes = [node("db-1", READY[0], full, taint="memory-pressure"), node("db-9", *READY)]
    later = event("2026-01-02T03:04:06Z", "BackOff", "back-off restarting", 7)
    earlier = event("2026-01-02T03:04:05Z", "FailedScheduling", "0/3 nodes are available")
    api = Api().on(f"GET {SPACE}/pods", ok(items=[runs, fits], metadata={}))
    api.on(f"GET {NODES}", ok(items=nodes, metadata={}))
    api.on(f"GET {SPACE}/events", ok(items=[later, earlier], metadata={}))
    assert begun(api).account().splitlines() == [
        "namespace dunnage-b1-x-1",
        "pod redis-1-0 on db-1: Running",
        "  container member, image i, started again 2 times: waits, CrashLoopBackOff: why",
        "    before that: ended with exit code 137, OOMKilled",
        "pod redis-2-0 on no node: Pending",
        "  PodScheduled is False: Unschedulable: 0/3 nodes are available",
        "node db-1: tainted memory-pressure",
        "  MemoryPressure is True: KubeletHasInsufficientMemory",
        "events, the oldest first:",
        "2026-01-02 03:04:05 Warning Pod redis-1-0: FailedScheduling: 0/3 nodes are available",
        "2026-01-02 03:04:06 Warning Pod redis-1-0: BackOff: back-off restarting (7 times)",
    ]


def test_where_no_pod_has_a_node_all_nodes_are_told_and_events_may_be_forbidden() -> None:
    api = Api().on(f"GET {SPACE}/pods", ok(items=[], metadata={}))
    late = condition("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting")
    api.on(f"GET {NODES}", ok(items=[node("db-1", late)], metadata={}))
    api.on(f"GET {SPACE}/events", status(403, "events is forbidden"))
    assert begun(api).account().splitlines() == [
        "namespace dunnage-b1-x-1",
        "node db-1",
        "  Ready is Unknown: NodeStatusUnknown: Kubelet stopped posting",
        "events, the oldest first:",
        "events cannot be read: events is forbidden",
    ]


def test_pods_that_may_not_be_listed_are_an_error() -> None:
    api = Api().on(f"GET {SPACE}/pods", status(403, "pods is forbidden"))
    with pytest.raises(StayError, match="kubernetes: pods cannot be listed: pods is forbidden"):
        opened(api).account()
