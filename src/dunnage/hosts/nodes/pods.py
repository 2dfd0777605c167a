"""Agents' pods, as the API serves them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from lightkube import ApiError, Client, codecs
from lightkube.resources.core_v1 import Event, Pod

from dunnage.clusters.left import take_away
from dunnage.clusters.pod_state import state_of, warnings
from dunnage.errors import UnavailableError
from dunnage.hosts.nodes.manifests import CONTAINER, Agent, Manifest, agent_pod

_STARTED = 180.0
"""Seconds within which an image is pulled and a pod started."""
_ACCOUNT = 30.0
"""Seconds within which a namespace has the account that its pods belong to."""
_PATIENCE = 20.0
"""Seconds after which what may still change is taken for what it is, such as no room on a node."""
_INTERVAL = 0.1
_FORBIDDEN, _INVALID, _GONE = 403, 422, 404
_NO_ACCOUNT = "service account"
"""What an API server says where a namespace is too new for pods."""
_ENDED = ("Succeeded", "Failed")


class Pods:
    """Agents' pods in one namespace."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        labels: Mapping[str, str],
        asking: Callable[[str], str],
    ) -> None:
        """`labels` are for every pod, and `asking` makes a `kubectl` command about the cluster."""
        self._client = client
        self._namespace = namespace
        self._labels = labels
        self._asking = asking

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
                hint=self._asking(f"get namespace {self._namespace} --show-labels"),
            )

    def _offered(self, agent: Agent, *, dry: bool) -> str:
        ends = time.monotonic() + _ACCOUNT
        while True:
            try:
                pod = codecs.from_dict(agent_pod(agent, self._labels))
                self._client.create(pod, dry_run=dry)
            except ApiError as refusal:
                if refusal.status.code not in (_FORBIDDEN, _INVALID):
                    raise
                told = str(refusal)
                if _NO_ACCOUNT not in told or time.monotonic() > ends:
                    return told
                time.sleep(_INTERVAL)
            else:
                return ""

    def await_running(self, agents: Sequence[Agent]) -> None:
        """Wait until each runs; raises UnavailableError with the reason, and its last words."""
        ends = time.monotonic() + _STARTED
        for agent in agents:
            self._await(agent, ends)

    def _await(self, agent: Agent, ends: float) -> None:
        stuck = "", time.monotonic()
        while True:
            pod = self._client.get(Pod, agent.pod, namespace=self._namespace)
            state = state_of(pod)
            phase = (pod.status and pod.status.phase) or ""
            if state.running:
                return
            if state.reason != stuck[0]:
                stuck = state.reason, time.monotonic()
            now = time.monotonic()
            late = state.reason and now - stuck[1] > _PATIENCE
            if phase in _ENDED or state.hopeless or late or now > ends:
                told = ": ".join(filter(None, (state.reason, state.message)))
                raise self._failed(agent, told or f"it is {phase or 'unknown'}")
            time.sleep(_INTERVAL)

    def image(self, agent: Agent) -> str | None:
        """The image that a pod runs, by its content; None where its node does not tell."""
        pod = self._client.get(Pod, agent.pod, namespace=self._namespace)
        told = (pod.status and pod.status.containerStatuses) or ()
        return next((each.imageID for each in told if each.imageID), None)

    def failure(self, agent: Agent) -> UnavailableError:
        """The error for an agent that ran and is not there any more."""
        return self._failed(agent, "its agent has ended")

    def _failed(self, agent: Agent, why: str) -> UnavailableError:
        parts = [f"the agent's pod does not run on node `{agent.node}`: {why}"]
        if warned := self._warnings(agent):
            parts.append(f"the cluster warned: {'; '.join(warned)}")
        if log := self._log(agent):
            parts.append(f"its log ends: {log}")
        return UnavailableError(
            "; ".join(parts),
            where=agent.host,
            hint=self._asking(f"describe pod {agent.pod} --namespace {self._namespace}"),
        )

    def _warnings(self, agent: Agent) -> tuple[str, ...]:
        fields = {"involvedObject.kind": "Pod", "involvedObject.name": agent.pod}
        try:
            return warnings(self._client.list(Event, namespace=self._namespace, fields={**fields}))
        except ApiError:
            return ()

    def _log(self, agent: Agent) -> str:
        try:
            lines = self._client.log(
                agent.pod, namespace=self._namespace, container=CONTAINER, tail_lines=5
            )
            return "".join(lines).strip()
        except ApiError:
            return ""

    def remove(self, agent: Agent) -> None:
        """Remove a pod, if it is there, and wait until its node has ended it.

        Raises UnavailableError where it stays.
        """
        ends = time.monotonic() + _STARTED
        try:
            self._client.delete(Pod, agent.pod, namespace=self._namespace)
            while time.monotonic() < ends:
                self._client.get(Pod, agent.pod, namespace=self._namespace)
                time.sleep(_INTERVAL)
        except ApiError as refusal:
            if refusal.status.code != _GONE:
                raise
            return
        raise UnavailableError(
            f"the agent's pod on node `{agent.node}` is still there after {_STARTED:g} s",
            where=agent.host,
            hint=self._asking(f"describe pod {agent.pod} --namespace {self._namespace}"),
        )

    def release(self) -> None:
        """Have the namespace deleted with all in it, and wait until it is gone.

        Raises UnavailableError where it stays.
        """
        take_away(self._client, self._asking, spaces=[self._namespace])
