"""Waiting until a pod has a container, or the reason why it will have none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dunnage.clusters.begun import NotBegunError, await_begun
from dunnage.clusters.pod_state import PodState
from dunnage.deadline import Deadline
from dunnage.errors import StayError
from dunnage.platforms.kubernetes.carried import CARRIER
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.objects import pod_name
from dunnage.platforms.readiness import LAST_LINES


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
    return state.before == CARRIER and state.before_runs


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
    try:
        return await_begun(partial(namespace.pod, pod, where, deadline), begun, deadline)
    except NotBegunError as never:
        asked = maker if never.state is None and maker is not None else ("Pod", pod)
        raise _failure(namespace, pod, where, never, asked) from never


def _failure(
    namespace: Namespace, pod: str, where: str, never: NotBegunError, asked: tuple[str, str]
) -> StayError:
    """The error for a pod that did not start, with what the cluster warned of what is `asked`, and
    the log of the container that is to blame."""
    container = never.state.before if never.state is not None else ""
    parts = [f"its pod did not start: {never}"]
    for read in (
        partial(_warned, namespace, asked, where),
        partial(_ending, namespace, pod, where, container),
    ):
        try:
            parts.append(read())
        except StayError as error:  # it must not hide why the pod did not start
            parts.append(error.what)
    return StayError("; ".join(filter(None, parts)), where=where, hint=namespace.hint)


def _warned(namespace: Namespace, asked: tuple[str, str], where: str) -> str:
    warned = namespace.warnings(*asked, where)
    return f"the cluster warned: {'; '.join(warned)}" if warned else ""


def _ending(namespace: Namespace, pod: str, where: str, container: str) -> str:
    log = namespace.log(pod, LAST_LINES, where, container=container).strip()
    return f"its log ends:\n{log}" if log else ""
