"""Control groups of a node, told by two of its processes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from os.path import commonpath
from pathlib import PurePosixPath

from dunnage.model.load import AGENT, PODS

_PODS = "kubepods"
"""How a kubelet calls the group of all pods: that, or with systemd `kubepods.slice`, which below
another slice has the name of that before it, as `kubelet-kubepods.slice` of `kind`."""


def groups(first: str, agent: str) -> tuple[str, str]:
    """The group of a whole node, and that of its agent.

    Both are told by `/proc/PID/cgroup`: of the node's first process, and of the agent. The node is
    what holds both: on a machine of its own that is the root, elsewhere what its processes share.
    Raises ValueError where there is no such group.
    """
    one, other = _groups(first), _groups(agent)
    known = [names for names in other if names in one]
    if not known:
        raise ValueError("its processes are in no control group that can be told")
    names = min(known, key=lambda each: ("memory" not in each.split(","), each != ""))
    return commonpath([one[names], other[names]]), other[names]


def shared(agent: str) -> Mapping[str, str]:
    """Unit → group, of an agent's group and of that of all pods, above it; empty where it is not
    known by its name."""
    parts = PurePosixPath(agent).parts
    found = next((at for at, part in enumerate(parts) if _is_of_pods(part)), None)
    if found is None:
        return {}
    return {AGENT: agent, PODS: str(PurePosixPath(*parts[: found + 1]))}


def _is_of_pods(part: str) -> bool:
    return part.removesuffix(".slice").rpartition("-")[2] == _PODS


def _groups(text: str) -> Mapping[str, str]:
    """Controllers → group; version 2 has none of the first."""
    parts = [line.split(":", 2) for line in text.splitlines()]
    return {each[1]: each[2] for each in parts if len(each) == 3}
