"""What the API, a host's kernel and a cluster's addresses say of members in pods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

import pytest
from lightkube.codecs import from_dict
from lightkube.resources.core_v1 import Event, Pod

from dunnage.clusters.execute import CannotRunError, exit_code
from dunnage.clusters.pod_state import PodState, state_of, warnings
from dunnage.contracts.platform import Seen
from dunnage.model.choices import Peers
from dunnage.model.late import late_host
from dunnage.model.layout import Address
from dunnage.platforms.kubernetes.addresses import Served, addressing
from dunnage.platforms.kubernetes.process import parsed

RUNNING = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}


def pod(**status: Any) -> PodState:
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "redis-1-0", "uid": "u1"},
        "status": status,
    }
    return state_of(cast("Pod", from_dict(made)))


def with_container(**container: Any) -> PodState:
    known = {"name": "member", "image": "i", "imageID": "", "ready": True, "restartCount": 0}
    return pod(phase="Running", containerStatuses=[{**known, **container}])


def terminated(container: str, code: int, reason: str = "Error") -> dict[str, Any]:
    told = {"containerID": f"containerd://{container}", "exitCode": code, "reason": reason}
    return {"terminated": told}


def test_a_pod_that_runs_is_told_by_its_address_and_its_container() -> None:
    running = {"name": "member", "image": "i", "imageID": "", "ready": True, "restartCount": 0}
    state = pod(
        phase="Running",
        podIP="10.0.0.9",
        qosClass="Burstable",
        containerStatuses=[{**running, "containerID": "containerd://c1", "state": RUNNING}],
    )
    assert (state.uid, state.address, state.container) == ("u1", "10.0.0.9", "c1")
    assert (state.running, state.ends, state.quality) == (True, (), "Burstable")
    assert (state.reason, state.first, state.hopeless) == ("", "c1", False)
    assert state.ended("c1") is None


def test_a_pod_without_a_container_has_none() -> None:
    state = pod(phase="Pending")
    assert (state.container, state.running, state.first, state.reason) == ("", False, "", "")


@pytest.mark.parametrize(
    ("code", "reason", "told"),
    [(137, "OOMKilled", "exit code 137, out of memory"), (1, "Error", "exit code 1")],
)
def test_how_a_container_ended_is_told_also_after_it_was_started_anew(
    code: int, reason: str, told: str
) -> None:
    state = with_container(
        containerID="containerd://c2", state=RUNNING, lastState=terminated("c1", code, reason)
    )
    assert str(state.ended("c1")) == told
    assert state.ended("c2") is None
    assert (state.first, state.running) == ("c1", True)


def test_a_crash_loop_is_hopeless_and_tells_the_last_end() -> None:
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}}
    state = with_container(
        containerID="containerd://c2", state=waiting, lastState=terminated("c2", 3)
    )
    assert (state.reason, state.message, state.hopeless) == (
        "CrashLoopBackOff",
        "back-off 10s",
        True,
    )
    assert [each.code for each in state.ends] == [3]


def test_a_program_that_cannot_be_started_never_ran() -> None:
    told = {"exitCode": 128, "reason": "StartError", "message": "no such file"}
    waiting = {"waiting": {"reason": "CrashLoopBackOff"}}
    for states in (
        {"state": {"terminated": told}},
        {"state": waiting, "lastState": {"terminated": told}},
    ):
        state = with_container(containerID="containerd://c1", **states)
        assert (state.never_ran, state.reason, state.message) == (
            True,
            "StartError",
            "no such file",
        )


def test_an_image_that_is_missing_is_hopeless_and_being_made_is_not() -> None:
    missing = with_container(state={"waiting": {"reason": "ErrImageNeverPull", "message": "m"}})
    assert (missing.reason, missing.hopeless) == ("ErrImageNeverPull", True)
    made = with_container(state={"waiting": {"reason": "ContainerCreating"}})
    assert (made.reason, made.hopeless) == ("", False)


def test_a_pod_that_cannot_be_scheduled_may_still_be() -> None:
    told = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    state = pod(phase="Pending", conditions=[{**told, "message": "0/4 nodes"}])
    assert (state.reason, state.message, state.hopeless) == ("Unschedulable", "0/4 nodes", False)


def test_an_evicted_pod_is_told_with_the_kubelets_words() -> None:
    state = pod(phase="Failed", reason="Evicted", message="low on memory")
    assert (state.reason, state.message, state.hopeless) == ("Evicted", "low on memory", True)


def test_warnings_are_told_once_and_the_newest_last() -> None:
    def event(kind: str, reason: str, at: str) -> Event:
        made = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{reason}{at}"},
            "involvedObject": {},
            "type": kind,
            "reason": reason,
            "message": "why ",
            "lastTimestamp": f"2026-01-01T00:00:0{at}Z",
        }
        return cast("Event", from_dict(made))

    events = [event("Warning", "B", "2"), event("Normal", "N", "3"), event("Warning", "A", "1")]
    assert warnings([*events, event("Warning", "B", "4")]) == ("A: why", "B: why")


def test_a_first_process_is_in_the_containers_group_of_memory() -> None:
    printed = "42\n9:cpuset:/x\n8:cpu,cpuacct:/pods/c1\n7:memory:/pods/p/c1\n"
    assert parsed(printed, "c1") == Seen(42, "/pods/p/c1")
    assert parsed("42\n0::/pods/c1\n", "c1") == Seen(42, "/pods/c1")
    assert parsed("42\n7:memory:/other\n", "c1") is None
    assert parsed("", "c1") is None


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ({"status": "Success"}, 0),
        ({"status": "Failure", "details": {"causes": [{"reason": "ExitCode", "message": "3"}]}}, 3),
    ],
)
def test_a_command_ends_with_the_code_that_the_status_tells(
    status: Mapping[str, Any], code: int
) -> None:
    assert exit_code(json.loads(json.dumps(status))) == code


def test_a_command_that_never_ran_has_no_code() -> None:
    with pytest.raises(CannotRunError, match="no such file"):
        exit_code({"status": "Failure", "message": "no such file"})


class _AtHost:
    name, address = "db-1", "10.77.0.1"


HOST = cast("Any", _AtHost())


SERVED = {"redis-1": Served("10.68.0.7", {1: 30001, 6379: 30123})}


@pytest.mark.parametrize(
    ("endpoint", "bind", "told", "advertised"),
    [
        ("host-port", (late_host("redis-1"), 6379), ("10.77.0.1", 6379), ("10.77.0.1", 6379)),
        ("service-ip", (late_host("redis-1"), 6379), ("10.68.0.7", 6379), ("10.68.0.7", 6379)),
        ("node-port", (late_host("redis-1"), 30123), ("10.77.0.1", 30123), ("10.77.0.1", 30123)),
        (
            "container-dns",
            (late_host("redis-1"), 6379),
            ("redis-1", 6379),
            (late_host("redis-1"), 6379),
        ),
    ],
)
def test_clients_and_peers_are_told_the_endpoint(
    endpoint: str, bind: tuple[str, int], told: tuple[str, int], advertised: tuple[str, int]
) -> None:
    found = addressing(endpoint, Peers.ENDPOINT, SERVED)("redis-1", HOST, 6379)
    assert found.bind == Address(*bind)
    assert found.peer == found.contact == Address(*told)
    assert found.advertised == Address(*advertised)


@pytest.mark.parametrize(("endpoint", "port"), [("service-ip", 6379), ("node-port", 30123)])
def test_peers_that_go_directly_use_the_headless_name(endpoint: str, port: int) -> None:
    found = addressing(endpoint, Peers.DIRECT, SERVED)("redis-1", HOST, 6379)
    assert found.peer == Address("redis-1", port)
    assert found.contact != found.peer
