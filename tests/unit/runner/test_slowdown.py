"""What a slowdown really did is read back for exactly the measured window."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stage import Hand

from dunnage.contracts.platform import RunningMember, Seen
from dunnage.errors import RunError
from dunnage.hosts.fake.host import FakeHost
from dunnage.hosts.fake.testbed import FakeTestbed, open_fake
from dunnage.model.study import TestbedSpec
from dunnage.runner.slowdown import Slowdown, slowdown


@pytest.fixture
def testbed() -> Iterator[FakeTestbed]:
    with open_fake(TestbedSpec(kind="fake"), name="slow") as opened:
        yield opened


def written(host: FakeHost, *points: tuple[float, float], tail: str = "") -> tuple[FakeHost, str]:
    lines = [json.dumps({"time": time, "paused": paused}) for time, paused in points]
    host.put("/pause.jsonl", ("\n".join(lines) + "\n" + tail).encode())
    return host, "/pause.jsonl"


def test_the_share_is_interpolated_between_lines(testbed: FakeTestbed) -> None:
    file = written(testbed.hosts[0], (10.0, 0.0), (20.0, 1.0), (30.0, 4.0))
    held = Slowdown((file,), Hand())
    assert held.paused(15.0, 10.0) == pytest.approx((1.0 + 1.5 - 0.5) / 10.0)
    assert held.paused(10.0, 20.0) == pytest.approx(4.0 / 20.0)


@given(
    st.floats(0.0, 0.9),
    st.floats(0.0, 49.0),
    st.floats(1.0, 50.0),
    st.lists(st.floats(0.0, 100.0), unique=True),
)
def test_an_even_pause_is_its_share_of_every_window(
    share: float, began: float, seconds: float, between: list[float]
) -> None:
    spec = TestbedSpec(kind="fake")
    with open_fake(spec, name="even") as testbed:
        times = sorted({0.0, *between, 100.0})
        file = written(testbed.hosts[0], *((time, time * share) for time in times))
        seen = Slowdown((file,), Hand()).paused(began, seconds)
    assert seen == pytest.approx(share, abs=1e-9)


def test_hosts_are_averaged_each_by_its_own_clock(testbed: FakeTestbed) -> None:
    one, other, *_ = testbed.hosts
    testbed.world.ahead(other.name, 100.0)
    files = (
        written(one, (0.0, 0.0), (10.0, 1.0), (200.0, 200.0)),
        written(other, (0.0, 0.0), (100.0, 50.0), (110.0, 53.0)),
    )
    assert Slowdown(files, Hand()).paused(0.0, 10.0) == pytest.approx((0.1 + 0.3) / 2)


def test_a_window_that_is_not_covered_is_an_error(testbed: FakeTestbed) -> None:
    held = Slowdown((written(testbed.hosts[0], (10.0, 0.0), (20.0, 1.0)),), Hand())
    for began, seconds in ((5.0, 10.0), (15.0, 10.0), (30.0, 1.0)):
        with pytest.raises(RunError, match="does not cover"):
            held.paused(began, seconds)


@pytest.mark.parametrize("content", [None, b"", b'{"time": 1'])
def test_a_record_that_was_never_written_is_an_error(
    testbed: FakeTestbed, content: bytes | None
) -> None:
    host = testbed.hosts[0]
    if content is not None:
        host.put("/pause.jsonl", content)
    with pytest.raises(RunError, match="does not cover"):
        Slowdown(((host, "/pause.jsonl"),), Hand()).paused(0.0, 1.0)


def test_a_line_that_is_being_written_is_waited_for(testbed: FakeTestbed) -> None:
    host = testbed.hosts[0]
    file = written(host, (0.0, 0.0), (5.0, 0.5), tail='{"time": 10.0, "pau')
    clock = testbed.clock
    clock.at(clock.now() + 0.5, lambda: written(host, (0.0, 0.0), (10.0, 1.0)) and None)
    assert Slowdown((file,), clock).paused(0.0, 10.0) == pytest.approx(0.1)


def test_without_a_slowdown_nothing_is_said(testbed: FakeTestbed) -> None:
    with slowdown(0.0, (), testbed.clock) as held:
        assert held.paused(0.0, 1.0) is None


def test_one_program_a_host_holds_its_members_and_ends_with_the_stay(testbed: FakeTestbed) -> None:
    one, other, *_ = testbed.hosts
    with ExitStack() as stack:
        members = []
        for name, host in (("a", one), ("b", one), ("c", other)):
            process = host.start(["fake-daemon"], unit=name, log=f"/{name}.log")
            stack.callback(process.signal, "KILL")
            members.append(RunningMember(name, host, Seen(process.pid, f"/{name}")))
        began = testbed.clock.now()
        with slowdown(0.25, members, testbed.clock) as held:
            assert len(testbed.world.pauses) == 2
            assert {pid for pause in testbed.world.pauses for pid in pause.pids} == {
                member.process.pid for member in members if isinstance(member.process, Seen)
            }
            testbed.clock.sleep(10.0)
            assert held.paused(began + 1.0, 5.0) == pytest.approx(0.25, abs=0.01)
        assert not any(pause.alive for pause in testbed.world.pauses)
