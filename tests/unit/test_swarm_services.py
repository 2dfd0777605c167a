"""What a member's service of a Swarm is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dunnage.errors import StayError
from dunnage.model.choices import Storage
from dunnage.model.late import late_host
from dunnage.model.layout import Address, Addresses, Place, Probe, Service, Software
from dunnage.model.study import Limits
from dunnage.platforms.services import arguments, virtual_address
from dunnage.platforms.stay_names import StayNames

OWN, HOST = Address(late_host("redis-1"), 6379), Address("10.77.0.2", 16379)
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
    stop_grace=3.0,
)


def made(
    network: str = "overlay",
    *,
    mode: str = "dnsrr",
    published: str | None = None,
    storage: Storage = Storage.BIND,
    limits: Limits | None = None,
) -> dict[str, Any]:
    return arguments(
        SERVICE,
        PLACE,
        stay=StayNames("b1-x-1"),
        node="n0de",
        image="image",
        argv=SERVICE.argv,
        engine="/run/dunnage/engine",
        network=network,
        mode=mode,
        published=published,
        storage=storage,
        limits=limits or Limits(),
        ulimits=[],
    )


def test_a_service_has_one_task_on_one_node_that_is_never_started_again() -> None:
    service = made()
    assert service["mode"]["replicated"] == {"Replicas": 1}
    template = service["task_template"]
    assert template["Placement"]["Constraints"] == ["node.id==n0de"]
    assert template["RestartPolicy"]["Condition"] == "none"
    assert service["name"] == "dunnage-b1-x-1-redis-1"
    assert service["labels"] == template["ContainerSpec"]["Labels"] == {"dunnage.stay": "b1-x-1"}


def test_a_task_has_the_command_user_paths_and_limits_of_a_process() -> None:
    container = made(limits=Limits(memory=2**28, pids=50, cpus=0.5))["task_template"]
    spec = container["ContainerSpec"]
    assert (spec["Command"], spec["Args"]) == (
        ["/tree/bin/redis-server"],
        ["/scratch/home/redis.conf"],
    )
    assert sorted(spec["Env"]) == ["LANG=C.UTF-8", "LC_ALL=C"]
    assert (spec["User"], spec["Dir"], spec["StopSignal"]) == ("0:0", "/", "SIGTERM")
    assert spec["StopGracePeriod"] == 3_000_000_000
    assert spec["CapabilityAdd"] == ["IPC_LOCK"]
    targets = [mount["Target"] for mount in spec["Mounts"]]
    assert targets == ["/scratch/home", "/scratch/data", "/run/dunnage/engine"]
    assert container["Resources"]["Limits"] == {
        "NanoCPUs": 500_000_000,
        "MemoryBytes": 2**28,
        "Pids": 50,
    }


def test_members_go_by_their_names_in_the_stays_own_network() -> None:
    (joined,) = made()["task_template"]["Networks"]
    assert (joined["Target"], joined["Aliases"]) == ("dunnage-b1-x-1", ["redis-1"])
    (host,) = made("host")["task_template"]["Networks"]
    assert host["Target"] == "host"
    assert not host.get("Aliases")


@pytest.mark.parametrize("published", [None, "host", "ingress"])
@pytest.mark.parametrize("mode", ["dnsrr", "vip"])
def test_ports_are_published_where_and_names_resolved_as_the_endpoint_wants(
    mode: str, published: str | None
) -> None:
    endpoint = made(mode=mode, published=published)["endpoint_spec"]
    assert endpoint["Mode"] == mode
    ports = endpoint.get("Ports") or []
    assert [port["PublishMode"] for port in ports] == ([published] if published else [])
    if published:
        assert (ports[0]["TargetPort"], ports[0]["PublishedPort"]) == (6379, 16379)


def test_the_address_before_a_service_is_told_by_its_manager_for_the_stays_network() -> None:
    mesh, inside = (
        {"NetworkID": "ingress", "Addr": "10.66.255.3/24"},
        {"NetworkID": "w8x", "Addr": "10.66.0.5/24"},
    )
    told = {"Spec": {"Name": "stay-redis-1"}, "Endpoint": {"VirtualIPs": [mesh, inside]}}
    assert virtual_address(told, "w8x", "redis-1") == "10.66.0.5"


@pytest.mark.parametrize(
    "endpoint",
    [
        {"VirtualIPs": None},
        {"Spec": {"Mode": "dnsrr"}},
        {"VirtualIPs": [{"NetworkID": "ingress", "Addr": "10.66.255.3/24"}]},
        {"VirtualIPs": [{"NetworkID": "w8x"}]},
    ],
)
def test_a_service_without_an_address_in_the_stays_network_is_told(
    endpoint: Mapping[str, Any],
) -> None:
    told = {"Spec": {"Name": "stay-redis-1"}, "Endpoint": endpoint}
    with pytest.raises(StayError, match="no address in the network `w8x`") as refused:
        virtual_address(told, "w8x", "redis-1")
    assert refused.value.where == "redis-1"
    assert refused.value.hint == "docker service inspect stay-redis-1"


def test_a_volume_carries_the_stays_label() -> None:
    mounts = made(storage=Storage.VOLUME)["task_template"]["ContainerSpec"]["Mounts"]
    assert mounts[1]["Type"] == "volume"
    assert mounts[1]["VolumeOptions"]["Labels"] == {"dunnage.stay": "b1-x-1"}
