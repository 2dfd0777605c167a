"""Volumes of a stay and claims to them, on an API that is played: made, and waited for."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import httpx2
import pytest
from played_api import CLAIMS, MADE, NAMESPACES, VOLUME, VOLUMES, Api, Ticking, ok, opened, status

from dunnage import deadline
from dunnage.deadline import Deadline
from dunnage.errors import StayError
from dunnage.platforms.kubernetes import starting


def storage(
    *volume: str, claim: Sequence[str] = ("Bound",)
) -> tuple[Api, dict[str, Any], dict[str, Any]]:
    """A cluster that tells these phases, one after the other, and what is asked to be stored."""

    def phases(kind: str, told: Sequence[str]) -> list[httpx2.Response]:
        return [ok(kind=kind, metadata={"name": "d"}, status={"phase": each}) for each in told]

    kinds = ("PersistentVolume", "PersistentVolumeClaim")
    own = {"name": "redis-1", "namespace": "dunnage-b1-x-1"}
    api = Api().on(f"POST {NAMESPACES}", MADE).on(f"POST {VOLUMES}", *phases(kinds[0], ["Pending"]))
    api.on(f"GET {VOLUMES}/d", *phases(kinds[0], volume))
    api.on(f"POST {CLAIMS}", *phases(kinds[1], ["Pending"]))
    return (
        api.on(f"GET {CLAIMS}/redis-1", *phases(kinds[1], claim)),
        {"apiVersion": "v1", "kind": kinds[0], "metadata": {"name": "d"}},
        {"apiVersion": "v1", "kind": kinds[1], "metadata": own},
    )


def test_a_claim_is_made_when_its_volume_was_taken_in_and_is_waited_for() -> None:
    api, made, claimed = storage("Pending", "Available", claim=("Pending", "Bound"))
    opened(api).create_all((made, claimed), "redis-1", Deadline.after(60.0))
    volume, claim = [f"GET {VOLUMES}/d"] * 2, [f"GET {CLAIMS}/redis-1"] * 2
    assert api.asked == [f"POST {VOLUMES}", *volume, f"POST {CLAIMS}", *claim]


@pytest.mark.parametrize(
    ("volume", "claim", "told"),
    [
        ("Pending", "Bound", "redis-1: volume `d` is not available after 0 s"),
        ("Available", "Pending", "redis-1: claim `redis-1` is not bound after 0 s"),
    ],
)
def test_storage_that_is_not_there_within_the_deadline_is_told(
    volume: str, claim: str, told: str
) -> None:
    api, made, claimed = storage(volume, claim=(claim,))
    with pytest.raises(StayError, match=told):
        opened(api).create_all((made, claimed), "redis-1", Deadline.after(0.0))


def test_a_volume_and_the_claim_to_it_share_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of it is over when the volume is available."""
    monkeypatch.setattr(deadline, "time", Ticking())
    api, made, claimed = storage(*["Pending"] * 5, "Available", claim=("Pending",))
    with pytest.raises(StayError, match="claim `redis-1` is not bound after 10 s"):
        opened(api).create_all((made, claimed), "redis-1", Deadline.after(10.0))
    assert api.asked.count(f"GET {VOLUMES}/d") == 6
    assert api.asked.count(f"GET {CLAIMS}/redis-1") == 5


def test_storage_and_pods_are_not_waited_for_when_all_is_given_up() -> None:
    """Long before the deadline is over."""
    given_up = threading.Event()
    given_up.set()
    within = Deadline.after(60.0, given_up)
    api, made, claimed = storage("Pending")
    with pytest.raises(StayError, match="given up"):
        opened(api).create_all((made, claimed), "redis-1", within)
    with pytest.raises(StayError, match="given up"):
        starting.await_container(opened(Api()), "redis-1", within)
    assert not within.passed


def test_storage_that_cannot_be_seen_is_told_in_the_clusters_words() -> None:
    api, made, claimed = storage("Available")
    api.on(f"GET {CLAIMS}/redis-1", status(403, "claims are forbidden"))
    with pytest.raises(StayError, match="its claim cannot be inspected: claims are forbidden"):
        opened(api).create_all((made, claimed), "redis-1", Deadline.after(60.0))
    api, made, claimed = storage("Available")
    api.on(f"GET {VOLUMES}/d", status(403, "volumes are forbidden"))
    with pytest.raises(StayError, match="its volume cannot be inspected: volumes are forbidden"):
        opened(api).create_all((made, claimed), "redis-1", Deadline.after(60.0))


def test_volumes_are_waited_for_and_a_server_that_comes_back_is_too() -> None:
    own = f"{NAMESPACES}/dunnage-b1-x-1"
    api = Api().on(f"POST {NAMESPACES}", MADE).on(f"DELETE {own}", ok(kind="Status"))
    api.on(f"GET {own}", status(404)).on(f"DELETE {VOLUMES}/dunnage-b1-x-1-redis-1", status(404))
    left, nothing = ok(items=[VOLUME], metadata={}), ok(items=[], metadata={})
    api.on(f"GET {VOLUMES}", left, left, nothing).on(f"POST {VOLUMES}", ok(**VOLUME))
    silent = 2

    def away(request: httpx2.Request) -> httpx2.Response:
        nonlocal silent
        if request.method == "GET" and silent:
            silent -= 1
            raise httpx2.ConnectError("connection refused")
        return api(request)

    there = opened(away)
    there.begin()
    there.create(VOLUME, "redis-1")
    there.end()
    assert api.asked.count(f"GET {VOLUMES}") == 3
    assert silent == 0
