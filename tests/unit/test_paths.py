"""The way to members, from what the scripts printed on the hosts of real labs.

`tests/fixtures/network` has that as it was, but for fields of `ip` and `bridge` that are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dunnage.contracts.host import Completed
from dunnage.contracts.platform import RunningMember, Seen
from dunnage.errors import RunError
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.layout import Address
from dunnage.model.path import HopKind, NetworkPath
from dunnage.model.study import TestbedSpec
from dunnage.platforms.paths.namespace import ANY, Interface, Namespace, Route
from dunnage.platforms.paths.parse import forwarding, listeners, namespaces
from dunnage.platforms.paths.read import Client, Member, read_paths
from dunnage.platforms.paths.rules import Packet, UnreadableRuleError, chains, translation
from dunnage.platforms.paths.script import Tools, script
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


PACKET = Packet("10.0.0.3", "10.0.0.1", 6379, entered="eth0")


def applied(*rules: str, packet: Packet = PACKET) -> str:
    local = {"10.0.0.1"}.__contains__
    _, found = translation(chains("\n".join(rules)), "PREROUTING", packet, local)
    return "" if found is None else f"{found.address}:{found.port}"


def test_rules_apply_in_order_through_chains_until_one_ends_it() -> None:
    jump = "-A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER"
    back = "-A DOCKER -i docker0 -j RETURN"
    sends = "-A DOCKER ! -i docker0 -p tcp -m tcp --dport 6379 -j DNAT --to-destination 10.1.0.2:1"
    other = sends.replace("10.1.0.2:1", "10.1.0.3:2")
    assert applied(jump, back, sends, other) == "10.1.0.2:1"
    assert applied(back, sends) == ""
    assert applied(jump, "-A DOCKER -j ACCEPT", sends) == ""
    assert applied(jump, back, sends, packet=replace(PACKET, entered="docker0")) == ""
    assert applied(jump, sends, packet=replace(PACKET, address="10.0.0.9")) == ""
    assert applied(jump, sends.replace("6379", "6300:6400")) == "10.1.0.2:1"
    assert applied(jump, sends.replace("-p tcp", "-p udp")) == ""


def test_what_applies_to_translated_packets_leaves_others_alone() -> None:
    rule = "-A PREROUTING -m conntrack --ctstate DNAT -j DNAT --to-destination 10.1.0.2:1"
    assert applied(rule) == ""
    assert applied(rule, packet=replace(PACKET, translated=True)) == "10.1.0.2:1"


def test_a_rule_with_an_unknown_condition_is_no_guess_unless_another_one_fails() -> None:
    sends = "-m statistic --mode random --probability 0.5 -j DNAT --to-destination 1.2.3.4:5"
    chance = f"-A PREROUTING {{}}{sends}"
    with pytest.raises(UnreadableRuleError, match="--probability"):
        applied(chance.format(""))
    assert applied(chance.format("-s 10.9.0.0/16 ")) == ""


def test_a_rule_goes_by_what_earlier_ones_marked() -> None:
    marks = "-A PREROUTING -p tcp -j NOTE"
    note = "-A NOTE -j MARK --set-xmark 0x4000/0x4000"
    sends = "-A PREROUTING -m mark --mark 0x4000/0x4000 -j DNAT --to-destination 10.1.0.2:1"
    clears = "-A PREROUTING -j MARK --set-xmark 0x0/0x4000"
    others = "-A PREROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN"
    assert applied(marks, note, sends) == "10.1.0.2:1"
    assert applied(sends) == ""
    assert applied(marks, note, clears, sends) == ""
    assert applied(marks, note, others, sends) == "10.1.0.2:1"
    assert applied(sends, packet=replace(PACKET, mark=0x4001)) == "10.1.0.2:1"
    assert (
        applied(sends.replace("0x4000/0x4000", "0x4000"), packet=replace(PACKET, mark=0x4001)) == ""
    )


def test_a_rule_may_name_several_ports() -> None:
    sends = (
        "-A PREROUTING -p tcp -m multiport --dports 1,6300:6400 -j DNAT --to-destination 1.2.3.4:5"
    )
    assert applied(sends) == "1.2.3.4:5"
    assert applied(sends, packet=replace(PACKET, port=2)) == ""


def test_listeners_are_read_whatever_the_family_of_their_socket() -> None:
    lines = (
        'LISTEN 0 50 [::ffff:10.0.0.2]:9042 *:* users:(("java",pid=12,fd=6))\n'
        'LISTEN 0 50 *:7000 *:* users:(("java",pid=12,fd=7),("child",pid=13,fd=7))\n'
        "LISTEN 0 50 127.0.0.1%lo:53 0.0.0.0:*\n"
    )
    assert [(each.address, each.port, each.process, each.pid) for each in listeners(lines)] == [
        ("10.0.0.2", 9042, "java", 12),
        (ANY, 7000, "java", 12),
        (ANY, 7000, "child", 13),
        ("127.0.0.1", 53, "", 0),
    ]


def test_only_entries_that_send_to_hosts_are_forwarding() -> None:
    remote = '{"mac":"a","ifname":"vxlan0","dst":"10.0.0.2"}'
    entries = f'[{remote},{{"mac":"b","ifname":"veth0","master":"br0"}}]'
    assert forwarding(entries) == {("vxlan0", "a"): "10.0.0.2"}
    assert forwarding("") == {}


def test_a_namespace_that_is_the_hosts_own_is_there_once() -> None:
    own, *others = namespaces("db-1", told("native", "db-1"))
    assert own.own
    assert member_pid([own]) in own.pids
    assert others == []


def test_a_host_without_ip_says_what_was_missing() -> None:
    with pytest.raises(ValueError, match="ip: not found"):
        namespaces("db-1", "@@dunnage own\n@@dunnage links\n", "sh: 1: ip: not found\n")


def test_the_script_asks_for_rules_only_where_a_daemon_makes_them() -> None:
    plain = script(["10.0.0.1"], [12], None, members=True)
    assert "iptables" not in plain
    assert "route get 10.0.0.1" in plain
    tools = Tools({"PATH": "/some where"}, "/run/docker/netns")
    asked = script([], [], tools, members=False)
    assert "export PATH='/some where'; exec iptables" in asked
    assert "/run/docker/netns/[0-9]*-*" in asked
    assert "ss --no-header" not in asked


def paths_where(answer: Completed | Exception, meant: str = "10.0.0.1") -> NetworkPath:
    """What is told of a path where the hosts' script ended so."""
    spec = TestbedSpec(kind="fake", hosts={"db": 1, "client": 1})
    with open_fake(spec, name="paths") as testbed:
        (client,), (host,) = testbed.group("client"), testbed.group("db")

        def run(*_: object, **__: object) -> Completed:
            if isinstance(answer, Exception):
                raise answer
            return answer

        client.run = host.run = run  # type: ignore[method-assign]
        member = Member(
            RunningMember("redis-1", host, Seen(12, "")), Address("redis-1", 6379), meant
        )
        (path,) = read_paths(Client(client, None), [member], ["10.0.0.1"], {})
    return path


@pytest.mark.parametrize(
    ("answer", "unknown"),
    [
        (RunError("`sh` did not end within 10 s"), "`sh` did not end within 10 s"),
        (Completed(127, "", "sh: 1: ip: not found"), "the network cannot be read: sh: 1: ip: not"),
        (Completed(0, "@@dunnage own\n@@dunnage links\n[{", ""), "the network cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said_and_ends_nothing(
    answer: Completed | Exception, unknown: str
) -> None:
    path = paths_where(answer)
    assert [hop.kind for hop in path.hops] == [HopKind.CLIENT]
    assert unknown in path.unknown


def test_a_name_that_nobody_knows_is_said() -> None:
    path = paths_where(Completed(0, "", ""), meant="")
    assert path.unknown == "nobody has told what address `redis-1` stands for"
    assert path.address == "redis-1:6379"


def test_each_host_is_asked_once_for_all_members() -> None:
    asked = []
    spec = TestbedSpec(kind="fake", hosts={"db": 2, "client": 1})
    with open_fake(spec, name="paths") as testbed:
        for host in testbed.hosts:

            def run(*_: object, name: str = host.name, **__: object) -> Completed:
                asked.append(name)
                return Completed(1, "", "")

            host.run = run  # type: ignore[method-assign]
        (client,) = testbed.group("client")
        members = [
            Member(
                RunningMember(f"redis-{number}", host, Seen(number, "")), Address("", 1), "10.0.0.1"
            )
            for number, host in enumerate(testbed.group("db") * 2, start=1)
        ]
        assert len(read_paths(Client(client, None), members, [], {})) == 4
    assert sorted(asked) == ["client-1", "db-1", "db-2"]
