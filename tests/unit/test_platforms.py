"""How platforms make containers: ports, networks, mounts, limits and images."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from platform_cases import layout, service

from dunnage.contracts.host import Host
from dunnage.contracts.software import Tree
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.choices import Storage
from dunnage.model.layout import (
    Place,
    Software,
)
from dunnage.model.study import Limits, TestbedSpec
from dunnage.platforms import places
from dunnage.platforms.containers import arguments, described, limit_arguments, ulimits
from dunnage.platforms.image_of_tree import command, image_of
from dunnage.platforms.stay_names import StayNames


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[Host, ...]]:
    spec = TestbedSpec(kind="fake", hosts={"db": 3})
    with open_fake(spec, name="places") as testbed:
        yield testbed.group("db")


def made(hosts: tuple[Host, ...], network: str, storage: Storage) -> dict[str, object]:
    return arguments(
        service(),
        place(hosts),
        stay=StayNames("b1-x-1"),
        image="image",
        argv=service().argv,
        engine="/run/dunnage/engine",
        address="10.77.0.1",
        network=network,
        storage=storage,
        limits=Limits(),
        ulimits=[],
    )


def place(hosts: tuple[Host, ...]) -> Place:
    return places.reserve(layout(0), hosts, "/tree", places.translated).places[0]


def test_ports_are_published_on_the_hosts_own_address_only(hosts: tuple[Host, ...]) -> None:
    published = {"6379/tcp": ("10.77.0.1", 6379)}
    assert made(hosts, "bridge", Storage.BIND)["ports"] == published
    assert made(hosts, "user-defined", Storage.BIND)["ports"] == published
    assert "ports" not in made(hosts, "host", Storage.BIND)


def test_a_container_has_the_variables_that_a_process_has_natively(
    hosts: tuple[Host, ...],
) -> None:
    assert made(hosts, "host", Storage.BIND)["environment"] == {"LANG": "C.UTF-8", "A": "b"}


def test_a_container_may_lock_memory_as_a_native_process_of_ours_may(
    hosts: tuple[Host, ...],
) -> None:
    assert made(hosts, "host", Storage.BIND)["cap_add"] == ["IPC_LOCK"]


def test_a_container_joins_the_network_that_was_asked_for(hosts: tuple[Host, ...]) -> None:
    networks = [
        made(hosts, network, Storage.BIND)["network"]
        for network in ("host", "bridge", "user-defined")
    ]
    assert networks == ["host", "bridge", "dunnage-b1-x-1"]


@pytest.mark.parametrize(
    ("storage", "kinds"),
    [
        (Storage.BIND, ["bind", "bind"]),
        (Storage.VOLUME, ["bind", "volume"]),
        (Storage.TMPFS, ["bind", "tmpfs"]),
        (Storage.CONTAINER, ["bind"]),
    ],
)
def test_paths_are_the_same_inside_and_outside(
    hosts: tuple[Host, ...], storage: Storage, kinds: list[str]
) -> None:
    mounts = made(hosts, "host", storage)["mounts"]
    assert isinstance(mounts, list)
    assert [mount["Type"] for mount in mounts] == [*kinds, "bind"]
    own = [place(hosts).home, place(hosts).data][: len(kinds)]
    assert [mount["Target"] for mount in mounts] == [*own, "/run/dunnage/engine"]
    assert mounts[-1]["ReadOnly"]


def test_all_that_belongs_to_a_stay_carries_its_label(hosts: tuple[Host, ...]) -> None:
    container = made(hosts, "bridge", Storage.VOLUME)
    assert container["labels"] == {"dunnage.stay": "b1-x-1"}
    assert container["name"] == "dunnage-b1-x-1-redis-1"
    volume = container["mounts"][1]  # type: ignore[index]
    assert volume["VolumeOptions"]["Labels"] == {"dunnage.stay": "b1-x-1"}
    assert StayNames("b1-x-1").filter == {"label": "dunnage.stay=b1-x-1"}


def test_options_of_a_network_go_to_its_driver_unchanged() -> None:
    stay = StayNames("b1-x-1")
    assert described("overlay", {}, stay) == {
        "name": "dunnage-b1-x-1",
        "driver": "overlay",
        "options": {},
        "labels": stay.labels,
    }
    given = {"driver": "weave", "encrypted": None, "com.docker.network.driver.mtu": 1400}
    made = described("overlay", given, stay)
    assert made["driver"] == "weave"
    assert made["options"] == {"encrypted": "", "com.docker.network.driver.mtu": "1400"}


@pytest.mark.parametrize("stay", ["b01-port", "b01-port.2", "b01-" + "x" * 62, "b1-a_b..c", "b1-é"])
def test_names_of_a_stay_are_its_own_and_fit_a_swarm(stay: str) -> None:
    names = [StayNames.of(stay).thing("cassandra-12") for _ in range(2)]
    assert names[0] != names[1]
    assert all(re.fullmatch("dunnage-[A-Za-z0-9][A-Za-z0-9-]{0,54}", name) for name in names)


def test_limits_are_those_of_a_control_group_with_a_short_period() -> None:
    assert limit_arguments(Limits()) == {}
    assert limit_arguments(Limits(memory=2**28, cpus=0.5, pids=50)) == {
        "mem_limit": 2**28,
        "memswap_limit": 2**28,
        "cpu_period": 10_000,
        "cpu_quota": 5_000,
        "pids_limit": 50,
    }


def test_resource_limits_are_copied_from_a_native_process() -> None:
    table = (
        "Limit                     Soft Limit           Hard Limit           Units\n"
        "Max core file size        0                    unlimited            bytes\n"
        "Max processes             96365                96365                processes\n"
        "Max open files            1024                 20000                files\n"
    )
    assert [(each.name, each.soft, each.hard) for each in ulimits(table)] == [
        ("core", 0, -1),
        ("nproc", 96365, 96365),
        ("nofile", 1024, 20000),
    ]


def tree(tmp_path_factory: pytest.TempPathFactory, image: str | None) -> Tree:
    here = tmp_path_factory.mktemp("tree")
    software = Software("redis", "7.0", image)
    return Tree(software, here, "/tree", here / "image.tar", "dunnage/redis:1", {})


def test_a_named_image_has_its_programs_on_its_own_path(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    own, named = tree(tmp_path_factory, None), tree(tmp_path_factory, "redis:7")
    assert image_of(own) == "dunnage/redis:1"
    assert image_of(named) == "redis:7"
    assert command(service().argv, own) == service().argv
    assert command(service().argv, named) == ("redis-server", "/home/redis.conf")
    assert command(("/other/program",), named) == ("/other/program",)
