"""Waiting until a pod has a container, or the reason why it will have none."""

from __future__ import annotations

import time

from dunnage.errors import StayError
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.objects import pod_name
from dunnage.platforms.kubernetes.pod_state import PodState
from dunnage.platforms.readiness import LAST_LINES

_STARTED = 60.0
"""Seconds within which a pod has a container, or the reason why not."""
_PATIENCE = 15.0
"""Seconds after which what may still change is taken for what it is, such as no room on a node."""
_INTERVAL = 0.05


def await_container(namespace: Namespace, member: str) -> PodState:
    """Wait until the container of a member's set was started, whether or not it still runs.

    Raises StayError with the reason, the cluster's warnings and the last lines of the log.
    """
    return await_started(namespace, pod_name(member), member, kind="StatefulSet", maker=member)


def await_started(
    namespace: Namespace, pod: str, where: str, *, kind: str = "", maker: str = ""
) -> PodState:
    """The same of any pod; `kind` and `maker` name what makes it, if something does."""
    ends = time.monotonic() + _STARTED
    stuck: tuple[str, float] = ("", 0.0)
    state: PodState | None = None
    while time.monotonic() < ends:
        state = namespace.pod(pod, where)
        if state is not None and (state.running or state.ends) and not state.never_ran:
            return state
        reason = state.reason if state is not None else ""
        if reason != stuck[0]:
            stuck = (reason, time.monotonic())
        if state is not None and (state.hopeless or state.never_ran):
            break
        if reason and time.monotonic() - stuck[1] >= _PATIENCE:
            break
        time.sleep(_INTERVAL)
    raise _failure(namespace, pod, where, state, kind, maker)


def _failure(
    namespace: Namespace, pod: str, where: str, state: PodState | None, kind: str, maker: str
) -> StayError:
    told = "it has no pod" if state is None else _said(state)
    warned = namespace.warnings("Pod", pod, where)
    if state is None and maker:
        warned = namespace.warnings(kind, maker, where)
    parts = [f"its pod did not start: {told}"]
    if warned:
        parts.append(f"the cluster warned: {'; '.join(warned)}")
    if log := namespace.log(pod, LAST_LINES, where).strip():
        parts.append(f"its log ends:\n{log}")
    return StayError(
        "; ".join(parts),
        where=where,
        hint=f"kubectl describe pod {pod} --namespace {namespace.name}",
    )


def _said(state: PodState) -> str:
    if not state.reason:
        return f"it has no container after {_STARTED:g} s"
    return ": ".join(part for part in (state.reason, state.message) if part)
