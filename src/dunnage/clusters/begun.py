"""Waiting until a pod has begun what it is there for, or it is known why it will not."""

from __future__ import annotations

import time
from collections.abc import Callable

from dunnage.clusters.pod_state import PodState
from dunnage.deadline import Deadline

_PATIENCE = 20.0
"""Seconds after which what may still change is taken for what it is, such as no room on a node."""
_INTERVAL = 0.05


class NotBegunError(Exception):
    """A pod that has not begun. The text is why; `state` is what was seen last, None for no pod."""

    def __init__(self, state: PodState | None, deadline: Deadline) -> None:
        super().__init__(_why(state, deadline))
        self.state = state


def await_begun(
    look: Callable[[], PodState | None], begun: Callable[[PodState], bool], deadline: Deadline
) -> PodState:
    """Look at a pod until it has `begun`, or there is no hope that it will.

    Raises NotBegunError, what `look` raises, and StayError where all is given up.
    """
    reason, since = "", 0.0
    while True:
        state = look()
        if state is not None and begun(state):
            return state
        if (now := state.reason if state is not None else "") != reason:
            reason, since = now, time.monotonic()
        hopeless = state is not None and (state.hopeless or state.never_ran)
        stuck = bool(reason) and time.monotonic() - since >= _PATIENCE
        if hopeless or stuck or deadline.passed:
            raise NotBegunError(state, deadline)
        deadline.pause(_INTERVAL)


def _why(state: PodState | None, deadline: Deadline) -> str:
    if state is None:
        return f"it has no pod after {deadline.seconds:g} s"
    if not state.reason:
        return f"it has no container after {deadline.seconds:g} s"
    return state.kept
