"""One member in its pod, as its host and the cluster tell it."""

from __future__ import annotations

from dataclasses import dataclass

from dunnage.clusters.pod_state import PodState
from dunnage.contracts.host import Completed, Host, confinement
from dunnage.contracts.platform import RunningMember, Seen, Unseen
from dunnage.contracts.software import Tree
from dunnage.deadline import Deadline
from dunnage.errors import StayError
from dunnage.model.layout import Service
from dunnage.platforms.engine_commands import ask_engine, is_for_engine
from dunnage.platforms.execute import NOT_RUN
from dunnage.platforms.image_of_tree import command
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.objects import CONTAINER, pod_name
from dunnage.platforms.kubernetes.process import first_process

_ENDED = Unseen("it has ended")
_TOLD, _INTERVAL = 20.0, 0.1
"""Seconds within which a kubelet tells that a process has ended, and between two questions."""
_SAID_WHY = 10.0
"""Seconds within which it tells why it was killed, if it ever does."""


@dataclass(frozen=True)
class PodMember:
    """A member whose container was started."""

    service: Service
    host: Host
    tree: Tree
    namespace: Namespace
    uid: str
    """Of its pod."""
    container: str
    """Id of its container: the one that was started first is the member."""

    @property
    def hint(self) -> str:
        return self.namespace.hint

    @property
    def name(self) -> str:
        """The member's."""
        return self.service.member

    @property
    def pod(self) -> str:
        """Name of its pod."""
        return pod_name(self.name)

    def identified(self) -> RunningMember:
        """With its process, where its host may see that and it has not ended.

        Raises StayError when it is not there though its kubelet says that it runs.
        """
        return RunningMember(self.name, self.host, self._process())

    def ended(self) -> str | None:
        """How it ended, or None while it lives. Whom its host sees need not be asked for."""
        if not confinement(self.host) and self._seen() is not None:
            return None
        state = self._state()
        deadline = Deadline.after(_SAID_WHY)
        while state and state.may_say_why(self.container) and not deadline.passed:
            deadline.pause(_INTERVAL)
            state = self._state()
        return self._end_of(state)

    def run(self, argv: tuple[str, ...], *, stdin: str, timeout: float) -> Completed:
        """Run a command in the container, or the host's engine in the container's network."""
        if is_for_engine(argv):
            return self._ask_engine(argv, stdin=stdin, timeout=timeout)
        return self._execute(command(argv, self.tree), stdin=stdin, timeout=timeout)

    def log(self, lines: int) -> str:
        """The last lines that it wrote, though another container may be in its place; where its own
        are gone, those of that one, which says so first."""
        state = self._state()
        while True:
            told = self._told(state, lines)
            earlier, state = state, self._state()
            if _present(earlier) == _present(state):
                return told

    def _execute(self, argv: tuple[str, ...], *, stdin: str, timeout: float) -> Completed:
        return self.namespace.execute(
            self.pod, CONTAINER, argv, stdin=stdin.encode(), timeout=timeout, where=self.name
        )

    def _told(self, state: PodState | None, lines: int) -> str:
        """What is read in this state; in another one it may be of another container."""
        present = _present(state)
        if present in ("", self.container):
            return self.namespace.log(self.pod, lines, self.name)
        if state is not None and state.ended(self.container) is not None:
            return self.namespace.log(self.pod, lines, self.name, previous=True)
        told = self.namespace.log(self.pod, lines, self.name)
        return f"(the log of its container is gone; this is of container {present[:12]})\n{told}"

    def _seen(self) -> Seen | None:
        return first_process(self.host, self.container, self.name)

    def _state(self) -> PodState | None:
        return self.namespace.pod(self.pod, self.name)

    def _told_end(self) -> str | None:
        """How it ended, as the cluster tells; None while that believes it alive."""
        return self._end_of(self._state())

    def _end_of(self, state: PodState | None) -> str | None:
        if state is None:
            return "its pod was deleted"
        if state.uid != self.uid:
            return "its pod was deleted and made anew"
        if (end := state.ended(self.container)) is not None:
            return str(end)
        if state.reason == "Evicted":
            return f"evicted, {state.message}"
        return None if state.container == self.container else "it was started anew"

    def _process(self) -> Seen | Unseen:
        if why := confinement(self.host):
            return Unseen(why)
        if (seen := self._seen()) is not None:
            return seen
        self._await_end()
        return _ENDED

    def _await_end(self) -> None:
        """Wait until the cluster tells that the member has ended; StayError when it has not."""
        deadline = Deadline.after(_TOLD)
        while self._told_end() is None:
            if deadline.passed:
                raise StayError(
                    f"its kubelet says that container {self.container[:12]} runs, but its host has "
                    "no first process of it",
                    where=self.name,
                    hint=self.hint,
                )
            deadline.pause(_INTERVAL)

    def _ask_engine(self, argv: tuple[str, ...], *, stdin: str, timeout: float) -> Completed:
        """In the member's network; inside its container where the host cannot enter that."""
        process = self._process()
        if isinstance(process, Seen):
            network = ("nsenter", f"--target={process.pid}", "--net")
            return ask_engine(self.host, argv, stdin=stdin, timeout=timeout, within=network)
        if self._told_end() is not None:
            return Completed(NOT_RUN, "", "the container is not running")
        return self._execute((self.host.engine, *argv[1:]), stdin=stdin, timeout=timeout)


def _present(state: PodState | None) -> str:
    """Id of the container that a log is of; empty where there is none."""
    return state.container if state is not None else ""
