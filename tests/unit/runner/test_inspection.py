"""Configuration is told as the process finds it, or told to be absent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from dunnage.contracts.platform import RunningMember, Seen, Unseen
from dunnage.errors import StayError
from dunnage.hosts.fake.host import FakeHost
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.layout import Place
from dunnage.model.process import ProcessFacts, UnseenProcess
from dunnage.model.study import TestbedSpec
from dunnage.runner.inspection import inspect, to_hold

FILE = "/home/redis.conf"


@pytest.fixture
def host() -> Iterator[FakeHost]:
    spec = TestbedSpec(kind="fake")
    with open_fake(spec, name="inspection") as opened:
        yield opened.hosts[0]


@pytest.fixture
def member(host: FakeHost) -> RunningMember:
    host.put(FILE, b"port 6379\n")
    process = host.start(("fake-daemon",), unit="redis-1", log="/home/log")
    return RunningMember("redis-1", host, Seen(process.pid, host.control_group("redis-1")))


def place(host: FakeHost) -> Place:
    return Place("redis-1", "primary", host.name, "/home", "/home/data", "/tree", {})


def test_what_a_file_holds_now_counts_and_not_what_was_put_there(
    host: FakeHost, member: RunningMember
) -> None:
    host.put(FILE, b"port 6380\n")
    found = inspect(member, place(host), [FILE])
    assert isinstance(found, ProcessFacts)
    assert found.files == {FILE: "port 6380\n"}
    assert found.absent == {}


def test_a_file_that_is_gone_is_absent_and_not_empty(host: FakeHost, member: RunningMember) -> None:
    host.remove(FILE)
    found = inspect(member, place(host), [FILE])
    assert isinstance(found, ProcessFacts)
    assert found.files == {}
    assert found.absent == {FILE: "No such file or directory"}


def test_a_process_that_has_gone_cannot_be_inspected(host: FakeHost, member: RunningMember) -> None:
    gone = replace(member, process=Seen(999_999, host.control_group("redis-1")))
    with pytest.raises(StayError, match="cannot inspect its process"):
        inspect(gone, place(host), [FILE])


def test_a_process_that_its_host_does_not_see_is_told_with_the_reason(
    host: FakeHost, member: RunningMember
) -> None:
    elsewhere = replace(member, process=Unseen("it runs elsewhere"))
    assert inspect(elsewhere, place(host), [FILE]) == UnseenProcess(
        member="redis-1", role="primary", reason="it runs elsewhere"
    )


def test_a_process_that_its_host_does_not_see_cannot_be_held_still(member: RunningMember) -> None:
    with pytest.raises(StayError, match="redis-1: it cannot be held still: it runs elsewhere"):
        to_hold(replace(member, process=Unseen("it runs elsewhere")))
