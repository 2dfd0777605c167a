"""A stay's namespace, as the API serves it.

What may be asked twice is asked again while the API server is away: it may be just restarted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, TypeVar

import httpx2
from lightkube import Client, codecs
from lightkube.models.core_v1 import ServicePort
from lightkube.resources.apps_v1 import StatefulSet
from lightkube.resources.core_v1 import (
    Event,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    Service,
)
from lightkube.resources.core_v1 import Namespace as NamespaceObject

from dunnage.clusters.account import of_events, of_nodes, of_pods
from dunnage.clusters.execute import CannotRunError, Place, execute
from dunnage.clusters.nodes import name as name_of
from dunnage.clusters.outage import Outage, is_away
from dunnage.clusters.pod_state import PodState, state_of, warnings
from dunnage.clusters.removal import await_gone, delete, is_there, unless_gone
from dunnage.contracts.host import Completed
from dunnage.deadline import Deadline
from dunnage.errors import RunError, StayError
from dunnage.kubernetes_api import GONE, Refused, explanation, refusal_of
from dunnage.platforms.execute import NOT_RUN
from dunnage.platforms.kubernetes.addresses import Served
from dunnage.platforms.kubernetes.claim import Claim
from dunnage.platforms.kubernetes.objects import Manifest
from dunnage.platforms.kubernetes.spoken import spoken
from dunnage.platforms.stay_names import StayNames

_INTERVAL = 0.05
_LOST_LOG = "unable to retrieve container logs for "
"""What a kubelet tells in the place of a log while it replaces the container that wrote it."""
_REPLACED = 5.0
"""Seconds within which the next container can be asked."""
_LOGGED = 20.0
"""Seconds for which a log is asked for again: whose node is gone, nobody can ask."""

T = TypeVar("T")


class Namespace:
    """All that a stay has in a cluster, and nothing else.

    Nothing is deleted while the namespace is not surely the stay's.
    """

    def __init__(
        self,
        client: Client,
        session: httpx2.Client,
        stay: StayNames,
        asking: Callable[[str], str],
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """`asking` makes a `kubectl` command about the cluster, and `labels` are those of the
        namespace besides its own."""
        self._client = client
        self._session = session
        self._stay = stay
        self._asking = asking
        self._has_volumes = False
        self._released = False
        self._outage = Outage()
        self._claim = Claim(client, stay, asking, labels or {}, self._outage)

    @property
    def name(self) -> str:
        return self._stay.network

    @property
    def hint(self) -> str:
        """What is there to look at once a stay is over: its namespace and events go with it."""
        return self._asking("describe nodes")

    def close(self) -> None:
        """Close the connections, whatever is left of the stay."""
        self._client.close()
        self._session.close()

    def begin(self) -> None:
        """Create it, once. Raises UnavailableError when there is one of that name already.

        Where an answer is lost it may be there all the same, and is removed by `end`.
        """
        self._claim.make()

    def create(self, manifest: Manifest, where: str) -> Any:
        """Create an object of it, for a member or a host; raises StayError."""
        self._has_volumes = self._has_volumes or manifest["kind"] == "PersistentVolume"
        what = f"its {manifest['kind']} cannot be created"
        with self._spoken(what, where):
            return self._client.create(_object(manifest))

    def service(self, manifest: Manifest, where: str) -> Served:
        """Create a service; returns what the cluster chose for it."""
        created: Service = self.create(manifest, where)
        ports: list[ServicePort] = (created.spec and created.spec.ports) or []
        address = str((created.spec and created.spec.clusterIP) or "")
        return Served(address, {each.port: each.nodePort for each in ports if each.nodePort})

    def create_all(self, manifests: Sequence[Manifest], where: str, deadline: Deadline) -> None:
        """Create objects in their order, each storage once what it is asked of was taken in.

        A claim to a volume that the cluster has not taken in yet stays unbound until the cluster
        looks again, which takes 15 s, and a pod whose claim is unbound fits no node. Raises
        StayError when not all storage was taken in within the deadline.
        """
        for manifest in manifests:
            self.create(manifest, where)
            name = manifest["metadata"]["name"]
            match manifest["kind"]:
                case "PersistentVolume":
                    self._until(
                        partial(self._volume_is_available, name, where, deadline),
                        deadline,
                        f"volume `{name}` is not available",
                        where,
                    )
                case "PersistentVolumeClaim":
                    self._until(
                        partial(self._claim_is_bound, name, where, deadline),
                        deadline,
                        f"claim `{name}` is not bound",
                        where,
                    )

    def _volume_is_available(self, name: str, where: str, deadline: Deadline) -> bool:
        ask = partial(self._client.get, PersistentVolume, name)
        seen = self._asked(ask, "its volume cannot be inspected", where, deadline).status
        return seen is not None and seen.phase == "Available"

    def _claim_is_bound(self, name: str, where: str, deadline: Deadline) -> bool:
        ask = partial(self._client.get, PersistentVolumeClaim, name, namespace=self.name)
        seen = self._asked(ask, "its claim cannot be inspected", where, deadline).status
        return seen is not None and seen.phase == "Bound"

    def pod(self, name: str, where: str, deadline: Deadline | None = None) -> PodState | None:
        """The state of a pod; None if there is none."""

        def ask() -> PodState | None:
            with unless_gone():
                return state_of(self._client.get(Pod, name, namespace=self.name))
            return None

        return self._asked(ask, "its pod cannot be inspected", where, deadline)

    def warnings(self, kind: str, name: str, where: str) -> tuple[str, ...]:
        """What the cluster warned of an object."""
        fields = {"involvedObject.kind": kind, "involvedObject.name": name}

        def ask() -> tuple[str, ...]:
            return warnings(self._client.list(Event, namespace=self.name, fields={**fields}))

        return self._asked(ask, "events cannot be read", where)

    def account(self) -> str:
        """What the cluster tells of the stay's pods, of their nodes and of all that happened.

        Events are named as not known where this user may not read them.
        """
        pods: list[Pod] = self._asked(
            lambda: [*self._client.list(Pod, namespace=self.name)], "pods cannot be listed"
        )
        nodes: list[Node] = self._asked(
            lambda: [*self._client.list(Node)], "nodes cannot be listed"
        )
        used = {pod.spec.nodeName for pod in pods if pod.spec is not None}
        try:
            happened = [*of_events(self._asked(self._events, "events cannot be read"))]
        except StayError as refused:
            happened = [refused.what]
        lines = (
            f"namespace {self.name}",
            *of_pods(pods),
            *of_nodes(each for each in nodes if not used - {None} or name_of(each) in used),
            "events, the oldest first:",
            *(happened or ["none"]),
        )
        return "".join(f"{line}\n" for line in lines)

    def _events(self) -> list[Event]:
        return [*self._client.list(Event, namespace=self.name)]

    def log(
        self, pod: str, lines: int, where: str, *, previous: bool = False, container: str = ""
    ) -> str:
        """The last lines that a pod's container wrote, or the `previous` one; nothing before there
        is one. `container` names one that runs before a member's."""
        asked = {"container": container} if container else {}
        ask = partial(self._log, pod, {"tailLines": lines, "previous": previous, **asked})
        what, within = "the pod's log cannot be read", Deadline.after(_REPLACED)
        told = self._asked(ask, what, where, Deadline.after(_LOGGED))
        while told.startswith(_LOST_LOG) and not within.passed:
            within.pause(_INTERVAL)
            told = self._asked(ask, what, where, Deadline.after(_LOGGED))
        return told

    def _log(self, pod: str, asked: Mapping[str, str | int | bool]) -> str:
        """lightkube has no words for the container before."""
        answer = self._session.get(
            f"/api/v1/namespaces/{self.name}/pods/{pod}/log", params={**asked}
        )
        if answer.status_code in (400, GONE):
            return ""
        if not answer.is_success:
            raise refusal_of(answer)
        return answer.text

    def execute(
        self,
        pod: str,
        container: str,
        argv: Sequence[str],
        *,
        stdin: bytes,
        timeout: float,
        where: str,
    ) -> Completed:
        """Run a command in a container to its end.

        Raises RunError after `timeout` seconds, or when the API server is away: nobody knows then
        whether the command was run. What the container cannot run gives the exit code `NOT_RUN`.
        """
        try:
            place = Place(self.name, pod, container)
            return execute(self._session, place, argv, stdin=stdin, timeout=timeout)
        except CannotRunError as error:
            return Completed(NOT_RUN, "", str(error))
        except TimeoutError as error:
            raise RunError(
                f"`{' '.join(argv)}` did not end within {timeout:g} s", where=where
            ) from error
        except Refused as refusal:
            failure = RunError if is_away(refusal) else StayError
            raise failure(
                f"a command cannot be run in the pod: {explanation(refusal)}",
                where=where,
                hint=self.hint,
            ) from refusal

    def let_go(self, member: str, pod: str, *, lost: bool) -> None:
        """Have a member's set and its pod deleted; `await_gone` waits for that.

        A pod whose host is `lost` is only forgotten: nobody there can end it.
        """
        if self._claim.holds():
            self._delete("its set", StatefulSet, member, member)
            self._delete_pod(pod, member, lost=lost)

    def await_gone(self, pod: str, where: str) -> None:
        """Wait until a pod that was deleted is gone."""
        if self._claim.holds():
            self._await_gone(f"pod `{pod}`", lambda: self.pod(pod, where) is not None, where)

    def remove_pod(self, pod: str, where: str, *, lost: bool) -> None:
        """End a pod and wait until it is gone."""
        if self._claim.holds():
            self._delete_pod(pod, where, lost=lost)
            self.await_gone(pod, where)

    def end_pod(self, pod: str, uid: str, where: str) -> None:
        """End a member's pod without warning, and wait until it is gone: its set makes another one
        of that name at once."""

        def there() -> bool:
            state = self.pod(pod, where)
            return state is not None and state.uid == uid

        if self._claim.holds() and there():
            self._delete_pod(pod, where, lost=True)
            self._await_gone(f"pod `{pod}`", there, where)

    def release(self) -> None:
        """Have it deleted with all that is in it; `end` waits for that.

        A cluster lets five seconds pass before it acts: pods may end meanwhile.
        """
        if self._released or not self._claim.holds():
            return
        ask = partial(delete, self._client, NamespaceObject, self.name)
        self._asked(ask, "the stay's namespace cannot be removed")
        self._released = True

    def end(self) -> None:
        """Remove all that is left of the stay, and wait until namespace and volumes are gone."""
        if not self._claim.holds():
            return
        self.release()
        ask = partial(is_there, self._client, NamespaceObject, self.name)
        what = "the stay's namespace cannot be inspected"
        self._await_gone(f"namespace `{self.name}`", lambda: self._asked(ask, what))
        self._remove_volumes()
        self._claim.end()
        self._released = False

    def leave(self) -> None:
        """Remove the stay's services and volumes, and leave the empty namespace to the cluster.

        For one of ours, which ends with its lab: that a namespace goes takes five seconds, in which
        nothing of the stay is there any more.
        """
        if not self._claim.holds():
            return
        self.release()
        self._remove_all("the stay's services", Service)
        if self._has_volumes:
            self._remove_all("the stay's claims", PersistentVolumeClaim)
        self._remove_volumes()
        self._claim.end()
        self._released = False

    def _remove_all(self, what: str, kind: type[Service | PersistentVolumeClaim]) -> None:
        ask = partial(_names, self._client, kind, namespace=self.name)
        for each in self._asked(ask, f"{what} cannot be listed"):
            self._delete(what, kind, each)

    def _remove_volumes(self) -> None:
        """Remove those of the stay, which are in no namespace. Who has made none may not be allowed
        to ask for any."""
        if not self._has_volumes:
            return
        ask = partial(_names, self._client, PersistentVolume, labels={**self._stay.labels})

        def left() -> list[str]:
            return self._asked(ask, "the stay's volumes cannot be listed")

        found = left()
        for each in found:
            remove = partial(delete, self._client, PersistentVolume, each)
            self._asked(remove, "the stay's volumes cannot be removed")
        if found:
            self._await_gone(f"a volume of `{self.name}`", lambda: bool(left()))
        self._has_volumes = False

    def _delete_pod(self, pod: str, where: str, *, lost: bool) -> None:
        self._delete("its pod", Pod, pod, where, grace=0 if lost else None)

    def _delete(
        self,
        what: str,
        kind: Any,
        name: str,
        where: str = "kubernetes",
        grace: int | None = None,
    ) -> None:
        """Have something in the namespace deleted."""
        ask = partial(delete, self._client, kind, name, self.name, grace)
        self._asked(ask, f"{what} cannot be removed", where)

    def _await_gone(self, what: str, there: Callable[[], bool], where: str = "kubernetes") -> None:
        await_gone(what, there, StayError, where=where, hint=self.hint)

    def _until(
        self,
        done: Callable[[], bool],
        deadline: Deadline,
        complaint: str,
        where: str = "kubernetes",
    ) -> None:
        while not done():
            if deadline.passed:
                late = f"{complaint} after {deadline.seconds:g} s"
                raise StayError(late, where=where, hint=self.hint)
            deadline.pause(_INTERVAL)

    def _asked(
        self,
        ask: Callable[[], T],
        what: str,
        where: str = "kubernetes",
        deadline: Deadline | None = None,
    ) -> T:
        """What is answered to a question that may be asked twice.

        `what` is the complaint when it is refused, or when the API server is away beyond the
        deadline or for too long.
        """
        with self._spoken(what, where):
            return self._outage.asked(ask, deadline)

    def _spoken(self, what: str, where: str = "kubernetes") -> AbstractContextManager[None]:
        return spoken(what, where, self.hint)


def _names(client: Client, kind: Any, **chosen: Any) -> list[str]:
    """Of all objects of a kind that are chosen so."""
    found = (each.metadata for each in client.list(kind, **chosen))
    return [str(each.name) for each in found if each is not None]


def _object(manifest: Manifest) -> Any:
    return codecs.from_dict(manifest)
