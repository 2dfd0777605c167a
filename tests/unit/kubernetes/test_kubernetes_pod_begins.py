"""A stay's pods that begin, on an API that is played: waited for, and why one does not."""

from __future__ import annotations

import httpx2
import pytest
from played_api import NAMESPACES, POD, Api, a_pod, ok, opened, status, waiting

from dunnage.clusters import begun, outage
from dunnage.deadline import Deadline
from dunnage.errors import StayError
from dunnage.platforms.kubernetes import starting

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
