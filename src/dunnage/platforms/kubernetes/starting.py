"""Waiting until a pod has a container, or the reason why it will have none."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from dunnage.clusters.pod_state import PodState
from dunnage.errors import StayError
from dunnage.platforms.deadline import Deadline
from dunnage.platforms.kubernetes.carried import CARRIER
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.objects import pod_name
from dunnage.platforms.readiness import LAST_LINES

_PATIENCE = 15.0
"""Seconds after which what may still change is taken for what it is, such as no room on a node."""
_INTERVAL = 0.05


def await_container(namespace: Namespace, member: str, deadline: Deadline) -> PodState:
    """Wait until the container of a member's set was started, whether or not it still runs.

    Raises StayError with the reason, the cluster's warnings and the last lines of the log.
    """
    maker = "StatefulSet", member
    return await_started(namespace, pod_name(member), member, deadline, maker)


def await_carrier(namespace: Namespace, member: str, deadline: Deadline) -> None:
    """Wait until what runs before a member waits for its files; raises StayError as well."""
    maker = "StatefulSet", member
    await_started(namespace, pod_name(member), member, deadline, maker, _waits_for_files)


def _waits_for_files(state: PodState) -> bool:
    return state.before == CARRIER


def _has_run(state: PodState) -> bool:
    return bool(state.running or state.ends) and not state.never_ran


def await_started(
    namespace: Namespace,
    pod: str,
    where: str,
    deadline: Deadline,
    maker: tuple[str, str] | None = None,
    begun: Callable[[PodState], bool] = _has_run,
) -> PodState:
    """The same of any pod, or until it has `begun` otherwise; `maker` is the kind and the name of
    what makes it, if something does."""
    stuck: tuple[str, float] = ("", 0.0)
    while True:
        state = namespace.pod(pod, where, deadline)
        if state is not None and begun(state):
            return state
        reason = state.reason if state is not None else ""
        if reason != stuck[0]:
            stuck = (reason, time.monotonic())
        if state is not None and (state.hopeless or state.never_ran):
            break
        if reason and time.monotonic() - stuck[1] >= _PATIENCE:
            break
        if deadline.passed:
            break
        deadline.pause(_INTERVAL)
    asked = maker if state is None and maker is not None else ("Pod", pod)
    raise _failure(namespace, pod, where, _said(state, deadline), asked)


def _failure(
    namespace: Namespace, pod: str, where: str, told: str, asked: tuple[str, str]
) -> StayError:
    """The error for a pod that did not start, with what the cluster warned of what is `asked`."""
    parts = [f"its pod did not start: {told}"]
    for read in (
        partial(_warned, namespace, asked, where),
        partial(_ending, namespace, pod, where),
    ):
        try:
            parts.append(read())
        except StayError as error:  # it must not hide why the pod did not start
            parts.append(error.what)
    return StayError("; ".join(filter(None, parts)), where=where, hint=namespace.hint)


def _warned(namespace: Namespace, asked: tuple[str, str], where: str) -> str:
    warned = namespace.warnings(*asked, where)
    return f"the cluster warned: {'; '.join(warned)}" if warned else ""


def _ending(namespace: Namespace, pod: str, where: str) -> str:
    log = namespace.log(pod, LAST_LINES, where).strip()
    return f"its log ends:\n{log}" if log else ""


def _said(state: PodState | None, deadline: Deadline) -> str:
    if state is None:
        return f"it has no pod after {deadline.seconds:g} s"
    if not state.reason:
        return f"it has no container after {deadline.seconds:g} s"
    return ": ".join(part for part in (state.reason, state.message) if part)
