"""Rules of a firewall, listeners and forwarding entries, as the kernel's tools print them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from around import Around

from dunnage.platforms.paths.namespace import ANY
from dunnage.platforms.paths.packet import Packet
from dunnage.platforms.paths.parse import forwarding, listeners
from dunnage.platforms.paths.rules import UnreadableRuleError, chains, translation
from dunnage.platforms.paths.sets import sets
from dunnage.platforms.paths.virtual import virtuals

PACKET = Packet("10.0.0.3", "10.0.0.1", 6379, entered="eth0")


def applied(*rules: str, packet: Packet = PACKET, saved: str = "") -> str:
    listed = chains("\n".join(rules))
    _, found = translation(listed, "PREROUTING", packet, Around(PACKET.address, sets(saved)))
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


SAVED = """\
create SERVICES hash:ip,port family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0x1
add SERVICES 10.0.0.1,tcp:6379
create LOOPS hash:ip,port,ip family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0x2
add LOOPS 10.0.0.1,tcp:6379,10.0.0.3
create PORTS bitmap:port range 0-65535
add PORTS 6379
create EMPTY hash:ip,port family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0x3
create NETS hash:net family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0x4
"""


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("SERVICES dst,dst", True),
        ("LOOPS dst,dst,src", True),
        ("LOOPS dst,dst,dst", False),
        ("PORTS dst", True),
        ("EMPTY dst,dst", False),
    ],
)
def test_a_rule_goes_by_what_is_in_a_set(named: str, found: bool) -> None:
    rule = "-A PREROUTING -m set {}--match-set " + named + " -j DNAT --to-destination 1.2.3.4:5"
    assert (applied(rule.format(""), saved=SAVED) == "1.2.3.4:5") is found
    assert (applied(rule.format("! "), saved=SAVED) == "1.2.3.4:5") is not found
    other = replace(PACKET, port=1)
    assert applied(rule.format(""), packet=other, saved=SAVED) == ""


@pytest.mark.parametrize("named", ["GONE dst,dst", "NETS dst", "SERVICES dst,src", "LOOPS dst,dst"])
def test_what_is_in_a_set_that_is_not_known_is_no_guess(named: str) -> None:
    with pytest.raises(UnreadableRuleError, match="--match-set"):
        applied(f"-A PREROUTING -m set --match-set {named} -j ACCEPT", saved=SAVED)


def test_a_rule_may_be_for_what_ipvs_has_sent() -> None:
    rule = "-A PREROUTING -m ipvs --ipvs -j DNAT --to-destination 1.2.3.4:5"
    assert applied(rule) == ""
    assert applied(rule, packet=replace(PACKET, virtual=True)) == "1.2.3.4:5"


SHOWN = """\
IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port Forward Weight ActiveConn InActConn
TCP  0A000001:18EB rr
  -> 0A4D0005:192B      Masq    1      0          0
  -> 0A4D0006:192B      Masq    0      0          0
UDP  0A000001:18EB wrr
  -> 0A4D0005:0035      Masq    1      0          0
FWM  00000101 rr
  -> 0A000007:0000      Masq    1      0          0
TCP  [fd00:0000:0000:0000:0000:0000:0000:0001]:01BB rr
  -> [fd00:0000:0000:0000:0000:0000:0000:0005]:192B      Masq    1      0          0
"""


def test_services_of_ipvs_take_packets_by_their_address_or_mark() -> None:
    named, marked = virtuals(SHOWN)
    assert (str(named), named.scheduler, named.servers) == (
        "10.0.0.1:6379",
        "rr",
        (("10.77.0.5", 6443),),
    )
    assert (str(marked), marked.servers) == ("mark 0x101", (("10.0.0.7", 0),))
    assert named.takes(PACKET)
    assert not named.takes(replace(PACKET, port=1))
    assert not marked.takes(PACKET)
    assert marked.takes(replace(PACKET, mark=0x101))
    assert virtuals("") == ()


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
