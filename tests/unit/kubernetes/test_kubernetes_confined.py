"""A stay in a Kubernetes whose hosts see no more than a pod of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import httpx2
import pytest
from played_kubernetes import (
    DATABASES,
    HOSTS,
    REDIS,
    Cluster,
    Nodes,
    Trees,
    deployed,
    played,
)
from restricted import insist_restricted

from dunnage.contracts.host import Completed, Site
from dunnage.contracts.platform import Unseen
from dunnage.contracts.software import Tree
from dunnage.errors import StayError, UnavailableError
from dunnage.hosts.fake.host import FakeHost
from dunnage.hosts.fake.testbed import FakeTestbed, open_fake
from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.layout import ENGINE_PROGRAM, Software
from dunnage.platforms.kubernetes import carrying
from dunnage.platforms.kubernetes.foreseen import Ground, created
from dunnage.platforms.kubernetes.manifests import Manifests
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.objects import labels
from dunnage.platforms.kubernetes.platform import Kubernetes
from dunnage.platforms.stay_names import StayNames


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    return played(monkeypatch)


@pytest.fixture
def testbed() -> Iterator[FakeTestbed]:
    with open_fake(HOSTS, name="stay") as opened:
        yield opened


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
        **dict.fromkeys(("plugin", "driver", "encapsulation", "proxy"), f"unknown: {WHY}"),
        "unread": f"plugin, encapsulation, proxy: {WHY}",
        "quality": "",
    }
    (running,) = platform.running()
    assert running.process == Unseen(WHY)


def test_a_member_that_only_the_cluster_sees_is_crashed_by_its_pod(
    cluster: Cluster,
    testbed: FakeTestbed,
    carried: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its set makes it anew before anybody looks."""
    platform = confined(testbed, tmp_path, "service-ip")
    reservation = platform.reserve(DATABASES["redis"].layout(NAMED))
    (service, *_) = DATABASES["redis"].stages(NAMED, reservation)[0].services
    platform.up([service], 60.0)
    seen = Cluster._seen

    def anew(played: Cluster, path: str) -> httpx2.Response:
        if f"DELETE {path}" not in played.asked or "/pods/" not in path:
            return seen(played, path)
        return httpx2.Response(200, json={"kind": "Pod", "metadata": {"uid": "another"}})

    monkeypatch.setattr(Cluster, "_seen", anew)
    platform.crash(service.member)
    deleted = [each for each in cluster.asked if each.startswith("DELETE")]
    assert [each.rpartition("/")[2] for each in deleted] == [f"{service.member}-0"]
    assert platform.ended() == {service.member: "its pod was deleted and made anew"}


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
        hostnames={host.name: Theirs().node(host.name) for host in testbed.hosts},
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


def on_nodes(monkeypatch: pytest.MonkeyPatch, beside: Callable[..., Any]) -> None:
    """Have hosts be nodes whose agents run an image, beside which pods are made so."""
    monkeypatch.setattr(FakeHost, "image", "busybox:1", raising=False)
    monkeypatch.setattr(FakeHost, "beside", beside, raising=False)


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

    on_nodes(monkeypatch, beside)
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
    on_nodes(monkeypatch, away if fails == "beside" else lambda *_: pod)
    platform = confined(testbed, tmp_path, "service-ip")
    platform.reserve(DATABASES["redis"].layout(NAMED))
    with pytest.raises(StayError, match="does not answer") as failed:
        platform.client(testbed.group("client")[0])
        platform.down()
    assert failed.value.hint == "kubectl cluster-info"


def test_nodes_of_members_and_clients_are_asked_where_nobody_may_look_at_them(
    cluster: Cluster,
    testbed: FakeTestbed,
    carried: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flannel = {"plugin": "flannel, vxlan", "encapsulation": "unknown: flannel, vxlan or none"}
    other = {**flannel, "plugin": "flannel, host-gw"}
    nodes = {"db-1": flannel, "db-2": flannel, "client-1": flannel, "client-2": other}
    monkeypatch.setattr(Theirs, "network", lambda _, host: nodes[host], raising=False)
    on_nodes(monkeypatch, lambda *_: SimpleNamespace())
    platform = confined(testbed, tmp_path, "service-ip")
    platform.reserve(DATABASES["redis"].layout(NAMED))
    one, another = testbed.group("client")
    platform.client(one)
    told = platform.network()
    assert told["plugin"] == "flannel, vxlan"
    assert told["unread"] == f"encapsulation, proxy: flannel, vxlan or none and {WHY}"
    platform.client(another)
    with pytest.raises(StayError, match="`flannel, vxlan` and is `flannel, host-gw` on client-2"):
        platform.network()


def test_a_client_on_a_node_of_someone_elses_rests_in_the_image_that_its_agent_runs(
    cluster: Cluster, testbed: FakeTestbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node has that already; it may never have pulled the database's."""
    on_nodes(monkeypatch, lambda *_: pytest.fail("nothing is refused here"))
    platform = confined(testbed, tmp_path, "service-ip")
    platform.reserve(DATABASES["redis"].layout(NAMED))
    platform.client(testbed.group("client")[0])
    (pod,) = (each for each in cluster.given if each["kind"] == "Pod")
    (container,) = pod["spec"]["containers"]
    assert container["image"] == "busybox:1"
    assert container["command"] == ["sh", "-c"]
