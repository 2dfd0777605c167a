"""What a stay's members are made of in a Kubernetes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from lightkube.codecs import from_dict
from restricted import insist_restricted

from dunnage.model.choices import Storage
from dunnage.model.late import late_host
from dunnage.model.layout import Address, Addresses, Place, Probe, Service, Software
from dunnage.model.study import Limits
from dunnage.platforms.kubernetes import objects, storage
from dunnage.platforms.kubernetes.carried import carried, marker
from dunnage.platforms.kubernetes.objects import Image
from dunnage.platforms.stay_names import StayNames

OWN, HOST = Address(late_host("redis-1"), 6379), Address("10.77.0.1", 6379)
PLACE = Place(
    member="redis-1",
    role="primary",
    host="db-1",
    home="/scratch/home",
    data="/scratch/data",
    prefix="/tree",
    ports={"redis": Addresses(bind=OWN, peer=HOST, contact=HOST, advertised=HOST)},
)
SERVICE = Service(
    member="redis-1",
    argv=("/tree/bin/redis-server", "/scratch/home/redis.conf"),
    ready=Probe(("true",)),
    software=Software("redis", "7.0"),
    env={"LC_ALL": "C"},
    stop_grace=2.5,
)
STAY = StayNames("b1-x-1")
LABELS = {
    "app.kubernetes.io/managed-by": "dunnage",
    "dunnage.stay": "b1-x-1",
    "dunnage.member": "redis-1",
}


def made(
    *,
    argv: tuple[str, ...] = SERVICE.argv,
    imported: bool = True,
    host_network: bool = False,
    published: str | None = None,
    data: Storage = Storage.BIND,
    limits: Limits | None = None,
    named: bool = False,
) -> dict[str, Any]:
    return objects.stateful_set(
        SERVICE,
        PLACE,
        stay=STAY,
        node="node-1",
        image=Image("dunnage/redis:7.0-1", imported),
        argv=argv,
        engine="/run/dunnage/engine",
        host_network=host_network,
        published=published,
        storage=data,
        limits=limits or Limits(),
        named=named,
    )


def pod(**changes: Any) -> dict[str, Any]:
    spec: dict[str, Any] = made(**changes)["spec"]["template"]["spec"]
    return spec


def container(**changes: Any) -> dict[str, Any]:
    (only,) = pod(**changes)["containers"]
    assert isinstance(only, dict)
    return only


def test_a_set_has_one_pod_in_the_stays_namespace_labelled_as_its_member() -> None:
    stateful = made()
    assert stateful["metadata"] == {
        "name": "redis-1",
        "namespace": "dunnage-b1-x-1",
        "labels": LABELS,
    }
    assert (stateful["spec"]["replicas"], stateful["spec"]["serviceName"]) == (1, "redis-1")
    assert stateful["spec"]["selector"] == {"matchLabels": LABELS}
    assert stateful["spec"]["template"]["metadata"] == {"labels": LABELS}


def test_the_scheduler_may_choose_the_members_node_only() -> None:
    affinity = pod()["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    field = {"key": "metadata.name", "operator": "In", "values": ["node-1"]}
    assert affinity == {"nodeSelectorTerms": [{"matchFields": [field]}]}


def test_nothing_of_the_cluster_is_mounted_or_told_to_a_member() -> None:
    assert (pod()["automountServiceAccountToken"], pod()["enableServiceLinks"]) == (False, False)


def test_a_pod_has_the_command_user_paths_and_environment_of_a_process() -> None:
    one = container()
    assert (one["command"], one["args"]) == (
        ["/tree/bin/redis-server"],
        ["/scratch/home/redis.conf"],
    )
    assert {each["name"]: each["value"] for each in one["env"]} == {
        "LANG": "C.UTF-8",
        "LC_ALL": "C",
    }
    assert one["workingDir"] == "/"
    security = one["securityContext"]
    assert (security["runAsUser"], security["runAsGroup"]) == (0, 0)
    assert security["capabilities"] == {"add": ["IPC_LOCK"]}
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert {each["mountPath"] for each in one["volumeMounts"]} == {
        "/scratch/home",
        "/scratch/data",
        "/run/dunnage/engine",
    }


def test_words_that_kubernetes_would_replace_stay_as_they_are() -> None:
    assert container(argv=("a", "$(HOME)", "$b"))["args"] == ["$$(HOME)", "$b"]


def test_a_member_that_goes_by_its_name_starts_when_that_is_known() -> None:
    assert "initContainers" not in pod()
    (first,) = pod(named=True)["initContainers"]
    assert (first["command"], first["args"]) == (["/run/dunnage/engine"], ["resolve", "redis-1"])
    assert first["image"] == container()["image"]
    assert [each["mountPath"] for each in first["volumeMounts"]] == ["/run/dunnage/engine"]


@pytest.mark.parametrize("limits", [Limits(), Limits(memory=2**20, cpus=0.5), Limits(cpus=2)])
def test_what_runs_before_a_member_has_its_limits_and_so_its_class_of_service(
    limits: Limits,
) -> None:
    everywhere = [
        pod(named=True, limits=limits),
        apart(named=True, limits=limits)["template"]["spec"],
    ]
    for spec in everywhere:
        (member,) = spec["containers"]
        asked = member.get("resources")
        assert (asked is None) == (limits == Limits())
        assert [each.get("resources") for each in spec["initContainers"]] == [asked] * len(
            spec["initContainers"]
        )


def test_an_imported_image_is_never_pulled() -> None:
    assert container()["imagePullPolicy"] == "Never"
    assert container(imported=False)["imagePullPolicy"] == "IfNotPresent"


def test_ports_are_those_of_one_address_of_the_host_only_where_they_are_published() -> None:
    assert container()["ports"] == [{"name": "redis", "containerPort": 6379}]
    assert container(published="10.77.0.1")["ports"] == [
        {"name": "redis", "containerPort": 6379, "hostPort": 6379, "hostIP": "10.77.0.1"}
    ]
    assert (pod()["hostNetwork"], pod(host_network=True)["hostNetwork"]) == (False, True)


def test_memory_is_requested_as_it_is_limited_and_there_is_no_quota_unless_asked_for() -> None:
    assert "resources" not in container()
    memory = {"memory": "268435456"}
    assert container(limits=Limits(memory=2**28))["resources"] == {
        "requests": memory,
        "limits": memory,
    }
    assert container(limits=Limits(cpus=0.5))["resources"]["limits"] == {"cpu": "500m"}


@pytest.mark.parametrize(("signal", "seconds"), [("TERM", 3), ("KILL", 1)])
def test_a_member_has_whole_seconds_to_end(signal: str, seconds: int) -> None:
    service = Service(
        member="m",
        argv=("a",),
        ready=Probe(("true",)),
        software=Software("redis", "7.0"),
        stop_signal=signal,
        stop_grace=2.5,
    )
    assert objects.grace(service) == seconds


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        (Storage.BIND, {"hostPath": {"path": "/scratch/data", "type": "Directory"}}),
        (Storage.TMPFS, {"emptyDir": {"medium": "Memory"}}),
        (Storage.VOLUME, {"persistentVolumeClaim": {"claimName": "redis-1"}}),
    ],
)
def test_data_lies_on_what_the_study_chose(kind: Storage, source: dict[str, Any]) -> None:
    (data,) = (each for each in pod(data=kind)["volumes"] if each["name"] == "data")
    assert data == {"name": "data", **source}


def claimed(kind: Storage) -> Sequence[dict[str, Any]]:
    return storage.claimed(PLACE, kind, stay=STAY, hostname="host-1", labels=LABELS)


def test_a_local_volume_is_bound_to_its_claim_and_its_node() -> None:
    assert claimed(Storage.BIND) == claimed(Storage.TMPFS) == ()
    volume, claim = claimed(Storage.VOLUME)
    assert volume["metadata"] == {"name": "dunnage-b1-x-1-redis-1", "labels": LABELS}
    assert volume["spec"]["local"] == {"path": "/scratch/data"}
    assert volume["spec"]["claimRef"] == {"namespace": "dunnage-b1-x-1", "name": "redis-1"}
    (term,) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    (there,) = term["matchExpressions"]
    assert (there["key"], there["values"]) == ("kubernetes.io/hostname", ["host-1"])
    assert claim["spec"]["volumeName"] == volume["metadata"]["name"]
    assert claim["metadata"]["name"] == "redis-1"


def test_a_member_has_its_name_before_it_is_ready() -> None:
    service = objects.headless("redis-1", STAY)
    assert service["metadata"]["name"] == "redis-1"
    assert service["spec"] == {
        "selector": LABELS,
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
    }


def test_an_endpoint_leads_to_the_members_port_by_number_or_by_name() -> None:
    def ports(*, by_name: bool) -> list[dict[str, Any]]:
        made = objects.endpoint("redis-1", {"redis": 6379}, STAY, "NodePort", by_name=by_name)
        assert (made["metadata"]["name"], made["spec"]["type"]) == ("redis-1-endpoint", "NodePort")
        assert made["spec"]["selector"] == LABELS
        opened: list[dict[str, Any]] = made["spec"]["ports"]
        return opened

    assert ports(by_name=False) == [{"name": "redis", "port": 6379, "targetPort": 6379}]
    assert ports(by_name=True) == [{"name": "redis", "port": 6379, "targetPort": "redis"}]


def test_a_clients_pod_rests_on_its_host_whatever_keeps_members_off() -> None:
    made = objects.client_pod(
        "client-1", stay=STAY, node="n", image=Image("i", imported=True), engine="/tree/engine"
    )
    spec = made["spec"]
    (only,) = spec["containers"]
    assert (only["command"], only["args"]) == (["/tree/engine"], ["rest"])
    assert spec["tolerations"] == [{"key": "dunnage/client", "operator": "Exists"}]
    assert made["metadata"]["name"] == "client-client-1"


def test_the_api_takes_every_object() -> None:
    every = [
        objects.namespace(STAY, {}),
        objects.headless("redis-1", STAY),
        objects.endpoint("redis-1", {"redis": 6379}, STAY, "ClusterIP", by_name=False),
        made(data=Storage.VOLUME, limits=Limits(memory=2**28, cpus=1)),
        *claimed(Storage.VOLUME),
        objects.client_pod("c", stay=STAY, node="n", image=Image("i", True), engine="/e"),
    ]
    kinds = [type(from_dict(each)).__name__ for each in every]
    assert kinds == [each["kind"] for each in every]


# Members that have nothing of their node.


def apart(**changes: Any) -> dict[str, Any]:
    spec: dict[str, Any] = carried(made(**changes), PLACE, "/run/dunnage/engine")["spec"]
    return spec


@pytest.mark.parametrize("data", [Storage.BIND, Storage.TMPFS])
@pytest.mark.parametrize("named", [True, False])
def test_a_member_that_is_apart_is_fit_for_the_strictest_standard(
    data: Storage, named: bool
) -> None:
    before = made(data=data, named=named)
    insist_restricted(apart(data=data, named=named)["template"]["spec"])
    assert made(data=data, named=named) == before


def test_a_member_that_is_apart_waits_for_its_files_at_the_paths_that_it_has_elsewhere() -> None:
    spec = apart(named=True)["template"]["spec"]
    carrier, name = spec["initContainers"]
    (member,) = spec["containers"]
    assert (carrier["name"], name["name"]) == ("carrier", "name")
    assert carrier["args"] == [marker(PLACE)]
    assert carrier["image"] == member["image"]
    places = {each["name"]: each["mountPath"] for each in member["volumeMounts"]}
    assert places == {"home": PLACE.home, "data": PLACE.data, "engine": "/run/dunnage"}
    assert carrier["volumeMounts"] == member["volumeMounts"]
    assert name["volumeMounts"] == [{"name": "engine", "mountPath": "/run/dunnage"}]
    assert {each["name"]: each["emptyDir"] for each in spec["volumes"]} == {
        "home": {},
        "data": {},
        "engine": {},
    }
    assert (member["command"], member["args"]) == (container()["command"], container()["args"])


def test_a_namespace_has_further_labels_and_never_loses_its_own() -> None:
    asked = {"team": "t", "dunnage.stay": "another"}
    labels = objects.namespace(STAY, asked)["metadata"]["labels"]
    own = {name: value for name, value in LABELS.items() if name != "dunnage.member"}
    assert labels == {"team": "t", **own}


def test_a_clients_pod_rests_by_the_engine_or_by_a_shell() -> None:
    def pod_of(image: Image) -> dict[str, Any]:
        made = objects.client_pod("c", stay=STAY, node="n", image=image, engine="/tree/engine")
        (only,) = made["spec"]["containers"]
        assert isinstance(only, dict)
        return only

    ours = pod_of(Image("dunnage/engine:1", imported=True))
    assert (ours["command"], ours["args"]) == (["/tree/engine"], ["rest"])
    theirs = pod_of(Image("redis:7.0", imported=False))
    assert theirs["command"] == ["sh", "-c"]
    assert "trap" in theirs["args"][0]
    assert "$(" not in theirs["args"][0]
