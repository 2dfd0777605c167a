"""A Kubernetes of ours that does not come up, or is asked in vain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dunnage.contracts.kubernetes import KubernetesBinaries
from dunnage.errors import TO_LOOK, HostLostError, UnavailableError
from dunnage.hosts.fake.host import Task
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.study import TestbedSpec
from dunnage.substrates.kubernetes import own as own_module
from dunnage.substrates.kubernetes.choices import Choices
from dunnage.substrates.kubernetes.own import OwnKubernetes, open_kubernetes
from dunnage.substrates.kubernetes.place import Component
from dunnage.substrates.kubernetes.running import INTERVAL, READY

BINARIES = KubernetesBinaries(Path("/b"), Path("/c"), Path("/p"), {"PATH": "/b"}, "1", "test")


@pytest.fixture
def own() -> Iterator[OwnKubernetes]:
    """One that was never formed, on hosts in memory whose programs live until they are killed."""
    spec = TestbedSpec(kind="fake", hosts={"db": 1, "client": 1, "control": 1})
    with open_fake(spec, name="kubernetes") as testbed:
        testbed.world.programs["sh"] = lambda _: Task(seconds=None)
        yield OwnKubernetes(testbed, BINARIES, testbed.hosts, Choices())


def test_what_stays_late_is_told_with_the_reason_and_the_log_of_what_should_act(
    own: OwnKubernetes,
) -> None:
    control = own._running[own.control]
    control.host.put(control.place.log("kube-apiserver"), b"etcd is not there")
    with pytest.raises(UnavailableError) as refused:
        own._until("it is not ready", lambda: "no answer", "kube-apiserver")
    log = control.place.log("kube-apiserver")
    late = f"it is not ready within {READY:g} s: no answer"
    assert refused.value.what == f"{late}; its log `{log}` ends:\netcd is not there"
    assert refused.value.where == own.control
    assert refused.value.hint == TO_LOOK
    with pytest.raises(UnavailableError):
        own._until("it is not ready", lambda: "no answer", "kube-apiserver", 1.0)


def test_it_is_steady_only_without_a_break(own: OwnKubernetes) -> None:
    answers = iter([None, "a break", *[None] * 100])
    asked: list[str | None] = []

    def late() -> str | None:
        asked.append(next(answers))
        return asked[-1]

    own._until("it is not ready", late, "kube-apiserver", steady=1.0)
    clock = own._testbed.clock
    assert asked[:2] == [None, "a break"]
    assert len(asked) >= 1.0 / INTERVAL
    assert clock.now() > 0


def test_a_refusal_is_the_hosts_where_that_is_lost(
    own: OwnKubernetes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise httpx2.ConnectError("nobody is there")

    monkeypatch.setattr(own_module, "connect", refuse)
    why = "nodes cannot be listed: nobody is there"
    with pytest.raises(UnavailableError, match=why), own._asked("nodes cannot be listed"):
        pass
    monkeypatch.setattr(own._testbed, "lost", lambda: (own.control,))
    with pytest.raises(HostLostError), own._asked("nodes cannot be listed"):
        pass


def test_what_is_kept_is_not_ended_though_it_does_not_come_up_so_that_it_can_be_looked_at(
    own: OwnKubernetes, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []
    monkeypatch.setattr(OwnKubernetes, "stop", lambda _: ended.append("stop"))
    monkeypatch.setattr(OwnKubernetes, "form", lambda _: None)
    testbed: Any = own._testbed
    with open_kubernetes(testbed, BINARIES, testbed.hosts, keep=True):
        pass
    assert ended == []
    with open_kubernetes(testbed, BINARIES, testbed.hosts):
        pass
    assert ended == ["stop"]

    def fail(_: OwnKubernetes) -> None:
        raise UnavailableError("etcd ended")

    monkeypatch.setattr(OwnKubernetes, "form", fail)
    for keep in (True, False):
        ended.clear()
        with (
            pytest.raises(UnavailableError, match="etcd ended"),
            open_kubernetes(testbed, BINARIES, testbed.hosts, keep=keep),
        ):
            pass
        assert ended == ([] if keep else ["stop"])


def write_restarts(own: OwnKubernetes, host: str, *programs: str) -> None:
    there = own._running[host]
    lines = (f"1700000000.500000000 -9 {program}\n" for program in programs)
    there.host.put(there.place.restarts_file, "".join(lines).encode())


def test_restarts_of_all_hosts_are_told_but_not_that_of_our_own_forwarder(
    own: OwnKubernetes,
) -> None:
    write_restarts(own, "db-1", "kubelet")
    write_restarts(own, "control-1", "etcd", "forwarder", "etcd")
    found = {host: [each.program for each in each_of] for host, each_of in own.restarts().items()}
    assert found == {"db-1": ["kubelet"], "client-1": [], "control-1": ["etcd", "etcd"]}


def test_a_host_that_is_lost_tells_of_no_restarts(own: OwnKubernetes) -> None:
    testbed: Any = own._testbed
    testbed.world.lose("db-1")
    with pytest.raises(HostLostError):
        own.restarts()


class Commands:
    """A control host whose controllers are started; notes when."""

    def __init__(self, order: list[str]) -> None:
        self.order = order

    def command(self) -> None:
        self.order.append("controllers")


@dataclass
class Answering:
    """Questions that are answered in this order; None is content."""

    order: list[str]
    answers: list[str | None]

    def server(self) -> str | None:
        answer = self.answers.pop(0)
        self.order.append(answer or "ready")
        return answer


def awakened(
    own: OwnKubernetes, monkeypatch: pytest.MonkeyPatch, *answers: str | None
) -> list[str]:
    """What happens, in order, where the API server answers so when all is let go."""
    order: list[str] = []
    own._running[own.control].start(Component("kube-apiserver", ("sleep", "1000")))
    for name, made in (("_commander", Commands(order)), ("_probes", Answering(order, [*answers]))):
        monkeypatch.setattr(OwnKubernetes, name, made)
    monkeypatch.setattr(OwnKubernetes, "_wait", lambda *_: order.append("waited"))
    own.wake()
    return order


def test_controllers_are_started_when_the_api_server_answers(
    own: OwnKubernetes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They end where it is just restarted, for good."""
    order = awakened(own, monkeypatch, "connection refused", "connection refused", None)
    assert order == ["connection refused", "connection refused", "ready", "controllers", "waited"]


def test_a_wake_in_vain_is_told_with_the_program_that_ended_for_good(
    own: OwnKubernetes, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = own._running[own.control]
    there.start(Component("etcd", ("sleep", "1000")))
    there._processes["etcd"].signal("KILL")
    with pytest.raises(UnavailableError, match="`etcd` was ended by signal 9"):
        awakened(own, monkeypatch, "no answer")


def test_without_an_api_server_nothing_is_waited_for(own: OwnKubernetes) -> None:
    own.wake()
    assert not own._commanded()


def test_a_host_that_is_mended_is_forgotten_before_all_is_let_go(
    own: OwnKubernetes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ran there would be taken for what has ended."""
    testbed: Any = own._testbed
    own._running["db-1"].start(Component("kubelet", ("sleep", "1000")))
    testbed.world.lose("db-1")
    testbed.restore("db-1")
    known: list[tuple[str, ...]] = []
    thaw = OwnKubernetes._thaw

    def noted(self: OwnKubernetes) -> None:
        known.append(self._running["db-1"].units)
        thaw(self)

    monkeypatch.setattr(OwnKubernetes, "_thaw", noted)
    own.mend("db-1")
    assert known == [()]


def test_a_kubeconfig_is_for_who_may_do_everything(own: OwnKubernetes) -> None:
    told = json.loads(own.kubeconfig("https://there"))
    assert told["users"][0]["name"] == "dunnage"
    assert told["clusters"][0]["cluster"]["server"] == "https://there"


def test_what_to_type_about_it_begins_with_keeping_its_lab(own: OwnKubernetes) -> None:
    assert own.asking("get nodes") == (
        "dunnage run --keep STUDY  # then: dunnage lab shell control-1 -- kubectl get nodes"
    )
