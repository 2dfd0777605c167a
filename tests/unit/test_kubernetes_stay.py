"""A stay in a Kubernetes: what it waits for while it comes up, and in which order it goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from played_kubernetes import (
    DATABASES,
    HOSTS,
    Cluster,
    Nodes,
    Trees,
    answered,
    deployed,
    played,
    substrate,
)

from dunnage.contracts.host import Completed
from dunnage.contracts.kubernetes import ContainerRuntime
from dunnage.deadline import Deadline
from dunnage.errors import HostLostError, RunError, StayError, UnavailableError
from dunnage.hosts.fake.host import FakeHost
from dunnage.hosts.fake.testbed import FakeTestbed, open_fake
from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.deployment import Deployment
from dunnage.platforms import hosted_members
from dunnage.platforms.kubernetes import platform as made_here
from dunnage.platforms.kubernetes import pod_network
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.platform import Kubernetes
from dunnage.platforms.lost import is_lost


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


def test_a_pod_that_somebody_deleted_is_told_with_what_is_left_to_look_at(
    cluster: Cluster, testbed: FakeTestbed
) -> None:
    platform = first_stage(deployed("flannel-vxlan", "host-port"), testbed, 1.0)
    name = cluster.given[0]["metadata"]["name"]
    cluster.asked.append(f"DELETE /api/v1/namespaces/{name}/pods/redis-1-0")
    with pytest.raises(StayError, match="redis-1: its pod was deleted") as failed:
        platform.network()
    assert failed.value.hint == platform.looking == "kubectl --context theirs describe nodes"


def test_a_host_that_is_no_node_is_told_with_the_question_for_nodes(
    cluster: Cluster, testbed: FakeTestbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_: Nodes, host: str) -> str:
        raise KeyError(host)

    monkeypatch.setattr(Nodes, "node", unknown)
    with pytest.raises(UnavailableError, match="db-1: this host is no node") as refused:
        first_stage(deployed("flannel-vxlan", "host-port"), testbed, 1.0)
    assert refused.value.hint == "kubectl --context theirs get nodes"


def test_a_volume_is_bound_to_its_node_by_the_hostname_that_the_cluster_tells(
    cluster: Cluster, testbed: FakeTestbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Nodes, "hostname", lambda _, host: f"label-of-{host}", raising=False)
    first_stage(deployed("flannel-vxlan", "host-port", storage=Storage.VOLUME), testbed, 60.0)
    volume = next(each for each in cluster.given if each["kind"] == "PersistentVolume")
    (term,) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["label-of-db-1"]


@pytest.mark.parametrize("place", ClientPlace)
def test_hosts_of_clients_that_are_nodes_are_asked_for_their_way_to_pods(
    cluster: Cluster, testbed: FakeTestbed, monkeypatch: pytest.MonkeyPatch, place: ClientPlace
) -> None:
    asked: list[tuple[str, Any]] = []

    def in_force(_pods: Any, clients: Any, **_: object) -> dict[str, dict[str, str]]:
        asked.extend((each.host.name, each.variables) for each in clients)
        return {"db-1": {"encapsulation": "vxlan"}, "client-1": {"encapsulation": "none"}}

    def runtime(_: Nodes, host: str) -> ContainerRuntime:
        if host == "client-2":
            raise KeyError(host)
        return ContainerRuntime(("ctr",), {"PATH": f"/of-{host}"})

    monkeypatch.setattr(pod_network, "in_force", in_force)
    platform = first_stage(deployed("flannel-vxlan", "service-ip", client=place), testbed, 60.0)
    monkeypatch.setattr(Nodes, "runtime", runtime)
    platform.client(testbed.group("client")[0])
    if place is ClientPlace.HOST:
        platform.client(testbed.group("client")[1])
    with pytest.raises(StayError, match="should be `vxlan` and is `none` on client-1"):
        platform.network()
    assert asked == [("client-1", {"PATH": "/of-client-1"})]


@pytest.mark.parametrize("ours", [True, False])
def test_all_sets_pods_and_the_namespace_are_asked_to_go_before_any_is_waited_for(
    cluster: Cluster, testbed: FakeTestbed, monkeypatch: pytest.MonkeyPatch, ours: bool
) -> None:
    """A namespace of ours goes by itself, once its services are gone."""
    deployment = deployed("flannel-vxlan", "host-port")
    platform = first_stage(deployment, testbed, 1.0)
    name = cluster.given[0]["metadata"]["name"]
    services = [each["metadata"]["name"] for each in cluster.given if each["kind"] == "Service"]
    assert services
    cluster.asked.clear()
    if not ours:
        monkeypatch.setattr(Nodes, "runtime", lambda *_: None)
    platform.down()
    own = f"/api/v1/namespaces/{name}"
    sets = f"/apis/apps/v1/namespaces/{name}/statefulsets"
    members = ("redis-3", "redis-2", "redis-1")
    asked_to_go = [
        path for member in members for path in (f"{sets}/{member}", f"{own}/pods/{member}-0")
    ]
    emptied = [
        f"GET {own}/services",
        *(f"DELETE {own}/services/{each}" for each in services),
    ]
    assert cluster.asked == [
        *(f"DELETE {path}" for path in (*asked_to_go, own)),
        *(f"GET {own}/pods/{member}-0" for member in members),
        *(emptied if ours else [f"GET {own}"]),
    ]


@pytest.mark.parametrize("lost", [True, False])
def test_the_pod_of_a_client_is_ended_though_its_host_is_lost(
    cluster: Cluster, testbed: FakeTestbed, monkeypatch: pytest.MonkeyPatch, lost: bool
) -> None:
    """Where it is lost nobody there can end it, and nobody waits for that."""
    inside = deployed("flannel-vxlan", "service-ip", client=ClientPlace.CONTAINER)
    ours = Kubernetes(inside, testbed.group("db"), substrate(), Trees(), "b01-d")
    (host, *_) = testbed.group("client")
    ours.client(host)
    graces: list[int | None] = []
    removed = Namespace._delete

    def noted(
        self: Namespace,
        what: str,
        kind: Any,
        name: str,
        where: str = "kubernetes",
        grace: int | None = None,
    ) -> None:
        graces.append(grace)
        removed(self, what, kind, name, where, grace)

    monkeypatch.setattr(Namespace, "_delete", noted)
    if lost:
        assert isinstance(host, FakeHost)
        host.power_off()
    ours.down()
    assert graces[0] == (0 if lost else None)


@pytest.mark.parametrize(
    ("answer", "lost"),
    [
        (HostLostError("no answer"), True),
        (RunError("it may not be read"), False),
        (FileNotFoundError(), False),
    ],
)
def test_a_host_is_lost_where_a_question_that_may_be_repeated_has_no_answer(
    testbed: FakeTestbed, monkeypatch: pytest.MonkeyPatch, answer: Exception, lost: bool
) -> None:
    """A command may not be repeated: where a stream breaks, it tells nothing of the host."""

    def broke(*_: object, **__: object) -> Completed:
        raise RunError("the connection to its agent broke meanwhile")

    def read(*_: object) -> bytes:
        raise answer

    monkeypatch.setattr(FakeHost, "run", broke)
    monkeypatch.setattr(FakeHost, "get", read)
    assert is_lost(testbed.group("db")[0]) is lost


def test_a_clients_pod_that_has_just_ended_fails_the_stay(
    cluster: Cluster, testbed: FakeTestbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unseen(_: FakeHost, argv: list[str], **__: object) -> Completed:
        return Completed(1, "", "") if "find" in argv else answered(_, argv)

    monkeypatch.setattr(FakeHost, "run", unseen)
    inside = deployed("flannel-vxlan", "service-ip", client=ClientPlace.CONTAINER)
    ours = Kubernetes(inside, testbed.group("db"), substrate(), Trees(), "b01-d")
    with pytest.raises(StayError, match="client-1: the client's pod has just ended"):
        ours.client(testbed.group("client")[0])
