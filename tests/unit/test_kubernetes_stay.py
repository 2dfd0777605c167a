"""A stay in a Kubernetes: what it waits for while it comes up, and in which order it goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from played_kubernetes import DATABASES, HOSTS, Cluster, Trees, deployed, played, substrate

from dunnage.errors import StayError
from dunnage.hosts.fake.testbed import FakeTestbed, open_fake
from dunnage.model.choices import Storage
from dunnage.model.deployment import Deployment
from dunnage.platforms import hosted_members
from dunnage.platforms.deadline import Deadline
from dunnage.platforms.kubernetes import platform as made_here
from dunnage.platforms.kubernetes.namespace import Namespace
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


def test_a_member_has_one_deadline_for_its_storage_its_pod_and_its_readiness(
    cluster: Cluster, testbed: FakeTestbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, Deadline]] = []

    def note(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def noted(*given: Any) -> Any:
            seen.extend((name, each) for each in given if isinstance(each, Deadline))
            return original(*given)

        monkeypatch.setattr(owner, name, noted)

    note(Namespace, "create_all")
    note(made_here, "await_container")
    note(hosted_members, "await_ready")
    first_stage(deployed("flannel-vxlan", "host-port", storage=Storage.VOLUME), testbed, 60.0)
    assert [name for name, _ in seen] == ["create_all", "await_container", "await_ready"]
    assert len({id(each) for _, each in seen}) == 1
    assert seen[0][1].seconds == 60.0


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
