"""When a node of a Kubernetes may be used."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from lightkube.resources.coordination_v1 import Lease
from lightkube.resources.core_v1 import Node

from dunnage.substrates.kubernetes.readiness import node_facts, not_ready, pod_ranges

NOW = 1_000_000.0


def node(name: str, ready: str | None = "True", **spec: Any) -> Node:
    conditions = [{"type": "MemoryPressure", "status": "False"}]
    if ready is not None:
        conditions.append({"type": "Ready", "status": ready, "message": "no network yet"})
    told: dict[str, Any] = {"metadata": {"name": name}, "spec": spec}
    told["status"] = {
        "conditions": conditions,
        "nodeInfo": {
            "kubeletVersion": "v1.34.4",
            "containerRuntimeVersion": "containerd://1.6.20",
            **dict.fromkeys(
                (
                    "architecture",
                    "bootID",
                    "kernelVersion",
                    "kubeProxyVersion",
                    "machineID",
                    "operatingSystem",
                    "osImage",
                    "systemUUID",
                ),
                "",
            ),
        },
    }
    return Node.from_dict(told)


def lease(name: str, age: float) -> Lease:
    renewed = datetime.fromtimestamp(NOW - age, UTC).isoformat()
    return Lease.from_dict({"metadata": {"name": name}, "spec": {"renewTime": renewed}})


def test_a_node_is_used_once_it_is_ready_and_told_so_within_its_period() -> None:
    assert not_ready([node("db-1")], [lease("db-1", 9)], ["db-1"], NOW) == {}
    late = not_ready([node("db-1")], [lease("db-1", 60)], ["db-1"], NOW)
    assert late == {"db-1": "not heard of by the API server"}
    assert not_ready([node("db-1")], [], ["db-1"], NOW) == late


def test_what_keeps_a_node_from_use_is_said() -> None:
    leases = [lease("db-1", 1)]
    told = {
        "unknown": not_ready([], leases, ["db-1"], NOW),
        "silent": not_ready([node("db-1", None)], leases, ["db-1"], NOW),
        "false": not_ready([node("db-1", "False")], leases, ["db-1"], NOW),
    }
    assert {name: each["db-1"] for name, each in told.items()} == {
        "unknown": "not known to the API server",
        "silent": "not told of by its kubelet",
        "false": "no network yet",
    }


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("node.kubernetes.io/unreachable", "tainted: node.kubernetes.io/unreachable"),
        ("dunnage/client", None),
    ],
)
def test_a_node_that_controllers_keep_pods_from_is_not_ready(key: str, why: str | None) -> None:
    tainted = node("db-1", taints=[{"key": key, "effect": "NoSchedule"}])
    assert not_ready([tainted], [lease("db-1", 1)], ["db-1"], NOW).get("db-1") == why


def test_ranges_are_of_nodes_that_have_one() -> None:
    nodes = [node("db-1", podCIDR="10.67.1.0/24"), node("db-2")]
    assert pod_ranges(nodes) == {"db-1": "10.67.1.0/24"}


def test_nodes_tell_their_versions() -> None:
    assert node_facts([node("db-1"), node("db-2")]) == {
        "nodes": 2,
        "kubelet_version": "v1.34.4",
        "container_runtime": "containerd://1.6.20",
    }
