"""A stay's namespace, its pods and commands in them, against an API that is played."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from lightkube import Client, KubeConfig, SingleConfig
from lightkube.config.models import User
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Ping

from dunnage import deadline
from dunnage.clusters import begun, outage, removal
from dunnage.clusters.execute import CannotRunError, Place, execute
from dunnage.contracts.host import Completed
from dunnage.contracts.kubernetes import ContainerRuntime
from dunnage.contracts.platform import Seen, Unseen
from dunnage.contracts.software import Tree
from dunnage.deadline import Deadline
from dunnage.errors import RunError, StayError, UnavailableError
from dunnage.hosts.fake.host import FakeHost
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.layout import ENGINE, Probe, Service, Software
from dunnage.model.study import TestbedSpec
from dunnage.platforms.execute import NOT_RUN
from dunnage.platforms.kubernetes import namespace, pod_member, starting
from dunnage.platforms.kubernetes.addresses import Served
from dunnage.platforms.kubernetes.client_pod import ClientPod
from dunnage.platforms.kubernetes.images import provide
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.objects import Image, headless
from dunnage.platforms.kubernetes.pod_member import PodMember
from dunnage.platforms.kubernetes.process import first_process
from dunnage.platforms.readiness import death
from dunnage.platforms.stay_names import StayNames

STAY = StayNames("b1-x-1")
Answer = Callable[[httpx2.Request], httpx2.Response]
POD = "/api/v1/namespaces/dunnage-b1-x-1/pods/redis-1-0"


def status(code: int, message: str = "no") -> httpx2.Response:
    told = {"kind": "Status", "status": "Failure", "code": code, "message": message}
    return httpx2.Response(code, json=told)


def opened(answer: Answer) -> Namespace:
    """The stay's namespace of an API that answers so."""
    server = KubeConfig.from_server("http://cluster").get()
    assert isinstance(server, SingleConfig)
    config = server._replace(user=User())
    transport = httpx2.MockTransport(answer)
    client = Client(config, transport=transport, trust_env=False)
    session = httpx2.Client(base_url="http://cluster", transport=transport)
    return Namespace(client, session, STAY, lambda words: f"kubectl --context theirs {words}")


class Api:
    """Answers by method and path; counts what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, list[httpx2.Response]] = {}

    def on(self, asked: str, *answers: httpx2.Response) -> Api:
        """Answer a question, the last one for ever."""
        self.answers[asked] = list(answers)
        return self

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        asked = f"{request.method} {request.url.path}"
        self.asked.append(asked)
        answers = self.answers.get(asked)
        if answers is None:
            return status(404)
        return answers.pop(0) if len(answers) > 1 else answers[0]


def ok(**body: Any) -> httpx2.Response:
    return httpx2.Response(200, json=body)


def a_pod(**told: Any) -> httpx2.Response:
    return ok(apiVersion="v1", kind="Pod", metadata={"name": "redis-1-0", "uid": "u"}, status=told)


NAMESPACES = "/api/v1/namespaces"
MADE = ok(apiVersion="v1", kind="Namespace", metadata={"name": "dunnage-b1-x-1"})


def test_a_namespace_is_begun_once_and_its_objects_are_put_into_it() -> None:
    api = Api().on(f"POST {NAMESPACES}", MADE)
    chosen = {"clusterIP": "10.68.0.7", "ports": [{"port": 6379, "nodePort": 30123}, {"port": 1}]}
    service = ok(apiVersion="v1", kind="Service", metadata={"name": "redis-1"}, spec=chosen)
    api.on(f"POST {NAMESPACES}/dunnage-b1-x-1/services", service)
    own = opened(api)
    own.begin()
    own.begin()
    assert own.service(headless("redis-1", STAY), "redis-1") == Served("10.68.0.7", {6379: 30123})
    assert len(api.asked) == 2


OWN = f"{NAMESPACES}/dunnage-b1-x-1"


def labelled(**labels: str) -> httpx2.Response:
    return ok(kind="Namespace", metadata={"name": "dunnage-b1-x-1", "labels": labels})


def test_a_namespace_of_someone_elses_is_refused_and_left() -> None:
    api = Api().on(f"POST {NAMESPACES}", status(409)).on(f"GET {OWN}", labelled(team="t"))
    own = opened(api)
    with pytest.raises(UnavailableError, match="not of this stay") as refused:
        own.begin()
    shown = "get namespace dunnage-b1-x-1 --show-labels"
    assert refused.value.hint == f"kubectl --context theirs {shown}"
    own.end()
    assert not any(asked.startswith("DELETE") for asked in api.asked)


def test_a_namespace_whose_answer_was_lost_is_asked_for_again_and_is_ours() -> None:
    made = labelled(**STAY.labels)
    api = Api().on(f"POST {NAMESPACES}", status(409)).on(f"GET {OWN}", made, status(404))
    api.on(f"DELETE {OWN}", ok(kind="Status"))
    lost = 1

    def losing(request: httpx2.Request) -> httpx2.Response:
        nonlocal lost
        if request.method == "POST" and lost:
            lost -= 1
            raise httpx2.ReadTimeout("timed out")
        return api(request)

    own = opened(losing)
    own.begin()
    own.end()
    assert api.asked.count(f"DELETE {OWN}") == 1


def test_a_namespace_that_may_be_there_is_removed_though_no_answer_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outage, "AWAY", 0.0)
    api = Api().on(f"DELETE {OWN}", ok(kind="Status"))

    def losing(request: httpx2.Request) -> httpx2.Response:
        if request.method == "POST":
            raise httpx2.ReadTimeout("timed out")
        return api(request)

    own = opened(losing)
    with pytest.raises(StayError, match="the stay's namespace cannot be created: timed out"):
        own.begin()
    own.end()
    assert f"DELETE {OWN}" in api.asked


def test_other_refusals_are_told_in_the_clusters_words() -> None:
    api = Api().on(f"POST {NAMESPACES}", status(403, "namespaces is forbidden"))
    own = opened(api)
    with pytest.raises(StayError, match="namespaces is forbidden") as refused:
        own.begin()
    assert refused.value.hint == "kubectl --context theirs describe nodes"
    own.end()
    assert api.asked == [f"POST {NAMESPACES}"]


def test_a_pod_that_is_not_there_is_none_and_a_refusal_is_told() -> None:
    assert opened(Api()).pod("redis-1-0", "redis-1") is None
    with pytest.raises(StayError, match="redis-1: its pod cannot be inspected: forbidden"):
        opened(Api().on(f"GET {POD}", status(403, "forbidden"))).pod("redis-1-0", "redis-1")


def test_a_log_is_empty_before_there_is_a_container() -> None:
    def logged(answer: httpx2.Response) -> str:
        return opened(Api().on(f"GET {POD}/log", answer)).log("redis-1-0", 2, "redis-1")

    assert logged(httpx2.Response(200, text="one\ntwo\n")) == "one\ntwo\n"
    assert logged(status(400)) == logged(status(404)) == ""
    with pytest.raises(StayError, match="log cannot be read"):
        logged(status(500))


def test_the_log_of_the_container_before_is_asked_for_by_name() -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(200, text="last words\n")

    assert opened(answer).log("redis-1-0", 2, "redis-1", previous=True) == "last words\n"
    assert asked == [f"http://cluster{POD}/log?tailLines=2&previous=true"]


def test_a_log_is_asked_for_again_while_its_container_is_replaced() -> None:
    lost = httpx2.Response(200, text="unable to retrieve container logs for containerd://6028")
    api = Api().on(f"GET {POD}/log", lost, lost, httpx2.Response(200, text="bad option\n"))
    assert opened(api).log("redis-1-0", 2, "redis-1") == "bad option\n"


VOLUME: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": {"name": "dunnage-b1-x-1-redis-1"},
}


def test_all_of_a_stay_is_removed_its_volumes_too_and_is_waited_for() -> None:
    own = f"{NAMESPACES}/dunnage-b1-x-1"
    api = Api().on(f"POST {NAMESPACES}", MADE).on(f"DELETE {own}", ok(kind="Status"))
    left, nothing = ok(items=[VOLUME], metadata={}), ok(items=[], metadata={})
    api.on(f"GET {own}", MADE, status(404)).on(f"GET {VOLUMES}", left, nothing)
    api.on(f"POST {VOLUMES}", ok(**VOLUME))
    there = opened(api)
    there.release()  # nothing has begun
    assert api.asked == []
    there.begin()
    there.create(VOLUME, "redis-1")
    there.release()
    there.end()
    assert api.asked.count(f"DELETE {own}") == 1
    assert f"DELETE {VOLUMES}/dunnage-b1-x-1-redis-1" in api.asked
    asked = list(api.asked)
    assert asked[-1] == f"GET {VOLUMES}"
    there.end()  # nothing is left to be asked for
    assert api.asked == asked


@pytest.mark.parametrize("ours", [True, False])
def test_who_has_made_no_volume_asks_for_none(ours: bool) -> None:
    """That may be forbidden to who is allowed all else."""
    api = Api().on(f"POST {NAMESPACES}", MADE).on(f"DELETE {OWN}", ok(kind="Status"))
    api.on(f"GET {OWN}/services", ok(items=[], metadata={}))
    api.on(f"GET {VOLUMES}", status(403, "volumes are forbidden"))
    there = opened(api)
    there.begin()
    if ours:
        there.leave()
    else:
        there.end()
    assert api.asked == [
        f"POST {NAMESPACES}",
        f"DELETE {OWN}",
        f"GET {OWN}/services" if ours else f"GET {OWN}",
    ]


def test_volumes_whose_creation_was_not_answered_are_removed_with_their_claims() -> None:
    api = Api().on(f"POST {NAMESPACES}", MADE).on(f"DELETE {OWN}", ok(kind="Status"))
    left, nothing = ok(items=[VOLUME], metadata={}), ok(items=[], metadata={})
    claim = {"metadata": {"name": "redis-1"}}
    api.on(f"POST {VOLUMES}", status(500)).on(f"GET {VOLUMES}", left, nothing)
    api.on(f"GET {OWN}/services", nothing).on(f"GET {CLAIMS}", ok(items=[claim], metadata={}))
    there = opened(api)
    there.begin()
    with pytest.raises(StayError, match="its PersistentVolume cannot be created"):
        there.create(VOLUME, "redis-1")
    there.leave()
    assert api.asked[-6:] == [
        f"GET {OWN}/services",
        f"GET {CLAIMS}",
        f"DELETE {CLAIMS}/redis-1",
        f"GET {VOLUMES}",
        f"DELETE {VOLUMES}/dunnage-b1-x-1-redis-1",
        f"GET {VOLUMES}",
    ]


def storage(
    *volume: str, claim: Sequence[str] = ("Bound",)
) -> tuple[Api, dict[str, Any], dict[str, Any]]:
    """A cluster that tells these phases, one after the other, and what is asked to be stored."""

    def phases(kind: str, told: Sequence[str]) -> list[httpx2.Response]:
        return [ok(kind=kind, metadata={"name": "d"}, status={"phase": each}) for each in told]

    kinds = ("PersistentVolume", "PersistentVolumeClaim")
    own = {"name": "redis-1", "namespace": "dunnage-b1-x-1"}
    api = Api().on(f"POST {NAMESPACES}", MADE).on(f"POST {VOLUMES}", *phases(kinds[0], ["Pending"]))
    api.on(f"GET {VOLUMES}/d", *phases(kinds[0], volume))
    api.on(f"POST {CLAIMS}", *phases(kinds[1], ["Pending"]))
    return (
        api.on(f"GET {CLAIMS}/redis-1", *phases(kinds[1], claim)),
        {"apiVersion": "v1", "kind": kinds[0], "metadata": {"name": "d"}},
        {"apiVersion": "v1", "kind": kinds[1], "metadata": own},
    )


@dataclass
class Ticking:
    """Time of which every look takes a second."""

    time: float = 0.0

    def monotonic(self) -> float:
        self.time += 1
        return self.time


VOLUMES = "/api/v1/persistentvolumes"
CLAIMS = f"{NAMESPACES}/dunnage-b1-x-1/persistentvolumeclaims"


def test_a_claim_is_made_when_its_volume_was_taken_in_and_is_waited_for() -> None:
    api, made, claimed = storage("Pending", "Available", claim=("Pending", "Bound"))
    opened(api).create_all((made, claimed), "redis-1", Deadline.after(60.0))
    volume, claim = [f"GET {VOLUMES}/d"] * 2, [f"GET {CLAIMS}/redis-1"] * 2
    assert api.asked == [f"POST {VOLUMES}", *volume, f"POST {CLAIMS}", *claim]


@pytest.mark.parametrize(
    ("volume", "claim", "told"),
    [
        ("Pending", "Bound", "redis-1: volume `d` is not available after 0 s"),
        ("Available", "Pending", "redis-1: claim `redis-1` is not bound after 0 s"),
    ],
)
def test_storage_that_is_not_there_within_the_deadline_is_told(
    volume: str, claim: str, told: str
) -> None:
    api, made, claimed = storage(volume, claim=(claim,))
    with pytest.raises(StayError, match=told):
        opened(api).create_all((made, claimed), "redis-1", Deadline.after(0.0))


def test_a_volume_and_the_claim_to_it_share_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of it is over when the volume is available."""
    monkeypatch.setattr(deadline, "time", Ticking())
    api, made, claimed = storage(*["Pending"] * 5, "Available", claim=("Pending",))
    with pytest.raises(StayError, match="claim `redis-1` is not bound after 10 s"):
        opened(api).create_all((made, claimed), "redis-1", Deadline.after(10.0))
    assert api.asked.count(f"GET {VOLUMES}/d") == 6
    assert api.asked.count(f"GET {CLAIMS}/redis-1") == 5


def test_storage_and_pods_are_not_waited_for_when_all_is_given_up() -> None:
    """Long before the deadline is over."""
    given_up = threading.Event()
    given_up.set()
    within = Deadline.after(60.0, given_up)
    api, made, claimed = storage("Pending")
    with pytest.raises(StayError, match="given up"):
        opened(api).create_all((made, claimed), "redis-1", within)
    with pytest.raises(StayError, match="given up"):
        starting.await_container(opened(Api()), "redis-1", within)
    assert not within.passed


def test_storage_that_cannot_be_seen_is_told_in_the_clusters_words() -> None:
    api, made, claimed = storage("Available")
    api.on(f"GET {CLAIMS}/redis-1", status(403, "claims are forbidden"))
    with pytest.raises(StayError, match="its claim cannot be inspected: claims are forbidden"):
        opened(api).create_all((made, claimed), "redis-1", Deadline.after(60.0))
    api, made, claimed = storage("Available")
    api.on(f"GET {VOLUMES}/d", status(403, "volumes are forbidden"))
    with pytest.raises(StayError, match="its volume cannot be inspected: volumes are forbidden"):
        opened(api).create_all((made, claimed), "redis-1", Deadline.after(60.0))


def test_volumes_are_waited_for_and_a_server_that_comes_back_is_too() -> None:
    own = f"{NAMESPACES}/dunnage-b1-x-1"
    api = Api().on(f"POST {NAMESPACES}", MADE).on(f"DELETE {own}", ok(kind="Status"))
    api.on(f"GET {own}", status(404)).on(f"DELETE {VOLUMES}/dunnage-b1-x-1-redis-1", status(404))
    left, nothing = ok(items=[VOLUME], metadata={}), ok(items=[], metadata={})
    api.on(f"GET {VOLUMES}", left, left, nothing).on(f"POST {VOLUMES}", ok(**VOLUME))
    silent = 2

    def away(request: httpx2.Request) -> httpx2.Response:
        nonlocal silent
        if request.method == "GET" and silent:
            silent -= 1
            raise httpx2.ConnectError("connection refused")
        return api(request)

    there = opened(away)
    there.begin()
    there.create(VOLUME, "redis-1")
    there.end()
    assert api.asked.count(f"GET {VOLUMES}") == 3
    assert silent == 0


def test_a_server_that_fails_while_its_etcd_is_restarted_is_waited_for() -> None:
    failing = status(500, "etcdserver: request timed out")
    api = Api().on(f"GET {POD}", failing, status(503), a_pod(), status(404))
    opened(api).await_gone("redis-1-0", "redis-1")
    assert api.asked == [f"GET {POD}"] * 4


def test_a_server_that_has_just_started_is_waited_for() -> None:
    """It answers so until it has read what it keeps in memory, and before that in plain text."""
    filling = status(429, "storage is (re)initializing")
    plain = httpx2.Response(503, text="not yet", headers={"Content-Type": "text/plain"})
    nothing = ok(items=[], metadata={})
    own = f"{NAMESPACES}/dunnage-b1-x-1"
    api = Api().on(f"POST {NAMESPACES}", MADE).on(f"GET {VOLUMES}", plain, filling, nothing)
    api.on(f"DELETE {own}", plain, status(404)).on(f"GET {own}", status(404))
    api.on(f"POST {VOLUMES}", ok(**VOLUME))
    there = opened(api)
    there.begin()
    there.create(VOLUME, "redis-1")
    there.end()
    assert api.asked.count(f"GET {VOLUMES}") == 3
    assert api.asked.count(f"DELETE {own}") == 2


def test_what_a_stay_has_is_let_go_when_the_server_is_back() -> None:
    sets = "/apis/apps/v1/namespaces/dunnage-b1-x-1/statefulsets/redis-1"
    api = Api().on(f"DELETE {sets}", status(503), ok(kind="Status"))
    api.on(f"DELETE {POD}", status(500), status(404))
    opened(api).let_go("redis-1", "redis-1-0", lost=False)
    assert api.asked == [f"DELETE {sets}"] * 2 + [f"DELETE {POD}"] * 2


def test_a_pod_is_waited_for_while_the_server_is_away_but_not_beyond_the_deadline() -> None:
    run = {**waiting("x"), "containerID": "containerd://c", "state": {"running": {}}}
    api = Api().on(f"GET {POD}", status(503), a_pod(containerStatuses=[run]))
    assert starting.await_container(opened(api), "redis-1", Deadline.after(60.0)).running
    with pytest.raises(StayError, match=r"its pod cannot be inspected: no$"):
        api = Api().on(f"GET {POD}", status(503))
        starting.await_container(opened(api), "redis-1", Deadline.after(0.0))


def test_a_server_is_waited_for_once_whatever_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stay with a server that is gone for good ends after one such time, and not after many."""
    monkeypatch.setattr(outage, "time", Ticking())
    monkeypatch.setattr(outage, "AWAY", 3.0)
    api = Api().on(f"GET {POD}", *[status(503)] * 5, status(404), status(503))
    there = opened(api)

    def asked() -> int:
        before = len(api.asked)
        with pytest.raises(StayError, match="its pod cannot be inspected"):
            there.pod("redis-1-0", "redis-1")
        return len(api.asked) - before

    assert (asked(), asked()) == (4, 1)
    assert there.pod("redis-1-0", "redis-1") is None
    assert asked() == 4, "it was back meanwhile"


def test_a_server_that_goes_on_failing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "AWAY", 0.0)
    api = Api().on(f"GET {POD}", status(500, "etcdserver: no leader"))
    with pytest.raises(StayError, match="its pod cannot be inspected: etcdserver: no leader"):
        opened(api).await_gone("redis-1-0", "redis-1")


def test_a_server_that_does_not_come_back_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "AWAY", 0.0)

    def gone(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("connection refused")

    with pytest.raises(StayError, match=r"its pod cannot be inspected: .*connection refused"):
        opened(gone).await_gone("redis-1-0", "redis-1")


def test_what_does_not_go_away_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "REMOVED", -1.0)
    sets = "/apis/apps/v1/namespaces/dunnage-b1-x-1/statefulsets/redis-1"
    api = Api().on(f"GET {POD}", a_pod()).on(f"DELETE {sets}", ok(kind="Status"))
    there = opened(api)
    there.let_go("redis-1", "redis-1-0", lost=True)
    assert api.asked == [f"DELETE {sets}", f"DELETE {POD}"]
    with pytest.raises(StayError, match="redis-1: pod `redis-1-0` is still there"):
        there.await_gone("redis-1-0", "redis-1")
    assert api.asked[2:] == [f"GET {POD}"]


def test_an_api_that_is_gone_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "AWAY", 0.0)

    def gone(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("connection refused")

    with pytest.raises(StayError, match="connection refused"):
        opened(gone).pod("redis-1-0", "redis-1")


EVENTS = f"GET {NAMESPACES}/dunnage-b1-x-1/events"


def events(*messages: str) -> httpx2.Response:
    made = [
        {
            "metadata": {"name": str(number)},
            "involvedObject": {},
            "type": "Warning",
            "reason": "Bad",
            "message": message,
        }
        for number, message in enumerate(messages)
    ]
    return ok(items=made, metadata={})


def waiting(reason: str, name: str = "member") -> dict[str, Any]:
    known = {"name": name, "image": "i", "imageID": "", "ready": False, "restartCount": 0}
    return {**known, "state": {"waiting": {"reason": reason, "message": "why"}}}


def test_a_pod_is_waited_for_until_its_container_runs() -> None:
    run = {**waiting("x"), "containerID": "containerd://c", "state": {"running": {}}}
    api = Api().on(f"GET {POD}", status(404), a_pod(), a_pod(containerStatuses=[run]))
    assert starting.await_container(opened(api), "redis-1", Deadline.after(60.0)).container == "c"


def test_a_pod_that_will_not_start_is_told_with_warnings_and_its_log() -> None:
    api = Api().on(f"GET {POD}", a_pod(containerStatuses=[waiting("ErrImageNeverPull")]))
    api.on(EVENTS, events("absent")).on(f"GET {POD}/log", httpx2.Response(200, text="last\n"))
    with pytest.raises(StayError) as raised:
        starting.await_container(opened(api), "redis-1", Deadline.after(60.0))
    assert str(raised.value) == (
        "redis-1: its pod did not start: ErrImageNeverPull: why; the cluster warned: Bad: absent; "
        "its log ends:\nlast"
    )


def test_why_a_pod_did_not_start_is_told_though_nothing_else_can_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outage, "AWAY", 0.0)
    api = Api().on(f"GET {POD}", a_pod(containerStatuses=[waiting("ImagePullBackOff")]))
    api.on(EVENTS, status(503, "away")).on(f"GET {POD}/log", status(500, "kubelet is gone"))
    with pytest.raises(StayError) as raised:
        starting.await_container(opened(api), "redis-1", Deadline.after(60.0))
    assert str(raised.value) == (
        "redis-1: its pod did not start: ImagePullBackOff: why; events cannot be read: away; "
        "the pod's log cannot be read: kubelet is gone"
    )
    assert raised.value.hint == "kubectl --context theirs describe nodes"


def test_logs_and_warnings_are_asked_for_again_when_the_server_is_back() -> None:
    api = Api().on(f"GET {POD}/log", status(503), httpx2.Response(200, text="last\n"))
    api.on(EVENTS, status(503), events("absent"))
    own = opened(api)
    assert own.log("redis-1-0", 5, "redis-1") == "last\n"
    assert own.warnings("Pod", "redis-1-0", "redis-1") == ("Bad: absent",)


def test_the_log_of_what_runs_before_a_member_is_told_where_that_failed() -> None:
    broken = {"initContainerStatuses": [waiting("CrashLoopBackOff", name="carrier")]}
    api = Api().on(f"GET {POD}", a_pod(containerStatuses=[waiting("PodInitializing")], **broken))
    api.on(EVENTS, events())

    def logged(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == f"{POD}/log":
            return httpx2.Response(200, text=f"of {request.url.params.get('container')}\n")
        return api(request)

    with pytest.raises(StayError, match=r"CrashLoopBackOff: why; its log ends:\nof carrier"):
        starting.await_carrier(opened(logged), "redis-1", Deadline.after(60.0))


def test_what_may_still_change_is_waited_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(begun, "_PATIENCE", 0.0)
    full = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "full"}
    api = Api().on(f"GET {POD}", a_pod(conditions=[full])).on(EVENTS, events())
    with pytest.raises(StayError, match=r"Unschedulable: full$"):
        starting.await_container(opened(api), "redis-1", Deadline.after(60.0))


def test_a_set_without_a_pod_is_told_with_its_own_warnings() -> None:
    within = Deadline.after(0.0625)
    with pytest.raises(StayError, match=r"no pod after 0\.0625 s; the cluster warned: Bad: quota"):
        starting.await_container(opened(Api().on(EVENTS, events("quota"))), "redis-1", within)
    with pytest.raises(StayError, match=r"it has no container after 0\.0625 s$"):
        api = Api().on(f"GET {POD}", a_pod()).on(EVENTS, events())
        starting.await_container(opened(api), "redis-1", within)


def test_what_runs_before_a_member_keeps_it_from_starting_as_it_would_itself() -> None:
    waits = {"initContainerStatuses": [waiting("ErrImagePull", name="carrier")]}
    broken = {"initContainerStatuses": [waiting("ImagePullBackOff", name="carrier")]}
    runs = {"initContainerStatuses": [{**waiting("x", name="carrier"), "state": {"running": {}}}]}
    begins = [waiting("PodInitializing")]
    api = Api().on(
        f"GET {POD}",
        a_pod(containerStatuses=begins, **waits),
        a_pod(containerStatuses=begins, **runs),
    )
    starting.await_carrier(opened(api), "redis-1", Deadline.after(60.0))
    api = Api().on(f"GET {POD}", a_pod(containerStatuses=begins, **broken)).on(EVENTS, events())
    api.on(f"GET {POD}/log", status(400))
    with pytest.raises(StayError, match="ImagePullBackOff: why"):
        starting.await_carrier(opened(api), "redis-1", Deadline.after(60.0))


# Commands: a server that switches to frames, as an API server does.


@contextmanager
def exec_server(
    frames: list[Event] | None, refusal: httpx2.Response | None = None
) -> Iterator[tuple[str, list[bytes]]]:
    """Where it listens, and the messages that it was sent."""
    heard: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if refusal is not None:
                self.send_response(refusal.status_code)
                for name in ("Content-Length", "Content-Type"):
                    self.send_header(name, refusal.headers[name])
                self.end_headers()
                self.wfile.write(refusal.content)
                return
            self.send_response_only(101)
            self.send_header("Connection", "Upgrade")
            self.send_header("Upgrade", "websocket")
            self.end_headers()
            self.close_connection = True
            talk = Connection(ConnectionType.SERVER)
            if "stdin=true" in self.path:
                while b"\xff\x00" not in heard:
                    talk.receive_data(self.connection.recv(65536))
                    heard.extend(
                        bytes(event.data)
                        for event in talk.events()
                        if isinstance(event, BytesMessage)
                    )
            if frames is None:
                self.connection.recv(1)
                return
            for each in frames:
                self.wfile.write(talk.send(each))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


PLACE = Place("n", "p", "member")
SUCCESS = BytesMessage(b"\x03" + json.dumps({"status": "Success"}).encode())


def asked(url: str, stdin: str = "", timeout: float = 5.0) -> Completed:
    with httpx2.Client(base_url=url, trust_env=False) as session:
        argv = ["redis-cli", "PING"]
        return execute(session, PLACE, argv, stdin=stdin.encode(), timeout=timeout)


def test_a_commands_outputs_are_put_together_from_their_messages() -> None:
    frames: list[Event] = [
        BytesMessage(b"\x01PO"),
        Ping(b"there?"),
        BytesMessage(b"\x02wa", message_finished=False),
        BytesMessage(b"rn", message_finished=True),
        BytesMessage(b"\x01NG\n"),
        BytesMessage(b""),
        SUCCESS,
    ]
    with exec_server(frames) as (url, _):
        assert asked(url) == Completed(0, "PONG\n", "warn")


def test_a_command_is_sent_its_input_and_the_end_of_it() -> None:
    with exec_server([SUCCESS]) as (url, heard):
        assert asked(url, stdin="hello") == Completed(0, "", "")
        assert heard == [b"\x00hello", b"\xff\x00"]


def test_a_command_that_takes_too_long_is_given_up() -> None:
    with exec_server(None) as (url, _), pytest.raises(TimeoutError):
        asked(url, timeout=0.2)
    with exec_server(None) as (url, _), pytest.raises(TimeoutError):
        asked(url, timeout=0.0001)


@pytest.mark.parametrize("frames", [[], [CloseConnection(code=1000)]])
def test_a_connection_that_ends_before_the_command_is_no_success(frames: list[Event]) -> None:
    with exec_server(frames) as (url, _), pytest.raises(httpx2.ReadError, match="ended before"):
        asked(url)


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (status(403, "pods is forbidden"), "^pods is forbidden$"),
        (httpx2.Response(503, text="not yet\n"), "^HTTP status 503: not yet$"),
    ],
)
def test_a_command_that_is_refused_is_told_in_the_clusters_words(
    refusal: httpx2.Response, told: str
) -> None:
    with (
        exec_server([], refusal) as (url, _),
        pytest.raises(httpx2.HTTPStatusError, match=told),
    ):
        asked(url)


def refused(code: int) -> httpx2.HTTPStatusError:
    request = httpx2.Request("GET", "http://cluster")
    return httpx2.HTTPStatusError("no", request=request, response=status(code))


@pytest.mark.parametrize(
    ("error", "raises"),
    [
        (TimeoutError(), RunError),
        (httpx2.ReadError("cut"), RunError),
        (refused(503), RunError),
        (refused(403), StayError),
    ],
)
def test_a_namespace_tells_how_a_command_failed(
    monkeypatch: pytest.MonkeyPatch, error: Exception, raises: type[Exception]
) -> None:
    def failing(*_: object, **__: object) -> Completed:
        raise error

    monkeypatch.setattr(namespace, "execute", failing)
    with pytest.raises(raises):
        run_in(opened(Api()))


def test_what_a_container_cannot_run_has_a_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> Completed:
        raise CannotRunError("no such file")

    monkeypatch.setattr(namespace, "execute", failing)
    assert run_in(opened(Api())) == Completed(NOT_RUN, "", "no such file")


def run_in(own: Namespace) -> Completed:
    return own.execute("p", "member", ["x"], stdin=b"", timeout=1.0, where="redis-1")


# Images and networks, as hosts tell of them.

RUNTIME = ContainerRuntime(("/bin/ctr", "--address", "/sock"), {"A": "1"})


def tree(archive: Path, image: str | None = None) -> Tree:
    software = Software("redis", "7.0", image)
    return Tree(software, archive, "/tree", archive, "dunnage/redis:1", {})


@contextmanager
def host_that(
    monkeypatch: pytest.MonkeyPatch, *answers: Completed
) -> Iterator[tuple[FakeHost, list[str]]]:
    """A host whose commands are answered in order, and what it was asked."""
    ran: list[str] = []
    left = list(answers)

    def run(_self: FakeHost, argv: list[str], **_: object) -> Completed:
        ran.append(" ".join(argv))
        return left.pop(0)

    monkeypatch.setattr(FakeHost, "run", run)
    with open_fake(TestbedSpec(kind="fake"), name="images") as testbed:
        host = testbed.group("db")[0]
        assert isinstance(host, FakeHost)
        yield host, ran


def test_an_image_is_imported_where_containerd_has_it_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    layer = tmp_path / "image.tar"
    layer.write_bytes(b"layer")
    none, there = Completed(0, "", ""), Completed(0, "docker.io/dunnage/redis:1\n", "")
    with host_that(monkeypatch, none, none) as (host, ran):
        assert provide(host, RUNTIME, tree(layer)) == Image("dunnage/redis:1", imported=True)
        assert ran[0] == ("env A=1 /bin/ctr --address /sock --namespace k8s.io images list --quiet")
        assert "images import" in ran[1]
        assert ran[1].endswith("/dunnage-redis-1.tar"), "other software is brought beside it"
        assert not [file for file in host.files if file.endswith(".tar")]
    with host_that(monkeypatch, there) as (host, ran):
        assert provide(host, RUNTIME, tree(layer)).imported
        assert len(ran) == 1


def test_an_image_that_a_study_names_is_left_to_its_kubelet(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with host_that(monkeypatch) as (host, ran):
        named = provide(host, None, tree(tmp_path, "redis:7.0"))
        assert (named, ran) == (Image("redis:7.0", imported=False), [])
        with pytest.raises(UnavailableError, match="name one that it can pull"):
            provide(host, None, tree(tmp_path))


def test_a_refusal_of_containerds_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with (
        host_that(monkeypatch, Completed(1, "", "no socket")) as (host, _),
        pytest.raises(StayError, match="`ctr images list`: no socket"),
    ):
        provide(host, RUNTIME, tree(tmp_path))


# Members, as their hosts and the cluster tell them.

SEEN = Completed(0, "42\n7:memory:/pods/p/c1\n", "")
GONE = Completed(1, "", "")


def member(host: FakeHost, api: Api) -> PodMember:
    service = Service(
        "redis-1", ("/tree/bin/redis-server",), Probe(("true",)), Software("redis", "7")
    )
    made = tree(Path("/archive"))
    return PodMember(service, host, made, opened(api), "u", "c1")


def ended_pod(container: str = "c1", **told: Any) -> httpx2.Response:
    state = {"terminated": {"containerID": f"containerd://{container}", "exitCode": 1}}
    return a_pod(
        containerStatuses=[{**waiting("x"), "containerID": "containerd://c1", "state": state}],
        **told,
    )


def test_whom_a_host_sees_lives_whatever_the_api_says(monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api().on(f"GET {POD}", status(500))
    with host_that(monkeypatch, SEEN, SEEN) as (host, _):
        one = member(host, api)
        assert one.identified().process == Seen(42, "/pods/p/c1")
        assert one.ended() is None
        assert api.asked == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (ended_pod(), "exit code 1"),
        (status(404), "its pod was deleted"),
        (ok(kind="Pod", metadata={"uid": "other"}, status={}), "its pod was deleted and made anew"),
        (a_pod(phase="Failed", reason="Evicted", message="low"), "evicted, low"),
        (
            a_pod(containerStatuses=[{**waiting("x"), "containerID": "containerd://c2"}]),
            "it was started anew",
        ),
        (a_pod(containerStatuses=[{**waiting("x"), "containerID": "containerd://c1"}]), None),
    ],
)
def test_whom_a_host_does_not_see_ended_as_the_cluster_tells(
    monkeypatch: pytest.MonkeyPatch, answer: httpx2.Response, told: str | None
) -> None:
    with host_that(monkeypatch, GONE) as (host, _):
        assert member(host, Api().on(f"GET {POD}", answer)).ended() == told


def killed(container: str, reason: str) -> httpx2.Response:
    """A pod whose first container was killed; this one is its present."""
    told = {"containerID": "containerd://c1", "exitCode": 137, "reason": reason}
    states = (
        {"state": {"terminated": told}}
        if container == "c1"
        else {"lastState": {"terminated": told}}
    )
    return a_pod(
        containerStatuses=[{**waiting("x"), "containerID": f"containerd://{container}", **states}]
    )


@pytest.mark.parametrize(
    ("later", "told"),
    [
        (killed("c2", "OOMKilled"), "exit code 137, out of memory"),
        (killed("c1", "OOMKilled"), "exit code 137, out of memory"),
        (killed("c2", "Error"), "exit code 137"),
        (status(404), "its pod was deleted"),
    ],
)
def test_why_a_member_was_killed_is_waited_for_until_the_next_container(
    monkeypatch: pytest.MonkeyPatch, later: httpx2.Response, told: str
) -> None:
    early = killed("c1", "Error")
    with host_that(monkeypatch, GONE) as (host, _):
        api = Api().on(f"GET {POD}", early, early, later)
        assert member(host, api).ended() == told
        assert api.asked == [f"GET {POD}"] * 3


def test_a_member_that_was_killed_and_not_started_anew_is_told_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pod_member, "_SAID_WHY", 0.0)
    with host_that(monkeypatch, GONE) as (host, _):
        api = Api().on(f"GET {POD}", killed("c1", "Error"))
        assert member(host, api).ended() == "exit code 137"


class Logs(Api):
    """A cluster that tells these states of the pod, one after the other, and has these logs."""

    def __init__(self, *pods: httpx2.Response, now: str = "", before: str = "") -> None:
        super().__init__()
        self.on(f"GET {POD}", *pods)
        self._told = {"false": now, "true": before}

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path == f"{POD}/log":
            return httpx2.Response(200, text=self._told[request.url.params["previous"]])
        return super().__call__(request)


NEXT = a_pod(containerStatuses=[{**waiting("x"), "containerID": "containerd://c2"}])


@pytest.mark.parametrize(
    ("pods", "told"),
    [
        ((killed("c1", "OOMKilled"),), "of the present"),
        ((killed("c2", "OOMKilled"),), "of the one before"),
        ((killed("c1", "Error"), killed("c2", "Error")), "of the one before"),
        ((status(404),), "of the present"),
        ((NEXT,), "(the log of its container is gone; this is of container c2)\nof the present"),
    ],
)
def test_the_last_lines_of_a_member_are_its_own_though_another_is_in_its_place(
    monkeypatch: pytest.MonkeyPatch, pods: Sequence[httpx2.Response], told: str
) -> None:
    logs = Logs(*pods, now="of the present", before="of the one before")
    with host_that(monkeypatch) as (host, _):
        assert member(host, logs).log(20) == told


def test_how_a_member_died_is_told_though_its_log_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api = Api().on(f"GET {POD}", killed("c2", "OOMKilled")).on(f"GET {POD}/log", status(500))
    with host_that(monkeypatch) as (host, _):
        error = death(member(host, api), "died: exit code 137, out of memory")
    assert str(error) == (
        "redis-1: died: exit code 137, out of memory; "
        "its last lines are not known: the pod's log cannot be read: no"
    )
    assert error.hint == "kubectl --context theirs describe nodes"


def test_a_kubelet_that_tells_of_a_process_nobody_sees_is_not_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pod_member, "_TOLD", 0.0)
    alive = a_pod(containerStatuses=[{**waiting("x"), "containerID": "containerd://c1"}])
    with (
        host_that(monkeypatch, GONE) as (host, _),
        pytest.raises(StayError, match="no first process"),
    ):
        member(host, Api().on(f"GET {POD}", alive)).identified()
    with host_that(monkeypatch, GONE) as (host, _):
        ended = member(host, Api().on(f"GET {POD}", ended_pod()))
        assert ended.identified().process == Unseen("it has ended")


def test_whom_its_host_may_not_see_is_asked_for_at_the_cluster_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alive = a_pod(containerStatuses=[{**waiting("x"), "containerID": "containerd://c1"}])
    with host_that(monkeypatch) as (host, ran):
        monkeypatch.setattr(FakeHost, "confined", "no privileged pods", raising=False)
        one = member(host, Api().on(f"GET {POD}", alive))
        assert one.identified().process == Unseen("no privileged pods")
        assert one.ended() is None
        assert member(host, Api().on(f"GET {POD}", ended_pod())).ended() == "exit code 1"
        assert ran == []


def test_the_engine_is_asked_in_the_members_network_or_in_its_container(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = Completed(0, "hello", "")
    asked_in: list[tuple[str, ...]] = []

    def executed(
        _self: Namespace, _pod: str, _in: str, argv: tuple[str, ...], **_: Any
    ) -> Completed:
        asked_in.append(argv)
        return answer

    monkeypatch.setattr(Namespace, "execute", executed)
    argv = (ENGINE, "--version")
    alive = a_pod(containerStatuses=[{**waiting("x"), "containerID": "containerd://c1"}])
    with host_that(monkeypatch, SEEN, answer) as (host, ran):
        assert member(host, Api()).run(argv, stdin="", timeout=1.0) == answer
        assert ran[-1] == f"nsenter --target=42 --net {host.engine} --version"
    with host_that(monkeypatch, GONE) as (host, _):
        ended = member(host, Api().on(f"GET {POD}", ended_pod()))
        assert ended.run(argv, stdin="", timeout=1.0).code == NOT_RUN
        assert ended.run(("redis-cli",), stdin="", timeout=1.0) == answer
    with host_that(monkeypatch) as (host, _):
        monkeypatch.setattr(FakeHost, "confined", "no privileged pods", raising=False)
        unseen = member(host, Api().on(f"GET {POD}", alive))
        assert unseen.run(argv, stdin="", timeout=1.0) == answer
        assert asked_in == [("redis-cli",), (host.engine, "--version")]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (SEEN, Seen(42, "/pods/p/c1")),
        (GONE, None),
        (Completed(1, "42\n", "cat: /proc/42/cgroup: No such process"), None),
    ],
)
def test_a_first_process_that_has_just_ended_is_none(
    monkeypatch: pytest.MonkeyPatch, answer: Completed, found: Seen | None
) -> None:
    with host_that(monkeypatch, answer) as (host, _):
        assert first_process(host, "c1", "redis-1") == found


def test_a_host_that_cannot_look_for_a_process_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Completed(127, "", "sh: not found")
    with host_that(monkeypatch, refusal) as (host, _), pytest.raises(StayError, match="not found"):
        first_process(host, "c1", "redis-1")


def test_a_client_in_a_pod_has_its_names_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names, hosts, ran_well = (Completed(0, text, "") for text in ("search x\n", "1 a\n", "ok"))
    with host_that(monkeypatch, names, hosts, ran_well) as (host, ran):
        client = ClientPod(host, 7)
        assert (client.pid, client.landlord, client.engine) == (7, host, host.engine)
        kept = f"{host.scratch}/names-of-pod/etc"
        assert host.files[f"{kept}/resolv.conf"] == b"search x\n"
        assert client.run(["engine", "--version"]).stdout == "ok"
        assert ran[-1].startswith("nsenter --target=7 --net unshare --mount")
        assert ran[-1].endswith("engine --version")
        client.leave()
        assert not [file for file in host.files if file.startswith(kept)]
    with (
        host_that(monkeypatch, Completed(1, "", "no such process")) as (host, _),
        pytest.raises(StayError, match="no such process"),
    ):
        ClientPod(host, 7)
