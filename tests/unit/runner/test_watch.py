"""Which control groups of a host are watched, and what its counters do not show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

import pytest

from dunnage.contracts.platform import RunningMember, Seen, Unseen
from dunnage.hosts.fake.host import FakeHost
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.load import OWN_UNITS
from dunnage.model.study import TestbedSpec
from dunnage.runner.stay import Stay
from dunnage.runner.watch import _units, _unseen, _untold


class OnNothing:
    """A stay without a substrate."""

    substrate = None


STAY = cast("Stay", OnNothing())


@pytest.fixture
def host() -> Iterator[FakeHost]:
    with open_fake(TestbedSpec(kind="fake"), name="watch") as opened:
        yield opened.hosts[0]


def member(host: FakeHost, group: str) -> RunningMember:
    return RunningMember("redis-1", host, Seen(7, group))


@pytest.mark.parametrize("whole", ["/", "/pods"])
def test_a_member_is_seen_that_is_inside_the_group_of_its_host(
    host: FakeHost, monkeypatch: pytest.MonkeyPatch, whole: str
) -> None:
    monkeypatch.setattr(FakeHost, "control_group", lambda *_: whole)
    assert _unseen([host], [member(host, "/pods/p/c")]) == {}
    assert _units(STAY, host, [member(host, "/pods/p/c")])["redis-1"] == "/pods/p/c"


def test_a_member_beside_its_host_or_out_of_sight_is_not_seen(host: FakeHost) -> None:
    beside = _unseen([host], [member(host, "/elsewhere/c")])
    assert "not inside that of its host" in beside[host.name]["redis-1"]
    away = RunningMember("redis-1", host, Unseen("it is away"))
    assert _unseen([host], [away]) == {host.name: {"redis-1": "it is away"}}
    assert _units(STAY, host, [away]).keys() == {"", *OWN_UNITS}


def test_of_a_host_that_sees_one_pod_only_nothing_is_watched_and_the_reason_is_told(
    host: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeHost, "confined", "the cluster says no", raising=False)
    away = RunningMember("redis-1", host, Unseen("the cluster says no"))
    reasons = dict.fromkeys(("", "redis-1"), "the cluster says no")
    assert _unseen([host], [away]) == {host.name: reasons}
    assert _units(STAY, host, [away]) == {}


def test_groups_of_others_are_watched_where_a_host_tells_them_apart(
    host: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = {"agent": "/pods/p/a", "pods": "/pods"}
    monkeypatch.setattr(FakeHost, "shared", groups, raising=False)
    assert groups.items() <= _units(STAY, host, []).items()


NETWORKS = {"db-1": (1, 2), "client-1": (3,), "bridge": (4,)}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (NETWORKS, NETWORKS, ""),
        ({}, {}, ""),
        ({**NETWORKS, "db-1": ()}, NETWORKS, "no network namespace of `db-1` could be read"),
        (NETWORKS, {**NETWORKS, "bridge": ()}, "no network namespace of `bridge` could be read"),
        (NETWORKS, {**NETWORKS, "db-1": (1, 2, 5)}, "began or ended on `db-1` while"),
        (NETWORKS, {**NETWORKS, "client-1": (5,)}, "began or ended on `client-1` while"),
    ],
)
def test_networks_that_are_not_the_same_before_and_after_cannot_tell_whose_packets_came(
    before: Mapping[str, tuple[int, ...]], after: Mapping[str, tuple[int, ...]], words: str
) -> None:
    assert words in _untold(before, after)
    assert bool(_untold(before, after)) is bool(words)
