"""A Kubernetes of ours that does not come up, or is asked in vain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dunnage.contracts.kubernetes import KubernetesBinaries
from dunnage.errors import HostLostError, StayError, UnavailableError
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.study import TestbedSpec
from dunnage.substrates.kubernetes import own as own_module
from dunnage.substrates.kubernetes.choices import Choices
from dunnage.substrates.kubernetes.own import OwnKubernetes, open_kubernetes
from dunnage.substrates.kubernetes.running import INTERVAL, READY

BINARIES = KubernetesBinaries(Path("/b"), Path("/c"), Path("/p"), {"PATH": "/b"}, "1", "test")


@pytest.fixture
def own() -> Iterator[OwnKubernetes]:
    """One that was never formed, on hosts in memory."""
    spec = TestbedSpec(kind="fake", hosts={"db": 1, "client": 1, "control": 1})
    with open_fake(spec, name="kubernetes") as testbed:
        yield OwnKubernetes(testbed, BINARIES, testbed.hosts, Choices())


def test_what_stays_late_is_told_with_the_reason_and_the_log_of_what_should_act(
    own: OwnKubernetes,
) -> None:
    control = own._running[own.control]
    control.host.put(control.place.log("kube-apiserver"), b"etcd is not there")
    with pytest.raises(UnavailableError) as refused:
        own._until("it is not ready", lambda: "no answer", "kube-apiserver")
    expected = f"it is not ready within {READY:g} s: no answer; its log ends:\netcd is not there"
    assert refused.value.what == expected
    assert refused.value.where == own.control
    assert refused.value.hint == "dunnage doctor"
    with pytest.raises(StayError):
        own._until("it is not ready", lambda: "no answer", "kube-apiserver", StayError, 1.0)


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


def test_what_does_not_come_up_is_ended_and_what_is_kept_is_not(
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
    with (
        pytest.raises(UnavailableError, match="etcd ended"),
        open_kubernetes(testbed, BINARIES, testbed.hosts, keep=True),
    ):
        pass
    assert ended == ["stop", "stop"]


def test_restarts_of_all_hosts_that_live_are_told_the_earliest_first(
    own: OwnKubernetes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, line in (("db-1", b"20.5 9 kubelet\n"), ("control-1", b"10.5 9 etcd\n")):
        there = own._running[name]
        there.host.put(there.place.restarts, line)
    assert [(each.host, each.program) for each in own.restarts()] == [
        ("control-1", "etcd"),
        ("db-1", "kubelet"),
    ]
    monkeypatch.setattr(own._testbed, "lost", lambda: ("db-1",))
    assert [each.program for each in own.restarts()] == ["etcd"]


def test_a_kubeconfig_is_for_who_may_do_everything_or_for_a_user(own: OwnKubernetes) -> None:
    for user, named in ((None, "dunnage"), ("reader", "reader")):
        told = json.loads(own.kubeconfig("https://there", user))
        assert told["users"][0]["name"] == named
        assert told["clusters"][0]["cluster"]["server"] == "https://there"
