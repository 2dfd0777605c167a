"""An API server that is away while a stay goes on: waited for, and told of."""

from __future__ import annotations

import httpx2
import pytest
from played_api import (
    MADE,
    NAMESPACES,
    POD,
    VOLUME,
    VOLUMES,
    Api,
    Ticking,
    a_pod,
    begun,
    ok,
    opened,
    status,
    waiting,
)

from dunnage.clusters import outage
from dunnage.deadline import Deadline
from dunnage.errors import StayError
from dunnage.platforms.kubernetes import starting


def test_a_server_that_fails_while_its_etcd_is_restarted_is_waited_for() -> None:
    failing = status(500, "etcdserver: request timed out")
    api = Api().on(f"GET {POD}", failing, status(503), a_pod(), status(404))
    begun(api).await_gone("redis-1-0", "redis-1")
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
    begun(api).let_go("redis-1", "redis-1-0", lost=False)
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
        begun(api).await_gone("redis-1-0", "redis-1")


def test_a_server_that_does_not_come_back_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "AWAY", 0.0)

    def gone(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("connection refused")

    with pytest.raises(StayError, match=r"its pod cannot be inspected: .*connection refused"):
        begun(gone).await_gone("redis-1-0", "redis-1")
