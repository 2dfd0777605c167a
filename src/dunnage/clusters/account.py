"""What a cluster tells of pods and their nodes, and of what happened to them, to be read. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from lightkube.models.core_v1 import ContainerState, ContainerStatus, NodeCondition, PodCondition
from lightkube.resources.core_v1 import Event, Node, Pod

from dunnage.clusters.nodes import name as name_of


def of_pods(pods: Iterable[Pod]) -> Iterator[str]:
    """Each pod with its node, the conditions that it lacks, and the state of its containers."""
    for pod in pods:
        named = pod.metadata.name if pod.metadata is not None else ""
        node = (pod.spec and pod.spec.nodeName) or "no node"
        status = pod.status
        yield f"pod {named} on {node}: {(status and status.phase) or 'without a phase'}"
        if status is None:
            continue
        if status.reason or status.message:
            yield f"  {_said(status.reason, status.message)}"
        yield from _conditions(status.conditions or (), "True")
        for each in (*(status.initContainerStatuses or ()), *(status.containerStatuses or ())):
            yield from _container(each)


def of_nodes(nodes: Iterable[Node]) -> Iterator[str]:
    """Each node with its taints, and the conditions that are not as they should be."""
    for node in nodes:
        taints = [each.key for each in (node.spec and node.spec.taints) or ()]
        yield f"node {name_of(node)}" + (f": tainted {', '.join(taints)}" if taints else "")
        conditions = (node.status and node.status.conditions) or ()
        ready = [each for each in conditions if each.type == "Ready"]
        yield from _conditions(ready, "True")
        yield from _conditions([each for each in conditions if each.type != "Ready"], "False")


def of_events(events: Iterable[Event]) -> Iterator[str]:
    """Each event with its time and how often it was, the oldest first."""
    for each in sorted(events, key=_moment):
        about = each.involvedObject
        often = f" ({each.count} times)" if (each.count or 1) > 1 else ""
        yield (
            f"{_moment(each) or 'at an unknown time'} {each.type} {about.kind} {about.name}: "
            f"{_said(each.reason, each.message)}{often}"
        )


def _moment(event: Event) -> str:
    at: datetime | None = event.lastTimestamp or event.eventTime or event.firstTimestamp
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def _conditions(found: Iterable[PodCondition | NodeCondition], wanted: str) -> Iterator[str]:
    for each in found:
        if each.status != wanted:
            yield f"  {each.type} is {each.status}: {_said(each.reason, each.message)}"


def _container(told: ContainerStatus) -> Iterator[str]:
    again = f", started again {told.restartCount} times" if told.restartCount else ""
    yield f"  container {told.name}, image {told.image}{again}: {_state(told.state)}"
    if told.lastState is not None and told.lastState.terminated is not None:
        yield f"    before that: {_state(told.lastState)}"


def _state(state: ContainerState | None) -> str:
    if state is not None and state.waiting is not None:
        return f"waits, {_said(state.waiting.reason, state.waiting.message)}"
    if state is not None and state.terminated is not None:
        end = state.terminated
        return f"ended with exit code {end.exitCode}, {_said(end.reason, end.message)}"
    return "runs" if state is not None and state.running is not None else "nothing is told"


def _said(reason: str | None, message: str | None) -> str:
    return ": ".join(filter(None, (reason, (message or "").strip()))) or "no reason is told"
