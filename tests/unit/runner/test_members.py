"""How members were when a load had ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from dunnage.analysis.checks import MemberState
from dunnage.contracts.platform import RunningMember, Seen, Unseen
from dunnage.errors import TO_LOOK, StayError
from dunnage.hosts.fake.testbed import FakeTestbed, open_fake
from dunnage.model.layout import Place, Reservation
from dunnage.model.study import TestbedSpec
from dunnage.runner.members import ANSWERS, insist_whole, states

ROOM = 2.0**32
"""Bytes that a fake host has left."""


class Members:
    """A platform of two members, that were found like this."""

    def __init__(self, testbed: FakeTestbed) -> None:
        first, second = testbed.group("db")
        self.alive = (
            RunningMember("one", first, Seen(7, "/one")),
            RunningMember("two", second, Unseen("it is elsewhere")),
        )
        self.dead: Mapping[str, str] = {}
        self.asked: list[float] = []

    def ended(self) -> Mapping[str, str]:
        return self.dead

    def running(self) -> tuple[RunningMember, ...]:
        assert not self.dead
        return self.alive

    def silent(self, seconds: float) -> Mapping[str, str]:
        self.asked.append(seconds)
        return {"two": "Error:\nno answer\n"}


@pytest.fixture
def testbed() -> Iterator[FakeTestbed]:
    with open_fake(TestbedSpec(kind="fake", hosts={"db": 2, "client": 1}), name="m") as opened:
        yield opened


@pytest.fixture
def members(testbed: FakeTestbed) -> Members:
    return Members(testbed)


def stay(members: Members) -> Any:
    places = [
        Place(each.member, "server", each.host.name, "/home", "/home/data", "/opt", {})
        for each in members.alive
    ]
    return SimpleNamespace(platform=members, reservation=Reservation(tuple(places)))


def test_where_nothing_failed_nobody_is_asked_and_room_is_read_of_those_that_are_seen(
    members: Members, testbed: FakeTestbed
) -> None:
    found = states(stay(members), failed=False)
    assert found == (MemberState("one", "db-1", room=ROOM), MemberState("two", "db-2"))
    testbed.world.fill("db-1")
    assert [each.room for each in states(stay(members), failed=False)] == [0.0, None]
    assert members.asked == []


def test_where_operations_failed_members_are_asked(members: Members) -> None:
    one, two = states(stay(members), failed=True)
    assert (one.silent, two.silent) == ("", "Error: no answer")
    assert members.asked == [ANSWERS]


def test_where_one_has_died_it_is_named_and_no_room_is_read(members: Members) -> None:
    members.dead = {"one": "exit code 137"}
    assert states(stay(members), failed=False) == (
        MemberState("one", "db-1", ended="exit code 137"),
        MemberState("two", "db-2"),
    )


def test_a_stay_is_over_where_a_member_has_no_room_left(
    members: Members, testbed: FakeTestbed
) -> None:
    insist_whole(stay(members))
    testbed.world.fill("db-1")
    with pytest.raises(StayError) as raised:
        insist_whole(stay(members))
    assert str(raised.value) == "one: only 0 B are left for its data"
    assert raised.value.hint == TO_LOOK
    testbed.world.full.clear()
    testbed.world.fill("db-2")  # which does not see its member
    insist_whole(stay(members))


def test_a_host_that_does_not_tell_of_its_disk_leaves_that_unknown(
    members: Members, testbed: FakeTestbed
) -> None:
    del testbed.world.programs["stat"]
    assert [each.room for each in states(stay(members), failed=False)] == [None, None]
