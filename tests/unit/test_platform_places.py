"""Where members are: their hosts, addresses and ports, and who holds a port."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from platform_cases import layout, service

from dunnage.contracts.host import Host, Site
from dunnage.errors import StayError, UnavailableError
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.layout import Address, Addresses, Reservation
from dunnage.model.port import PortNumbers
from dunnage.model.study import TestbedSpec
from dunnage.platforms import places
from dunnage.platforms.floating import floating_address
from dunnage.platforms.late_start import insist_known, wrapped
from dunnage.platforms.listening import holder


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[Host, ...]]:
    spec = TestbedSpec(kind="fake", hosts={"db": 3})
    with open_fake(spec, name="places") as testbed:
        yield testbed.group("db")


def clients(reservation: Reservation) -> list[str]:
    return [
        str(addresses.contact) for place in reservation.places for addresses in place.ports.values()
    ]


def test_slots_go_round_the_hosts(hosts: tuple[Host, ...]) -> None:
    reservation = places.reserve(layout(0, 1, 2, 3), hosts, "/tree")
    names = [host.name for host in hosts]
    assert [place.host for place in reservation.places] == [*names, names[0]]


def test_a_member_is_at_home_below_its_hosts_scratch(hosts: tuple[Host, ...]) -> None:
    place = places.reserve(layout(1), hosts, "/tree").place("redis-1")
    assert place.home == f"{hosts[1].scratch}/members/redis-1/home"
    assert place.data == f"{hosts[1].scratch}/members/redis-1/data"
    assert place.prefix == "/tree"


def test_a_member_has_its_own_number_and_those_by_which_it_is_reached(
    hosts: tuple[Host, ...],
) -> None:
    def by_other_port(member: str, host: Site, port: int) -> Addresses:
        own, told = Address(host.address, port), Address(host.address, port + 24000)
        return Addresses(bind=own, peer=own, contact=told, advertised=told)

    reservation = places.reserve(layout(0, 0), hosts, "/tree", by_other_port)
    assert reservation.numbers() == {
        f"redis-{number + 1}": {
            "redis": PortNumbers(bind=own, peer=own, contact=own + 24000, advertised=own + 24000)
        }
        for number, own in enumerate((6379, 6380))
    }


@pytest.mark.parametrize(
    ("addressing", "expected"),
    [
        (places.direct, ("host", "host", "host", "host")),
        (places.translated, ("@late:redis-1@", "host", "host", "host")),
        (places.named, ("@late:redis-1@", "redis-1", "redis-1", "@late:redis-1@")),
    ],
)
def test_where_a_member_binds_and_what_peers_and_clients_are_told(
    hosts: tuple[Host, ...], addressing: places.Addressing, expected: tuple[str, ...]
) -> None:
    port = places.reserve(layout(0), hosts, "/tree", addressing).places[0].ports["redis"]
    told = [port.bind, port.peer, port.contact, port.advertised]
    wanted = [hosts[0].address if each == "host" else each for each in expected]
    assert list(map(str, told)) == [f"{host}:6379" for host in wanted]


def test_clients_may_begin_at_a_hosts_name_and_go_on_by_its_address(
    hosts: tuple[Host, ...],
) -> None:
    for addressing in (places.direct, places.translated):
        by_name = places.by_host_name(addressing)
        port = places.reserve(layout(0), hosts, "/tree", by_name).places[0].ports["redis"]
        assert str(port.contact) == f"{hosts[0].name}:6379"
        assert str(port.advertised) == str(port.peer) == f"{hosts[0].address}:6379"


def test_clients_may_be_told_floating_addresses_while_members_use_their_hosts_own(
    hosts: tuple[Host, ...],
) -> None:
    for addressing in (places.direct, places.translated):
        floating = places.by_floating_address(addressing, lambda host: f"floating-{host.name}")
        reservation = places.reserve(layout(0), hosts, "/tree", floating)
        port, plain = reservation.places[0].ports["redis"], addressing("redis-1", hosts[0], 6379)
        told = f"floating-{hosts[0].name}:6379"
        assert (port.bind, port.peer) == (plain.bind, plain.peer)
        assert str(port.contact) == str(port.advertised) == told
        assert {str(each) for each in reservation.endpoint("redis")} == {told}


def test_a_host_before_which_nothing_translates_has_no_floating_address(
    hosts: tuple[Host, ...],
) -> None:
    with pytest.raises(UnavailableError, match="nothing translates a floating address"):
        floating_address(hosts[0])


def test_what_is_late_is_filled_in_everywhere_at_once(hosts: tuple[Host, ...]) -> None:
    reservation = places.reserve(layout(0, 1), hosts, "/tree", places.named)
    first, second = reservation.filled({"redis-1": "10.0.1.7"}).places
    assert str(first.ports["redis"].bind) == str(first.ports["redis"].advertised) == "10.0.1.7:6379"
    assert str(first.ports["redis"].contact) == "redis-1:6379"
    assert str(second.ports["redis"].bind) == "@late:redis-2@:6379"
    assert reservation.endpoint("redis") >= {*reservation.contacts("redis")}


def test_a_member_that_needs_an_address_nobody_knows_yet_is_refused() -> None:
    asks = service(files={"/home/redis.conf": "replicaof @late:redis-2@ 6379\nbind @late:redis-1@"})
    told = r"redis-1: the address of `redis-2` is not known"
    with pytest.raises(StayError, match=told) as refused:
        insist_known(asks, {})
    assert refused.value.hint.startswith("dunnage schema study")
    insist_known(asks, {"redis-2": "10.0.1.8"})


def test_the_engine_starts_a_member_whose_address_is_late() -> None:
    argv = wrapped("/run/engine", service(files={"/home/a": ""}), "10.0.1.0/24", ("server", "a"))
    words = "/run/engine start --member redis-1 --within 10.0.1.0/24 --file /home/a -- server a"
    assert argv == tuple(words.split())


def test_members_on_one_host_keep_the_distance_between_their_ports(
    hosts: tuple[Host, ...],
) -> None:
    second = places.reserve(layout(0, 0, bus=True), hosts, "/tree").place("redis-2")
    assert {name: each.contact.port for name, each in second.ports.items()} == {
        "redis": 6380,
        "bus": 16380,
    }


@given(slots=st.lists(st.integers(0, 5), min_size=1, max_size=9), bus=st.booleans())
def test_no_two_members_share_an_address(slots: list[int], bus: bool) -> None:
    spec = TestbedSpec(kind="fake", hosts={"db": 3})
    with open_fake(spec, name="places") as testbed:
        told = clients(places.reserve(layout(*slots, bus=bus), testbed.group("db"), "/tree"))
    assert len(set(told)) == len(told)


LISTENING = """\
LISTEN 0 511 10.77.0.1:6379 0.0.0.0:* users:(("redis-server",pid=42,fd=6))
LISTEN 0 4096 127.0.0.1:7000 0.0.0.0:*
LISTEN 0 4096 0.0.0.0:7001 0.0.0.0:* users:(("docker-proxy",pid=7,fd=4))
LISTEN 0 4096 *:7002 *:*
LISTEN 0 4096 [::]:7003 [::]:*
LISTEN 0 4096 127.0.0.53%lo:7004 0.0.0.0:*
"""


@pytest.mark.parametrize(
    ("port", "who"),
    [
        (6379, "`redis-server` (pid 42)"),
        (7000, None),
        (7001, "`docker-proxy` (pid 7)"),
        (7002, "an unknown process"),
        (7003, "an unknown process"),
        (7004, None),
        (637, None),
    ],
)
def test_who_holds_a_port_is_read_from_the_listing(port: int, who: str | None) -> None:
    assert holder(LISTENING, "10.77.0.1", port) == who
