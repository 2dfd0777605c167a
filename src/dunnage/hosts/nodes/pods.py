"""Agents' pods, as the API serves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from lightkube import ApiError, Client, codecs
from lightkube.resources.core_v1 import Event, Namespace, Pod

from dunnage.clusters.begun import NotBegunError, await_begun
from dunnage.clusters.context import Context
from dunnage.clusters.outage import Outage
from dunnage.clusters.pod_state import PodState, state_of, warnings
from dunnage.clusters.removal import delete, take_away
from dunnage.deadline import Deadline
from dunnage.errors import UnavailableError
from dunnage.hosts.nodes.manifests import CONTAINER, Agent, Manifest, agent_pod
from dunnage.kubernetes_api import FORBIDDEN, Refused, status_of

_STARTED = 180.0
"""Seconds within which an image is pulled and a pod started."""
_ACCOUNT = 30.0
"""Seconds within which a namespace has the account that its pods belong to."""
_INTERVAL = 0.1
_INVALID = 422
"""HTTP status of an object that does not fit."""
_NO_ACCOUNT = "service account"
"""What an API server says where a namespace is too new for pods."""


class Pods:
    """Agents' pods in one namespace."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        labels: Mapping[str, str],
        context: Context,
    ) -> None:
        """`labels` are for every pod, and `context` is that of the cluster."""
        self._client = client
        self._namespace = namespace
        self._labels = labels
        self._context = context
        self._outage = Outage()

    def hold(self, manifest: Manifest) -> None:
        """Make the namespace that holds them; raises `Refused`."""
        self._client.create(codecs.from_dict(manifest))

    def refusal(self, agent: Agent) -> str:
        """Why the cluster does not take a pod, in its own words; empty where it would.

        Nothing is made. Raises `Refused` for another answer than that.
        """
        return self._offered(agent, dry=True)

    def create(self, agent: Agent) -> None:
        """Make a pod; raises UnavailableError where the cluster does not take it."""
        if why := self._offered(agent, dry=False):
            raise UnavailableError(
                f"the cluster takes no agent's pod: {why}",
                where=agent.host,
                hint=self._context.ours("doctor"),
            )

    def _offered(self, agent: Agent, *, dry: bool) -> str:
        deadline = Deadline.after(_ACCOUNT)
        while True:
            try:
                pod = codecs.from_dict(agent_pod(agent, self._labels))
                self._client.create(pod, dry_run=dry)
            except ApiError as refusal:
                if status_of(refusal) not in (FORBIDDEN, _INVALID):
                    raise
                told = str(refusal)
                if _NO_ACCOUNT not in told or deadline.passed:
                    return told
                deadline.pause(_INTERVAL)
            else:
                return ""

    def await_running(self, agents: Sequence[Agent]) -> None:
        """Wait until each runs; raises UnavailableError with the reason, and its last words."""
        deadline = Deadline.after(_STARTED)
        for agent in agents:
            try:
                state = await_begun(partial(self._state, agent), _has_begun, deadline)
            except NotBegunError as never:
                raise self._failed(agent, str(never)) from never
            if not state.running:
                raise self._failed(agent, state.kept or "its agent has ended")

    def _state(self, agent: Agent) -> PodState:
        return state_of(self._seen(agent))

    def _seen(self, agent: Agent) -> Pod:
        return self._outage.asked(
            lambda: self._client.get(Pod, agent.pod, namespace=self._namespace)
        )

    def image(self, agent: Agent) -> str | None:
        """The image that a pod runs, by its content; None where its node does not tell."""
        pod = self._seen(agent)
        told = (pod.status and pod.status.containerStatuses) or ()
        return next((each.imageID for each in told if each.imageID), None)

    def failure(self, agent: Agent) -> UnavailableError:
        """The error for an agent that ran and is not there any more."""
        return self._failed(agent, "its agent has ended")

    def _failed(self, agent: Agent, why: str) -> UnavailableError:
        """The pod itself is removed before anybody could look at it: the hint is its node's."""
        parts = [f"the agent's pod does not run on node `{agent.node}`: {why}"]
        if warned := self._warnings(agent):
            parts.append(f"the cluster warned: {'; '.join(warned)}")
        if log := self._log(agent):
            parts.append(f"its log ends: {log}")
        return UnavailableError(
            "; ".join(parts),
            where=agent.host,
            hint=self._context.asking(f"describe node {agent.node}"),
        )

    def _warnings(self, agent: Agent) -> tuple[str, ...]:
        fields = {"involvedObject.kind": "Pod", "involvedObject.name": agent.pod}
        try:
            return warnings(self._client.list(Event, namespace=self._namespace, fields={**fields}))
        except Refused:  # it must not hide why it does not run
            return ()

    def _log(self, agent: Agent) -> str:
        try:
            lines = self._client.log(
                agent.pod, namespace=self._namespace, container=CONTAINER, tail_lines=5
            )
            return "".join(lines).strip()
        except Refused:
            return ""

    def remove(self, agent: Agent) -> None:
        """Remove a pod, if it is there, and wait until its node has ended it.

        Raises UnavailableError where it stays.
        """
        take_away(
            self._client,
            Pod,
            [agent.pod],
            self._context.asking,
            namespace=self._namespace,
            where=agent.host,
        )

    def forget(self, agent: Agent) -> None:
        """Have a pod removed whose node is lost: nobody there can end it."""
        ask = partial(delete, self._client, Pod, agent.pod, self._namespace, grace=0)
        self._outage.asked(ask)

    def release(self) -> None:
        """Have the namespace deleted with all in it, and wait until it is gone.

        Raises UnavailableError where it stays.
        """
        take_away(self._client, Namespace, [self._namespace], self._context.asking)


def _has_begun(state: PodState) -> bool:
    """Whether it runs, or has ended: it is not started again."""
    return bool(state.running or state.ends)
