"""What the API says of a pod, as far as a member's life goes. Pure."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lightkube.models.core_v1 import (
    ContainerStateTerminated,
    ContainerStatus,
    PodStatus,
)
from lightkube.resources.core_v1 import Event, Pod

_UNDER_WAY = ("ContainerCreating", "PodInitializing")
_NEVER_RAN = ("StartError", "ContainerCannotRun")
"""Reasons of an end that came before the program could begin."""
_KILLED = 128 + signal.SIGKILL
_HOPELESS = frozenset(
    {
        "CrashLoopBackOff",
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "Evicted",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "RunContainerError",
    }
)
"""Reasons of a kubelet's that do not go away by waiting."""


@dataclass(frozen=True)
class End:
    """How a container ended."""

    container: str
    code: int
    reason: str

    @property
    def out_of_memory(self) -> bool:
        """Whether the kernel killed it for its memory."""
        return self.reason == "OOMKilled"

    def __str__(self) -> str:
        told = ", out of memory" if self.out_of_memory else ""
        return f"exit code {self.code}{told}"


@dataclass(frozen=True)
class PodState:
    """A pod with one container, before which others may run."""

    uid: str
    address: str
    """Its IPv4 address; empty before it has one."""
    container: str
    """Id of its present container, or the last; empty before there is one."""
    running: bool
    ends: tuple[End, ...]
    """The last ends that are known of its containers, the newest first."""
    reason: str
    """What keeps it from running, in one word of Kubernetes'; empty if nothing does."""
    message: str
    """The same in a sentence."""
    quality: str
    """Its quality-of-service class."""
    before: str = ""
    """Name of the container that has to end before that one begins; empty where none has."""
    before_runs: bool = False
    """Whether that one runs."""

    @property
    def first(self) -> str:
        """The oldest container that is known."""
        return self.ends[-1].container if self.ends else self.container

    @property
    def kept(self) -> str:
        """What keeps it from running, in a word and a sentence; empty if nothing does."""
        return ": ".join(filter(None, (self.reason, self.message)))

    @property
    def hopeless(self) -> bool:
        """Whether waiting does not help."""
        return self.reason in _HOPELESS

    @property
    def never_ran(self) -> bool:
        """Whether its container could not be started."""
        return self.reason in _NEVER_RAN

    def ended(self, container: str) -> End | None:
        """How a container of it ended; None if it is not known to have."""
        return next((end for end in self.ends if end.container == container), None)

    def may_say_why(self, container: str) -> bool:
        """Whether a container was killed for a reason that may still come: the runtime notes that
        memory was the reason when the end may be told already, and a kubelet looks again when it
        starts the next container."""
        end = self.ended(container)
        killed = end is not None and end.code == _KILLED and not end.out_of_memory
        return killed and self.container == container


def state_of(pod: Pod) -> PodState:
    """Read a pod's status."""
    status = pod.status or PodStatus()
    containers = status.containerStatuses or []
    first = containers[0] if containers else None
    earlier = next(filter(_is_due, status.initContainerStatuses or ()), None)
    reason, message = _kept_from_running(status, earlier or first)
    return PodState(
        uid=str((pod.metadata and pod.metadata.uid) or ""),
        address=status.podIP or "",
        container=_bare(first.containerID if first else None),
        running=bool(first and first.state and first.state.running),
        ends=tuple(map(_end, _terminated(first))),
        reason=reason,
        message=message,
        quality=status.qosClass or "",
        before=earlier.name if earlier else "",
        before_runs=bool(earlier and earlier.state and earlier.state.running),
    )


def _is_due(container: ContainerStatus) -> bool:
    """Whether a container that runs before others has not ended well."""
    ended = container.state.terminated if container.state else None
    return ended is None or ended.exitCode != 0


def warnings(events: Iterable[Event]) -> tuple[str, ...]:
    """What warnings say, each once and the newest last."""
    bad = [event for event in events if event.type == "Warning"]
    bad.sort(key=lambda event: str(event.lastTimestamp or event.eventTime or ""))
    said = (f"{event.reason}: {(event.message or '').strip()}" for event in bad)
    return tuple(dict.fromkeys(said))


def _kept_from_running(status: PodStatus, container: ContainerStatus | None) -> tuple[str, str]:
    if status.phase == "Failed":
        return status.reason or "Failed", status.message or ""
    for condition in status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.reason or "Unschedulable", condition.message or ""
    for told in _terminated(container):
        if told.reason in _NEVER_RAN:
            return told.reason, told.message or ""
    waiting = container.state.waiting if container and container.state else None
    if waiting is None or (waiting.reason or "") in _UNDER_WAY:
        return "", ""
    return waiting.reason or "Waiting", waiting.message or ""


def _terminated(container: ContainerStatus | None) -> Iterator[ContainerStateTerminated]:
    """Its last ends, the newest first."""
    if container is not None:
        for state in (container.state, container.lastState):
            if state is not None and state.terminated is not None:
                yield state.terminated


def _end(told: ContainerStateTerminated) -> End:
    return End(_bare(told.containerID), int(told.exitCode), told.reason or "")


def _bare(container: str | None) -> str:
    """A container's id without the name of the runtime, as in `containerd://0a1b`."""
    return (container or "").rpartition("//")[2]
