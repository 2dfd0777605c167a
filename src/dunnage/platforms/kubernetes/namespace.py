"""A stay's namespace, as the API serves it.

What may be asked twice is asked again while the API server is away: it may be just restarted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, TypeVar

import httpx2
from lightkube import ApiError, Client, codecs
from lightkube.models.core_v1 import ServicePort
from lightkube.resources.apps_v1 import StatefulSet
from lightkube.resources.core_v1 import (
    Event,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    Service,
)
from lightkube.resources.core_v1 import Namespace as NamespaceObject

from dunnage.clusters.execute import CannotRunError, Place, execute, refusal_of
from dunnage.clusters.pod_state import PodState, state_of, warnings
from dunnage.contracts.host import Completed
from dunnage.errors import RunError, StayError, UnavailableError
from dunnage.kubernetes_api import Refused, explanation
from dunnage.platforms.deadline import Deadline
from dunnage.platforms.execute import NOT_RUN
from dunnage.platforms.kubernetes.addresses import Served
from dunnage.platforms.kubernetes.objects import Manifest, namespace
from dunnage.platforms.kubernetes.outage import AWAY, Outage, is_away
from dunnage.platforms.stay_names import StayNames

_REMOVED = 60.0
"""Seconds within which what is deleted is gone."""
_INTERVAL = 0.05
_GONE, _TAKEN = 404, 409
"""HTTP status of what is not there, and of a name that something else has."""
_LOST_LOG = "unable to retrieve container logs for "
"""What a kubelet tells in the place of a log while it replaces the container that wrote it."""
_REPLACED = 5.0
"""Seconds within which the next container can be asked."""

T = TypeVar("T")


class Namespace:
    """All that a stay has in a cluster, and nothing else."""

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
        self._labels = labels or {}
        self._client = client
        self._session = session
        self._stay = stay
        self._asking = asking
        self._begun = False
        self._released = False
        self._outage = Outage()

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
        if self._begun:
            return
        self._begun = True
        try:
            self._asked(self._make, "the stay's namespace cannot be created")
        except StayError as error:
            self._begun = not _is_definite(error.__cause__)
            if _status(error.__cause__) != _TAKEN:
                raise
            raise UnavailableError(
                f"there is a namespace `{self.name}` that is not of this stay",
                where="kubernetes",
                hint=self._asking(f"get namespace {self.name} --show-labels"),
            ) from error

    def _make(self) -> None:
        """Create it, unless that was done by a call whose answer was lost."""
        try:
            self._client.create(_object(namespace(self._stay, self._labels)))
        except ApiError as refusal:
            if _status(refusal) != _TAKEN or not self._is_ours():
                raise

    def _is_ours(self) -> bool:
        """Whether the one that is there has the label of the stay, which no other stay has."""
        there = self._client.get(NamespaceObject, self.name)
        labels = (there.metadata and there.metadata.labels) or {}
        return self._stay.labels.items() <= labels.items()

    def create(self, manifest: Manifest, where: str) -> Any:
        """Create an object of it, for a member or a host; raises StayError."""
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
            try:
                return state_of(self._client.get(Pod, name, namespace=self.name))
            except ApiError as refusal:
                if _status(refusal) == _GONE:
                    return None
                raise

        return self._asked(ask, "its pod cannot be inspected", where, deadline)

    def warnings(self, kind: str, name: str, where: str) -> tuple[str, ...]:
        """What the cluster warned of an object."""
        fields = {"involvedObject.kind": kind, "involvedObject.name": name}
        with self._spoken("events cannot be read", where):
            return warnings(self._client.list(Event, namespace=self.name, fields={**fields}))

    def log(self, pod: str, lines: int, where: str, *, previous: bool = False) -> str:
        """The last lines that a pod's container wrote, or the `previous` one; nothing before there
        is one."""
        within = Deadline.after(_REPLACED)
        told = self._log(pod, lines, where, previous=previous)
        while told.startswith(_LOST_LOG) and not within.passed:
            within.pause(_INTERVAL)
            told = self._log(pod, lines, where, previous=previous)
        return told

    def _log(self, pod: str, lines: int, where: str, *, previous: bool) -> str:
        """lightkube has no words for the container before."""
        with self._spoken("the pod's log cannot be read", where):
            answer = self._session.get(
                f"/api/v1/namespaces/{self.name}/pods/{pod}/log",
                params={"tailLines": lines, "previous": previous},
            )
            if answer.status_code in (400, _GONE):
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
        ask = partial(self._client.delete, StatefulSet, member, namespace=self.name)
        self._asked(partial(_if_there, ask), "its set cannot be removed", member)
        self._delete_pod(pod, member, lost=lost)

    def await_gone(self, pod: str, where: str) -> None:
        """Wait until a pod that was deleted is gone."""
        still = f"pod `{pod}` is still there"
        within = Deadline.after(_REMOVED)
        self._until(lambda: self.pod(pod, where) is None, within, still, where)

    def remove_pod(self, pod: str, where: str, *, lost: bool) -> None:
        """End a pod and wait until it is gone."""
        self._delete_pod(pod, where, lost=lost)
        self.await_gone(pod, where)

    def release(self) -> None:
        """Have it deleted with all that is in it; `end` waits for that.

        A cluster lets five seconds pass before it acts: pods may end meanwhile.
        """
        if not self._begun or self._released:
            return
        ask = partial(self._client.delete, NamespaceObject, self.name)
        self._asked(partial(_if_there, ask), "the stay's namespace cannot be removed")
        self._released = True

    def end(self) -> None:
        """Remove all that is left of the stay, and wait until namespace and volumes are gone."""
        if not self._begun:
            return
        self.release()
        still = f"namespace `{self.name}` is still there"
        self._until(self._is_gone, Deadline.after(_REMOVED), still)
        still = f"volumes of `{self.name}` are still there"
        self._until(self._has_no_volumes, Deadline.after(_REMOVED), still)
        self._begun = self._released = False

    def _has_no_volumes(self) -> bool:
        """Have the stay's volumes deleted, which are in no namespace; whether there are none."""

        def ask() -> bool:
            left = list(self._client.list(PersistentVolume, labels={**self._stay.labels}))
            for volume in left:
                _if_there(partial(self._client.delete, PersistentVolume, _name(volume)))
            return not left

        return self._asked(ask, "the stay's volumes cannot be removed")

    def _delete_pod(self, pod: str, where: str, *, lost: bool) -> None:
        grace = 0 if lost else None
        ask = partial(self._client.delete, Pod, pod, namespace=self.name, grace_period=grace)
        self._asked(partial(_if_there, ask), "its pod cannot be removed", where)

    def _is_gone(self) -> bool:
        ask = partial(self._client.get, NamespaceObject, self.name)
        what = "the stay's namespace cannot be inspected"
        return not self._asked(partial(_if_there, ask), what)

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
        deadline = deadline or Deadline.after(AWAY)
        while True:
            try:
                with self._spoken(what, where):
                    answer = ask()
            except StayError as error:
                if not is_away(error.__cause__) or self._outage.lasts() or deadline.passed:
                    raise
                deadline.pause(_INTERVAL)
            else:
                self._outage.ended()
                return answer

    def _spoken(self, what: str, where: str = "kubernetes") -> AbstractContextManager[None]:
        return spoken(what, where, self.hint)


@contextmanager
def spoken(what: str, where: str, hint: str) -> Iterator[None]:
    """Say the API's refusal as the stay's error; `where` is a member or a host."""
    try:
        yield
    except Refused as refusal:
        raise StayError(f"{what}: {explanation(refusal)}", where=where, hint=hint) from refusal


def _if_there(ask: Callable[[], object]) -> bool:
    """Do something with what may be gone; returns whether it was there."""
    try:
        ask()
    except ApiError as refusal:
        if _status(refusal) != _GONE:
            raise
        return False
    return True


def _name(thing: PersistentVolume) -> str:
    return str((thing.metadata and thing.metadata.name) or "")


def _object(manifest: Manifest) -> Any:
    return codecs.from_dict(manifest)


def _is_definite(refusal: BaseException | None) -> bool:
    """Whether an API server has said that it did not do what it was asked for."""
    return isinstance(refusal, httpx2.HTTPStatusError) and not is_away(refusal)


def _status(refusal: BaseException | None) -> int:
    """HTTP status of a refusal; 0 if it is none of the API's."""
    return int(refusal.status.code or 0) if isinstance(refusal, ApiError) else 0
