"""A stay in a Kubernetes: what it waits for while it comes up, and in which order it goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from played_kubernetes import (
    DATABASES,
    HOSTS,
    REDIS,
    Cluster,
    Nodes,
    Trees,
    answered,
    deployed,
    played,
    substrate,
)
from restricted import insist_restricted

from dunnage.contracts.host import Completed, Site
from dunnage.contracts.platform import Unseen
from dunnage.contracts.software import Tree
from dunnage.deadline import Deadline
from dunnage.errors import HostLostError, RunError, StayError, UnavailableError
from dunnage.hosts.fake.host import FakeHost
from dunnage.hosts.fake.testbed import FakeTestbed, open_fake
from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import ENGINE_PROGRAM, Software
from dunnage.platforms import hosted_members
from dunnage.platforms.kubernetes import carrying
from dunnage.platforms.kubernetes import platform as made_here
from dunnage.platforms.kubernetes.foreseen import Ground, created
from dunnage.platforms.kubernetes.manifests import Manifests
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.objects import labels
from dunnage.platforms.kubernetes.platform import Kubernetes
from dunnage.platforms.lost import is_lost
from dunnage.platforms.stay_names import StayNames


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


# On hosts that see no more than a pod of theirs.

WHY = "the cluster takes no privileged pods: it says so"


class WithEngine(Trees):
    """Trees of which that of the engine is there."""

    def __init__(self, place: Path) -> None:
        self._place = place
        (place / ENGINE_PROGRAM).parent.mkdir(parents=True, exist_ok=True)
        (place / ENGINE_PROGRAM).write_bytes(b"program")

    def tree(self, software: Software) -> Tree:
        return replace(super().tree(software), source=self._place)


class Theirs(Nodes):
    """A Kubernetes of someone else's, with a label for every namespace."""

    labels: ClassVar[Mapping[str, str]] = {"dunnage.testbed": "T", "team": "t"}

    def runtime(self, host: str) -> Any:
        return None


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[str, ...], bytes]]:
    """Container, words and input of every command in a pod."""
    found: list[tuple[str, tuple[str, ...], bytes]] = []

    def executed(
        _self: Namespace, _pod: str, container: str, argv: Any, *, stdin: bytes, **_: object
    ) -> Completed:
        found.append((container, tuple(argv), stdin))
        return Completed(0, "", "")

    monkeypatch.setattr(Namespace, "execute", executed)
    monkeypatch.setattr(carrying, "await_carrier", lambda *_: None)
    monkeypatch.setattr(FakeHost, "confined", WHY, raising=False)
    return found


NAMED = REDIS.model_copy(update={"image": "redis:7.0"})


def confined(testbed: FakeTestbed, place: Path, endpoint: str, **changes: Any) -> Kubernetes:
    changes = {"client": ClientPlace.CONTAINER, "database": NAMED, **changes}
    deployment = deployed("flannel-vxlan", endpoint, **changes)
    theirs: Any = Theirs()
    return Kubernetes(deployment, testbed.group("db"), theirs, WithEngine(place), "b01-d")


def test_a_members_files_are_carried_into_its_pod_and_nothing_is_put_on_its_host(
    cluster: Cluster, testbed: FakeTestbed, carried: list[Any], tmp_path: Path
) -> None:
    platform = confined(testbed, tmp_path, "service-ip")
    reservation = platform.reserve(DATABASES["redis"].layout(NAMED))
    (service, *_) = DATABASES["redis"].stages(NAMED, reservation)[0].services
    platform.up([service], 60.0)
    space = next(each for each in cluster.given if each["kind"] == "Namespace")
    assert space["metadata"]["labels"]["team"] == "t"
    (made,) = (each for each in cluster.given if each["kind"] == "StatefulSet")
    insist_restricted(made["spec"]["template"]["spec"])
    engine, *files, done = carried
    host = testbed.group("db")[0]
    assert (engine[1][-2:], engine[2]) == ((host.engine, "755"), b"program")
    assert {each[1][-2]: each[2].decode() for each in files} == service.files
    assert done[1][-1].endswith("/home/.carried")
    assert {each[0] for each in carried} == {"carrier"}
    assert host.files == {}
    assert platform.network() == {
        **dict.fromkeys(("driver", "encapsulation", "proxy"), f"unknown: {WHY}"),
        "unread": f"encapsulation, proxy: {WHY}",
        "quality": "",
    }
    (running,) = platform.running()
    assert running.process == Unseen(WHY)


@pytest.mark.parametrize("endpoint", ["service-ip", "node-port", "container-dns"])
def test_what_is_foreseen_of_such_hosts_is_what_the_cluster_is_given(
    cluster: Cluster, testbed: FakeTestbed, carried: list[Any], tmp_path: Path, endpoint: str
) -> None:
    platform = confined(testbed, tmp_path, endpoint)
    redis = DATABASES["redis"]
    reservation = platform.reserve(redis.layout(NAMED))
    for number in range(len(redis.stages(NAMED, reservation))):
        platform.up(redis.stages(NAMED, reservation)[number].services, 60.0)
    stay = StayNames(cluster.given[0]["metadata"]["labels"]["dunnage.stay"])
    asked: list[tuple[str, str]] = []

    def beside(host: Site, namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
        asked.append((host.name, namespace))
        return {"kind": "Pod", "metadata": {"labels": dict(labels)}}

    ground = Ground(
        hosts=testbed.group("db"),
        clients=testbed.group("client"),
        trees=Trees(),
        nodes={host.name: Theirs().node(host.name) for host in testbed.hosts},
        ours=False,
        floating=lambda host: f"floating-{host.name}",
        beside=beside,
    )
    manifests = Manifests(platform._deployment, stay, Theirs.labels)
    made = created(
        manifests,
        redis.layout(NAMED),
        lambda now: redis.stages(NAMED, now),
        ground,
        lambda _: cluster.chosen,
    )
    found = list(made)
    clients = [each.manifest for each in found if each.manifest["kind"] == "Pod"]
    assert [each.manifest for each in found if each.manifest not in clients] == cluster.given
    assert asked == [(host.name, stay.network) for host in testbed.group("client")]
    assert all(each["metadata"]["labels"] == labels(stay) for each in clients)
    written = [each.carried for each in found if each.carried]
    programs = {words[-2] for _, words, _ in carried if len(words) > 5}
    assert {f"file {path}" for path in programs} == {path for each in written for path in each}
    assert not any(each.needs for each in found)


def test_a_file_that_cannot_be_carried_is_told(
    cluster: Cluster,
    testbed: FakeTestbed,
    carried: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = Completed(1, "", "no space")
    monkeypatch.setattr(Namespace, "execute", lambda *_, **__: full)
    platform = confined(testbed, tmp_path, "container-dns")
    reservation = platform.reserve(DATABASES["redis"].layout(NAMED))
    with pytest.raises(StayError, match="cannot be written in its pod: no space"):
        platform.up(DATABASES["redis"].stages(NAMED, reservation)[0].services, 60.0)


@pytest.mark.parametrize(
    ("changes", "needs"),
    [
        ({"network": "host"}, "the network of hosts"),
        ({"storage": Storage.VOLUME}, "a volume of a host"),
        ({"client": ClientPlace.HOST}, "a client on its host"),
        ({"endpoint": "host-port"}, "ports of hosts"),
    ],
)
def test_what_only_a_node_has_is_refused_with_what_to_write(
    cluster: Cluster,
    testbed: FakeTestbed,
    carried: list[Any],
    tmp_path: Path,
    changes: dict[str, Any],
    needs: str,
) -> None:
    platform = confined(testbed, tmp_path, "service-ip")
    platform._deployment = platform._deployment.model_copy(update=changes)
    with pytest.raises(UnavailableError, match=f"it needs {needs}") as told:
        platform.reserve(DATABASES["redis"].layout(NAMED))
    assert WHY in told.value.what
    assert cluster.given == []


def test_no_copies_of_data_are_kept_on_such_hosts(
    cluster: Cluster, testbed: FakeTestbed, carried: list[Any], tmp_path: Path
) -> None:
    platform = confined(testbed, tmp_path, "service-ip")
    for use in (platform.keep, platform.restore):
        with pytest.raises(UnavailableError, match="write `data: load`"):
            use("snapshot", {})


def test_a_client_on_such_a_host_has_a_pod_that_acts_as_a_host(
    cluster: Cluster,
    testbed: FakeTestbed,
    carried: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[tuple[str, dict[str, str]]] = []
    left: list[str] = []
    pod = SimpleNamespace(name="client-1", leave=lambda: left.append("client-1"))

    def beside(_: FakeHost, namespace: str, labels: dict[str, str]) -> Any:
        made.append((namespace, labels))
        return pod

    monkeypatch.setattr(FakeHost, "beside", beside, raising=False)
    platform = confined(testbed, tmp_path, "service-ip")
    platform.reserve(DATABASES["redis"].layout(NAMED))
    client = testbed.group("client")[0]
    assert platform.client(client) is platform.client(client) is pod
    ((namespace, labels),) = made
    assert namespace.startswith("dunnage-b01-d-")
    assert labels["dunnage.stay"] == namespace.removeprefix("dunnage-")
    platform.down()
    assert left == ["client-1"]


@pytest.mark.parametrize("fails", ["beside", "leave"])
def test_a_cluster_that_is_away_for_a_moment_fails_the_stay_of_such_a_client_only(
    cluster: Cluster,
    testbed: FakeTestbed,
    carried: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fails: str,
) -> None:
    def away(*_: object) -> Any:
        raise UnavailableError("the cluster does not answer", hint="kubectl cluster-info")

    pod = SimpleNamespace(name="client-1", leave=away)
    beside = away if fails == "beside" else lambda *_: pod
    monkeypatch.setattr(FakeHost, "beside", beside, raising=False)
    platform = confined(testbed, tmp_path, "service-ip")
    platform.reserve(DATABASES["redis"].layout(NAMED))
    with pytest.raises(StayError, match="does not answer") as failed:
        platform.client(testbed.group("client")[0])
        platform.down()
    assert failed.value.hint == "kubectl cluster-info"


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


def test_a_client_on_a_node_of_someone_elses_rests_in_the_databases_image(
    cluster: Cluster, testbed: FakeTestbed, tmp_path: Path
) -> None:
    platform = confined(testbed, tmp_path, "service-ip")
    platform.reserve(DATABASES["redis"].layout(NAMED))
    platform.client(testbed.group("client")[0])
    (pod,) = (each for each in cluster.given if each["kind"] == "Pod")
    (container,) = pod["spec"]["containers"]
    assert container["image"] == "redis:7.0"
    assert container["command"] == ["sh", "-c"]
    nameless = confined(testbed, tmp_path / "other", "service-ip", database=REDIS)
    with pytest.raises(UnavailableError, match="name one that it can pull"):
        nameless.client(testbed.group("client")[0])
