"""A member in a pod, on an API that is played: whether it lives, how it died, what it said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest
from played_api import POD, Api, a_pod, host_that, ok, opened, status, tree, waiting

from dunnage.contracts.host import Completed
from dunnage.contracts.platform import Seen, Unseen
from dunnage.errors import StayError
from dunnage.hosts.fake.host import FakeHost
from dunnage.model.layout import ENGINE, Probe, Service, Software
from dunnage.platforms.execute import NOT_RUN
from dunnage.platforms.kubernetes import pod_member
from dunnage.platforms.kubernetes.client_pod import ClientPod
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.pod_member import PodMember
from dunnage.platforms.kubernetes.process import first_process
from dunnage.platforms.readiness import death

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
    api = Api().on(f"GET {POD}", killed("c2", "OOMKilled")).on(f"GET {POD}/log", status(403))
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
