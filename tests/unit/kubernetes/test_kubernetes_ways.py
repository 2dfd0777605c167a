"""Ways to members that are read before kube-proxy leads there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from played_kubernetes import HOSTS, Nodes, Trees, deployed

from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.path import NetworkPath
from dunnage.platforms.hosted_members import HostedMembers
from dunnage.platforms.kubernetes import platform as rooms
from dunnage.platforms.kubernetes.platform import Kubernetes

NOBODY = "on `db-1` nobody listens on 10.77.0.1:30001"


def way(unknown: str) -> tuple[NetworkPath, ...]:
    return (NetworkPath(client="client-1", member="redis-1", address="", hops=(), unknown=unknown),)


def read(
    monkeypatch: pytest.MonkeyPatch, endpoint: str, *answers: str
) -> tuple[str, Iterator[str]]:
    """What is told of a way in the end, and what was not asked any more."""
    left = iter(answers)
    monkeypatch.setattr(HostedMembers, "paths", lambda *_: way(next(left)))
    with open_fake(HOSTS, name="ways") as testbed:
        asked = deployed("flannel-vxlan", endpoint)
        nodes: Any = Nodes()
        stay = Kubernetes(asked, testbed.group("db"), nodes, Trees(), "b01-d")
        (found,) = stay.paths(testbed.group("client")[0])
    return found.unknown, left


@pytest.mark.parametrize("endpoint", ["service-ip", "node-port"])
def test_a_way_through_a_service_is_read_again_until_it_is_known(
    monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    told, left = read(monkeypatch, endpoint, NOBODY, NOBODY, "", "not asked")
    assert told == ""
    assert list(left) == ["not asked"]


def test_a_way_that_stays_unknown_is_told_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "_LED", 0.0)
    told, _ = read(monkeypatch, "service-ip", NOBODY, "not asked")
    assert told == NOBODY


def test_where_no_service_leads_a_way_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told, left = read(monkeypatch, "host-port", NOBODY, "not asked")
    assert told == NOBODY
    assert list(left) == ["not asked"]
