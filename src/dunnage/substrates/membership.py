"""What a Swarm's manager and the daemons of its nodes tell of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dunnage.model.value import Scalar

Answer = Mapping[str, Any]
"""An object of Docker's API."""

_NANOSECONDS = 1_000_000_000
_DATA_PATH_PORT = 4789
"""Docker's own, where the manager names none."""


def own_node(info: Answer) -> str | None:
    """Id of the node that a daemon is, from its `info`; None where it is in no Swarm."""
    told = info.get("Swarm") or {}
    return str(told["NodeID"]) if told.get("LocalNodeState") == "active" else None


def in_a_swarm(info: Answer) -> bool:
    """Whether a daemon is in a Swarm, be it one that it cannot reach."""
    return str((info.get("Swarm") or {}).get("LocalNodeState", "inactive")) != "inactive"


def takes_orders(info: Answer) -> bool:
    """Whether a daemon is a manager, from its `info`."""
    return bool((info.get("Swarm") or {}).get("ControlAvailable"))


def not_ready(nodes: Iterable[Answer], wanted: Mapping[str, str]) -> dict[str, str]:
    """Host → what the manager says of its node, for those that are not `ready`.

    `nodes` is the manager's list, `wanted` maps hosts to the ids of their nodes.
    """
    states = {str(node["ID"]): _state(node) for node in nodes}
    told = {host: states.get(node, "not in the manager's list") for host, node in wanted.items()}
    return {host: state for host, state in told.items() if state != "ready"}


def swarm_facts(info: Answer) -> dict[str, Scalar]:
    """How a Swarm is set up, from its manager's `info`; periods are in seconds."""
    told = info["Swarm"]
    cluster = told["Cluster"]
    spec = cluster["Spec"]
    raft = spec.get("Raft") or {}
    dispatcher = spec.get("Dispatcher") or {}
    return {
        "nodes": told["Nodes"],
        "managers": told["Managers"],
        "task_history_limit": (spec.get("Orchestration") or {}).get("TaskHistoryRetentionLimit"),
        "raft_heartbeat_ticks": raft.get("HeartbeatTick"),
        "raft_election_ticks": raft.get("ElectionTick"),
        "raft_snapshot_interval": raft.get("SnapshotInterval"),
        "dispatcher_heartbeat": dispatcher.get("HeartbeatPeriod", 0) / _NANOSECONDS,
        "default_pool": ", ".join(cluster.get("DefaultAddrPool") or ()) or None,
        "subnet_size": cluster.get("SubnetSize"),
        "data_path_port": cluster.get("DataPathPort") or _DATA_PATH_PORT,
        "managers_locked": bool((spec.get("EncryptionConfig") or {}).get("AutoLockManagers")),
    }


def _state(node: Answer) -> str:
    status = node["Status"]
    said = status.get("Message")
    state = str(status["State"])
    return f"{state} ({said})" if said and state != "ready" else state
