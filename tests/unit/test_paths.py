"""The way to members, from what the scripts printed on the hosts of real labs.

`tests/fixtures/network` has that as it was, but for fields of `ip` and `bridge` that are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dunnage.model.path import HopKind
from dunnage.platforms.paths.namespace import Interface, Namespace, Route
from dunnage.platforms.paths.parse import namespaces
from dunnage.platforms.paths.rules import chains
from dunnage.platforms.paths.virtual import virtuals
from dunnage.platforms.paths.walk import Goal, walk

FIXTURES = Path(__file__).parents[1] / "fixtures" / "network"

HOSTS = ("client-1", "db-1")


def told(case: str, host: str) -> str:
    return (FIXTURES / f"{case}-{host}.txt").read_text(encoding="utf-8")


def read(case: str) -> list[Namespace]:
    return [each for host in HOSTS for each in namespaces(host, told(case, host))]


def container(found: Sequence[Namespace], host: str) -> Namespace:
    return next(each for each in found if each.host == host and each.pids and not each.own)


def member_pid(found: Sequence[Namespace]) -> int:
    return next(
        each.pid for space in found for each in space.listeners if each.process == "redis-server"
    )


def shape(
    case: str, address: str, *, inside: bool = False, found: Sequence[Namespace] | None = None
) -> tuple[list[str], str]:
    """Each hop as `kind host name`, names of veth pairs left out; and why the way ends early."""
    spaces = read(case) if found is None else found
    start = container(spaces, "client-1") if inside else spaces[0]
    goal = Goal("db-1", member_pid(spaces))
    hops, unknown = walk(spaces, start, address, 6379, goal)
    return [
        f"{hop.kind} {hop.host} {'' if hop.name.startswith('veth') else hop.name}".strip()
        for hop in hops
    ], unknown


def test_natively_a_connection_goes_from_host_to_host() -> None:
    assert shape("native", "10.77.0.1") == (
        ["device client-1 eth0", "wire  wire", "device db-1 eth0", "member db-1 redis-server"],
        "",
    )


TO_A_BRIDGE = [
    "device client-1 eth0",
    "wire  wire",
    "device db-1 eth0",
    "translation db-1 DNAT",
    "bridge db-1 docker0",
    "veth db-1",
    "veth db-1 eth0",
    "member db-1 redis-server",
]


def test_a_published_port_is_translated_before_the_bridge() -> None:
    assert shape("bridge", "10.77.0.1") == (TO_A_BRIDGE, "")


def test_a_client_in_a_container_leaves_by_its_bridge_and_is_masqueraded() -> None:
    assert shape("bridge", "10.77.0.1", inside=True) == (
        [
            "veth client-1 eth0",
            "veth client-1",
            "bridge client-1 docker0",
            "translation client-1 MASQUERADE",
            *TO_A_BRIDGE,
        ],
        "",
    )


def test_without_its_rule_a_published_port_is_the_proxys() -> None:
    spaces = [replace(each, rules={}) for each in read("bridge")]
    assert shape("bridge", "10.77.0.1", found=spaces) == (
        [
            "device client-1 eth0",
            "wire  wire",
            "device db-1 eth0",
            "proxy db-1 docker-proxy",
            "bridge db-1 docker0",
            "veth db-1",
            "veth db-1 eth0",
            "member db-1 redis-server",
        ],
        "",
    )


def test_a_port_of_a_swarms_host_leads_to_the_containers_other_interface() -> None:
    assert shape("host-port", "10.77.0.1") == (
        [
            "device client-1 eth0",
            "wire  wire",
            "device db-1 eth0",
            "translation db-1 DNAT",
            "bridge db-1 docker_gwbridge",
            "veth db-1",
            "veth db-1 eth1",
            "member db-1 redis-server",
        ],
        "",
    )


def test_an_overlay_wraps_packets_on_one_host_and_unwraps_them_on_the_other() -> None:
    assert shape("overlay", "10.66.1.2", inside=True) == (
        [
            "veth client-1 eth0",
            "veth client-1",
            "bridge client-1 br0",
            "tunnel client-1 vxlan0",
            "device client-1 eth0",
            "wire  wire",
            "device db-1 eth0",
            "tunnel db-1 vxlan0",
            "bridge db-1 br0",
            "veth db-1",
            "veth db-1 eth0",
            "member db-1 redis-server",
        ],
        "",
    )


def test_hops_tell_addresses_packet_sizes_rules_and_tunnels() -> None:
    spaces = read("overlay")
    goal = Goal("db-1", member_pid(spaces))
    hops, _ = walk(spaces, container(spaces, "client-1"), "10.66.1.2", 6379, goal)
    assert [hop.detail for hop in hops[:6]] == [
        "10.66.1.6, MTU 1450, in the container",
        "MTU 1450",
        "10.66.1.1, MTU 1450",
        "VXLAN 4097, UDP port 4789, MTU 1450, to 10.77.0.1",
        "10.77.0.3, MTU 1500",
        "10.77.0.3 → 10.77.0.1",
    ]
    assert hops[-1].detail == f"process {goal.pid}, listens on 10.66.1.2:6379"
    spaces = read("bridge")
    hops, _ = walk(spaces, spaces[0], "10.77.0.1", 6379, Goal("db-1", member_pid(spaces)))
    (rule,) = (hop.detail for hop in hops if hop.kind is HopKind.TRANSLATION)
    assert rule == (
        "-A DOCKER -d 10.77.0.1/32 ! -i docker0 -p tcp -m tcp --dport 6379 "
        "-j DNAT --to-destination 10.64.0.2:6379"
    )


FLOATING_RULES = """\
-A PREROUTING -d 10.77.1.1/32 -j DNAT --to-destination 10.77.0.1
-A POSTROUTING -s {source}/32 -o lab0 -m conntrack --ctstate DNAT -j SNAT --to-source 10.77.1.9
"""


def floating(rules: str = FLOATING_RULES) -> list[Namespace]:
    """The hosts of `bridge`, behind a switch that translates."""
    first, *others = read("bridge")
    by_switch = Route("eth0", "10.77.0.254", first.routes["10.77.0.1"].source, local=False)
    client = replace(first, routes={**first.routes, "10.77.1.1": by_switch})
    bridge = Interface("lab0", 2, "bridge", 1500, "02:00", "", 0, ("10.77.0.254",))
    switch = Namespace(
        host="switch",
        pids=frozenset(),
        own=True,
        interfaces=(bridge,),
        routes={"10.77.0.1": Route("lab0", "", "10.77.0.254", local=False)},
        rules=chains(rules.format(source=by_switch.source)),
        router=True,
    )
    return [client, *others, switch]


def test_a_floating_address_is_translated_on_the_switch() -> None:
    assert shape("bridge", "10.77.1.1", found=floating()) == (
        [
            "device client-1 eth0",
            "wire  wire",
            "router switch lab0",
            "translation switch DNAT",
            "translation switch SNAT",
            *TO_A_BRIDGE[1:],
        ],
        "",
    )


def test_what_the_switch_does_to_a_packet_is_seen_on_the_wires() -> None:
    spaces = floating()
    hops, _ = walk(spaces, spaces[0], "10.77.1.1", 6379, Goal("db-1", member_pid(spaces)))
    source = spaces[0].routes["10.77.1.1"].source
    assert [hop.detail for hop in hops if hop.kind is HopKind.WIRE] == [
        f"{source} → 10.77.1.1",
        "10.77.1.9 → 10.77.0.1",
    ]


def on_the_wire(kind: str = "macvlan") -> list[Namespace]:
    """The hosts of `native`, and the member in a container with an address beside theirs."""
    client, host = read("native")
    (listener,) = (each for each in host.listeners if each.process == "redis-server")
    address = "10.77.0.111"
    inside = Namespace(
        host="db-1",
        pids=frozenset({listener.pid}),
        own=False,
        interfaces=(Interface("eth0", 2, kind, 1500, "02:11", "", 0, (address,)),),
        routes={},
        listeners=(replace(listener, address=address),),
    )
    linked = replace(client.routes["10.77.0.1"], gateway="")
    client = replace(client, routes={**client.routes, address: linked})
    return [client, replace(host, listeners=()), inside]


@pytest.mark.parametrize("kind", ["macvlan", "vlan", ""])
def test_a_container_on_the_wire_is_reached_past_its_host(kind: str) -> None:
    assert shape("native", "10.77.0.111", found=on_the_wire(kind)) == (
        ["device client-1 eth0", "wire  wire", "device db-1 eth0", "member db-1 redis-server"],
        "",
    )
    spaces = on_the_wire(kind)
    hops, _ = walk(spaces, spaces[0], "10.77.0.111", 6379, Goal("db-1", member_pid(spaces)))
    assert hops[2].detail == "10.77.0.111, MTU 1500, in the container"


@pytest.mark.parametrize("kind", ["veth", "netkit"])
def test_a_container_behind_its_host_is_not_reached_past_it(kind: str) -> None:
    _, unknown = shape("native", "10.77.0.111", found=on_the_wire(kind))
    assert unknown == "no other host has the address 10.77.0.111"


def test_without_its_rule_on_the_switch_a_floating_address_leads_nowhere() -> None:
    hops, unknown = shape("bridge", "10.77.1.1", found=floating(""))
    assert hops[-1] == "router switch lab0"
    assert unknown == "`switch` has no route to 10.77.1.1 that could be read"


def balanced(host: str, shown: str, address: str) -> list[Namespace]:
    """Two hosts, one of which has this address and these services of IPVS."""
    held = Interface("kube-ipvs0", 99, "dummy", 1500, "", "", 0, (address,))

    def changed(each: Namespace) -> Namespace:
        return replace(
            each,
            virtuals=virtuals(f"version\nservices\nservers\n{shown}"),
            interfaces=(*each.interfaces, held),
            routes={**each.routes, address: Route("lo", "", address, local=True)},
        )

    return [changed(each) if each.host == host else each for each in read("native")]


TO_A_SERVICE = "TCP 0A440001:18EB rr\n -> 0A4D0001:18EB Masq 1 0 0\n"


def test_ipvs_sends_from_the_clients_host_to_the_server_behind_a_service() -> None:
    found = balanced("client-1", TO_A_SERVICE, "10.68.0.1")
    assert shape("native", "10.68.0.1", found=found) == (
        [
            "translation client-1 IPVS",
            "device client-1 eth0",
            "wire  wire",
            "device db-1 eth0",
            "member db-1 redis-server",
        ],
        "",
    )


def test_what_comes_in_for_a_service_of_ipvs_goes_on_to_its_server() -> None:
    port = "TCP 0A4D0001:7530 rr\n -> 0A4D0001:18EB Masq 1 0 0\n"
    spaces = balanced("db-1", port, "10.68.0.9")
    hops, unknown = walk(spaces, spaces[0], "10.77.0.1", 30000, Goal("db-1", member_pid(spaces)))
    assert unknown == ""
    assert [hop.name for hop in hops] == ["eth0", "wire", "eth0", "IPVS", "redis-server"]
    assert hops[3].detail == "10.77.0.1:30000, rr, to 10.77.0.1:6379"


def test_ipvs_is_not_asked_of_what_only_passes_by() -> None:
    found = balanced("db-1", TO_A_SERVICE.replace("0A440001", "0A440002"), "10.68.0.9")
    hops, _ = shape("native", "10.77.0.1", found=found)
    assert "translation db-1 IPVS" not in hops


def test_a_service_of_ipvs_with_several_servers_is_no_guess() -> None:
    two = f"{TO_A_SERVICE} -> 0A4D0002:18EB Masq 1 0 0\n"
    hops, unknown = shape("native", "10.68.0.1", found=balanced("client-1", two, "10.68.0.1"))
    assert hops == []
    assert unknown == "IPVS of `client-1` has 2 servers for 10.68.0.1:6379"


def test_what_marks_packets_decides_which_service_of_ipvs_takes_them() -> None:
    marked = "FWM 00000101 rr\n -> 0A4D0001:0000 Masq 1 0 0\n"
    marks = chains("-A OUTPUT -d 10.68.0.1/32 -j MARK --set-xmark 0x101/0xffffffff")
    found = balanced("client-1", marked, "10.68.0.1")
    assert shape("native", "10.68.0.1", found=found)[1]  # nobody listens there
    noted = [replace(each, marks=marks) if each.host == "client-1" else each for each in found]
    assert shape("native", "10.68.0.1", found=noted)[1] == ""


def test_a_way_that_ends_at_another_process_says_so() -> None:
    spaces = read("native")
    pid = member_pid(spaces)
    hops, unknown = walk(spaces, spaces[0], "10.77.0.1", 6379, Goal("db-1", pid + 1))
    assert [hop.kind for hop in hops] == [HopKind.DEVICE, HopKind.WIRE, HopKind.DEVICE]
    assert unknown == (
        f"on `db-1` 10.77.0.1:6379 belongs to process {pid} (`redis-server`), "
        f"not to process {pid + 1} of `db-1`"
    )


@pytest.mark.parametrize(
    ("change", "unknown"),
    [
        ({"listeners": ()}, "on `db-1` nobody listens on 10.64.0.2:6379"),
        ({"interfaces": ()}, "bridge `docker0` of `db-1` has no port that leads to 10.64.0.2"),
    ],
)
def test_what_a_container_does_not_tell_ends_the_way(
    change: dict[str, tuple[()]], unknown: str
) -> None:
    spaces = read("bridge")
    pid = member_pid(spaces)
    inner = container(spaces, "db-1")
    changed = [replace(each, **change) if each is inner else each for each in spaces]  # type: ignore[arg-type]
    assert walk(changed, changed[0], "10.77.0.1", 6379, Goal("db-1", pid))[1] == unknown


def test_rules_that_could_not_be_read_end_the_way_where_they_matter() -> None:
    printed = told("bridge", "db-1").replace(
        "@@dunnage process", "@@dunnage no-rules\n@@dunnage process", 1
    )
    spaces = [*namespaces("client-1", told("bridge", "client-1")), *namespaces("db-1", printed)]
    hops, unknown = walk(spaces, spaces[0], "10.77.0.1", 6379, Goal("db-1", 1))
    assert [hop.kind for hop in hops] == [HopKind.DEVICE, HopKind.WIRE, HopKind.DEVICE]
    assert unknown.startswith("the rules of `db-1` could not be read: `iptables` failed: ")


def test_an_address_that_no_host_has_ends_the_way_at_the_wire() -> None:
    spaces = [each for each in read("native") if each.host == "client-1"]
    assert walk(spaces, spaces[0], "10.77.0.1", 6379, Goal("db-1", 1))[1] == (
        "no other host has the address 10.77.0.1"
    )


def test_a_namespace_that_is_the_hosts_own_is_there_once() -> None:
    own, *others = namespaces("db-1", told("native", "db-1"))
    assert own.own
    assert member_pid([own]) in own.pids
    assert others == []
