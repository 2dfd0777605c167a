"""A stay in a Kubernetes: what it waits for while it comes up, and in which order it goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from played_kubernetes import DATABASES, HOSTS, Cluster, Trees, deployed, played, substrate

from dunnage.errors import StayError
from dunnage.hosts.fake.testbed import FakeTestbed, open_fake
from dunnage.model.choices import Storage
from dunnage.model.deployment import Deployment
from dunnage.platforms.kubernetes.platform import Kubernetes


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    return played(monkeypatch)


@pytest.fixture
def testbed() -> Iterator[FakeTestbed]:
    with open_fake(HOSTS, name="stay") as opened:
        yield opened


def first_stage(deployment: Deployment, testbed: FakeTestbed, deadline: float) -> Kubernetes:
    """A platform whose members of the first stage were brought up."""
    platform = Kubernetes(deployment, testbed.group("db"), substrate(), Trees(), "b01-d")
    database, spec = DATABASES[deployment.database.kind], deployment.database
    reservation = platform.reserve(database.layout(spec))
    platform.up(database.stages(spec, reservation)[0].services, deadline)
    return platform


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("persistentvolumes", r"volume `dunnage-.*` is not available after 0\.125 s"),
        ("persistentvolumeclaims", r"claim `redis-1` is not bound after 0\.125 s"),
    ],
)
def test_storage_has_as_long_as_the_members_have(
    cluster: Cluster, testbed: FakeTestbed, kind: str, told: str
) -> None:
    cluster.phases[kind] = "Pending"
    stored = deployed("flannel-vxlan", "host-port", storage=Storage.VOLUME)
    with pytest.raises(StayError, match=told):
        first_stage(stored, testbed, 0.125)


def test_all_sets_pods_and_the_namespace_are_asked_to_go_before_any_is_waited_for(
    cluster: Cluster, testbed: FakeTestbed
) -> None:
    deployment = deployed("flannel-vxlan", "host-port")
    platform = first_stage(deployment, testbed, 1.0)
    name = cluster.given[0]["metadata"]["name"]
    cluster.asked.clear()
    platform.down()
    own = f"/api/v1/namespaces/{name}"
    sets = f"/apis/apps/v1/namespaces/{name}/statefulsets"
    members = ("redis-3", "redis-2", "redis-1")
    asked_to_go = [
        path for member in members for path in (f"{sets}/{member}", f"{own}/pods/{member}-0")
    ]
    assert cluster.asked == [
        *(f"DELETE {path}" for path in (*asked_to_go, own)),
        *(f"GET {own}/pods/{member}-0" for member in members),
        f"GET {own}",
        "GET /api/v1/persistentvolumes",
    ]
