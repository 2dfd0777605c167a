"""Rules of a firewall, listeners and forwarding entries, as the kernel's tools print them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dunnage.platforms.paths.namespace import ANY
from dunnage.platforms.paths.parse import forwarding, listeners
from dunnage.platforms.paths.rules import Packet, UnreadableRuleError, chains, translation

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
