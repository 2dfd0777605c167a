"""What proofs of known answers are made with: blocks, and rules read back."""

from __future__ import annotations

import itertools
import json
import socket
from collections import Counter
from collections.abc import Callable
from unittest.mock import Mock

import pytest
import redis_round_trips
from connection_times import times, typical
from insisted import insisted
from lab_networks import Device
from paired_blocks import Blocks, beside, ends, measured, reach, said
from proxy_rules import LANGUAGES, Node
from redis_round_trips import Way
from service_connections import Connecting

from dunnage.contracts.host import Completed
from dunnage.model.layout import LOOPBACK
from dunnage.model.proxy import ProxyMode

DRIFT = Blocks(
    {
        "plain": {block: 20.0 + 5 * block for block in range(1, 7)},
        "more": {block: 21.0 + 5 * block + 0.1 * (-1) ** block for block in range(1, 7)},
    }
)


def test_a_drift_of_all_ways_is_no_part_of_their_difference() -> None:
    found = DRIFT.beyond("more", "plain")
    low, high = ends(found)
    assert found.value == pytest.approx(1.0)
    assert high - low < 0.5
    assert said(found) == f"+1.00 µs ({low:+.2f} … {high:+.2f}, 95%, n = 6)"
    assert ends(DRIFT.mean("plain"))[1] - DRIFT.mean("plain").value > 5


def test_a_weighted_sum_is_made_inside_blocks_too() -> None:
    twice = DRIFT.weighted({"more": 2, "plain": -2})
    assert twice.value == pytest.approx(2.0)
    assert ends(twice)[0] > 1.5
    assert reach(twice) == ends(twice)[1] == -ends(DRIFT.weighted({"more": -2, "plain": 2}))[0]


def test_the_interval_of_a_ratio_holds_the_ratio_and_is_as_fiellers_formula_says() -> None:
    """Ten times as much, seen with errors of which those of the two ways have nothing in common."""
    wobble = (0.3, -0.3, 0.1, -0.1, 0.2, -0.2)
    ways = Blocks(
        {
            "one": {block: 20.0 + block for block in range(6)},
            "few": {block: 23.0 + block + wobble[block] for block in range(6)},
            "many": {block: 50.0 + block + 2 * wobble[5 - block] for block in range(6)},
        }
    )
    low, high = ways.ratio("many", "few", "one", 0.95)
    assert 9 < low < 10 < high < 12
    few, many = ends(ways.beyond("few", "one")), ends(ways.beyond("many", "one"))
    assert high - low < many[1] / few[0] - many[0] / few[1]
    for ratio in (low, high):  # at its ends the weighted difference is just told from zero
        just = ends(ways.weighted({"many": 1, "few": -ratio, "one": ratio - 1}))
        assert min(map(abs, just)) == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(AssertionError, match="not told from"):
        ways.ratio("many", "one", "one", 0.95)


def test_where_an_interval_is_beside_what_was_expected_is_told() -> None:
    found = DRIFT.beyond("more", "plain")
    for low, high, told in (
        (0.3, 1.0, "overlaps what is expected, +0.3 to 1 µs"),
        (3.0, 5.0, "less than expected, +3 to 5 µs"),
        (0.1, 0.2, "more than expected, +0.1 to 0.2 µs"),
    ):
        assert beside(found, low, high) == told


def test_blocks_are_balanced_and_what_is_tried_before_them_does_not_count() -> None:
    called: list[str] = []

    def way(name: str) -> Callable[[], float]:
        def measure() -> float:
            called.append(name)
            return float(len(called))

        return measure

    seen = measured({name: way(name) for name in "abc"}, 6, "words")
    assert called[:3] == ["a", "b", "c"]
    counted = called[3:]
    assert Counter(counted) == {"a": 6, "b": 6, "c": 6}
    for start in range(3):
        assert Counter(counted[start::3]) == {"a": 2, "b": 2, "c": 2}
    assert min(min(taken.values()) for taken in seen.taken.values()) == 4.0
    with pytest.raises(AssertionError, match="5 blocks"):
        measured({name: way(name) for name in "abc"}, 5, "words")


def test_there_are_more_blocks_while_intervals_are_wide_but_no_end_of_them() -> None:
    """What was found decides nothing: a difference of nothing ends as soon as a large one."""

    def blocks(beyond: float, noise: float, within: float) -> int:
        jumps = itertools.cycle([noise, -noise])
        ways = {"first": lambda: 10.0, "other": lambda: 10.0 + beyond + next(jumps)}
        return len(measured(ways, 6, "words", within).taken["other"])

    assert blocks(0.0, 1.0, 0.7) == blocks(100.0, 1.0, 0.7)
    assert 6 < blocks(0.0, 1.0, 0.7) < 24
    assert blocks(0.0, 1.0, 0.7) % 2 == 0
    assert blocks(0.0, 0.1, 0.7) == 6
    assert blocks(0.0, 9.0, 0.7) == 24


IPTABLES = """*nat
:KUBE-SERVICES - [0:0]
-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A KUBE-SERVICES -d 10.68.0.10/32 -p udp -m comment --comment "kube-system/dns:dns cluster IP" \
-m udp --dport 53 -j KUBE-SVC-TCOU7JCQXEZGVUNU
-A KUBE-SERVICES -d 10.68.7.7/32 -p tcp -m comment --comment "a/b:tcp cluster IP" -m tcp \
--dport 80 -j KUBE-SVC-AAAAAAAAAAAAAAAA
-A KUBE-SERVICES -d 10.68.0.1/32 -p tcp -m comment --comment "default/k:https cluster IP" \
-m tcp --dport 443 -j KUBE-SVC-NPX46M4PTMTKRN6Y
-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS
-A KUBE-SVC-AAAAAAAAAAAAAAAA -d 10.68.7.7/32 ! -i cni0 -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ
COMMIT
"""
NFTABLES = """table ip kube-proxy {
    map no-endpoint-services {
        type ipv4_addr . inet_proto . inet_service : verdict
        comment "vmap to drop or reject packets to services with no endpoints"
        elements = { 10.68.9.9 . tcp . 80 comment "a/none:tcp" : goto reject-chain }
    }
    map service-ips {
        type ipv4_addr . inet_proto . inet_service : verdict
        comment "ClusterIP, ExternalIP and LoadBalancer IP traffic"
        elements = { 10.68.7.7 . tcp . 80 : goto service-AAAAAAAA-a/b/tcp/tcp,
                     10.68.0.10 . udp . 53 : goto service-BBBBBBBB-kube-system/dns/udp/dns,
                     10.68.0.1 . tcp . 443 comment "default/k:https" : goto service-CCCCCCCC-k }
    }
    chain service-AAAAAAAA-a/b/tcp/tcp {
        ip daddr 10.68.7.7 tcp dport 80 ip saddr != 10.67.0.0/16 jump mark-for-masquerade
    }
}
"""


BARE = "\n".join(each for each in NFTABLES.splitlines() if "    comment" not in each)
"""The same by an `nft` that tells no comments of maps."""


@pytest.mark.parametrize(
    ("proxy", "rules"),
    [
        (ProxyMode.IPTABLES, IPTABLES),
        (ProxyMode.NFTABLES, NFTABLES),
        (ProxyMode.NFTABLES, BARE),
    ],
)
def test_services_are_read_from_rules_in_their_order(proxy: ProxyMode, rules: str) -> None:
    assert LANGUAGES[proxy].services(rules) == ["10.68.7.7", "10.68.0.1"]


def host(*answers: str, code: int = 0) -> Mock:
    """A host whose commands say these, one after the other."""
    there = Mock()
    there.name = "db-1"
    there.run.side_effect = [Completed(code, each, "why") for each in answers]
    return there


@pytest.mark.parametrize(
    ("proxy", "rules"), [(ProxyMode.IPTABLES, IPTABLES), (ProxyMode.NFTABLES, NFTABLES)]
)
def test_rules_that_lead_to_all_services_are_the_very_ones_that_are_kept(
    proxy: ProxyMode, rules: str
) -> None:
    there = host(rules, "what came after them")
    assert Node(there, {}, LANGUAGES[proxy]).programmed(["10.68.7.7"]) == rules
    assert there.run.call_count == 1


@pytest.mark.parametrize("proxy", LANGUAGES)
def test_what_makes_the_rules_is_told(proxy: ProxyMode) -> None:
    there = host("iptables v1.8.9 (nf_tables)\n")
    assert Node(there, {}, LANGUAGES[proxy]).version() == "iptables v1.8.9 (nf_tables)"
    (asked,) = there.run.call_args_list
    tool = "nft" if proxy is ProxyMode.NFTABLES else "iptables"
    assert asked.args == (("env", tool, "--version"),)


def test_connections_that_a_kernel_goes_on_to_track_are_told() -> None:
    there = host("", "2\n", "", "9000\n")
    node = Node(there, {"PATH": "/there"}, LANGUAGES[ProxyMode.IPTABLES])
    node.forget()
    first, *_ = there.run.call_args_list
    assert first.args == (("env", "PATH=/there", "conntrack", "--flush"),)
    with pytest.raises(AssertionError, match="9000 connections are tracked on db-1"):
        node.forget()


def test_a_command_that_must_succeed_tells_why_it_did_not() -> None:
    assert insisted(host("said"), "true") == "said"
    with pytest.raises(AssertionError, match=r"db-1.*why"):
        insisted(host("said", code=1), "false")


def connecting(rules: str, proxy: ProxyMode, *ours: str) -> Connecting:
    node = Node(Mock(), {}, LANGUAGES[proxy])
    return Connecting(Mock(), (node, node), (rules, rules), frozenset(ours))


def test_connections_go_to_the_last_service_of_a_list_that_leads_to_the_server() -> None:
    found = connecting(IPTABLES, ProxyMode.IPTABLES, "10.68.7.7", "10.68.0.1")
    assert found.service == "10.68.0.1"
    assert found.place == "number 2 of 2 on the client's host, of 2 on the server's"
    assert connecting(IPTABLES, ProxyMode.IPTABLES, "10.68.7.7").service == "10.68.7.7"


def test_one_lost_packet_does_not_move_the_time_of_a_run() -> None:
    assert typical([50_000] * 5 + [70_000] * 4) == 50.0
    assert typical([50_000] * 5 + [70_000] * 3 + [1_000_000_000]) == 50.0


def test_every_connection_is_timed_and_ended() -> None:
    with socket.create_server((LOOPBACK, 0)) as listener:
        taken = times(listener, listener.getsockname(), [0] * 20)
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert len(taken) == 20
    assert min(taken) > 0


def test_packets_that_a_device_took_in_are_read() -> None:
    told = json.dumps([{"ifname": "br0", "stats64": {"rx": {"packets": 7}, "tx": {"packets": 9}}}])
    assert Device(host(told), "br0").received() == 7


def test_operations_that_did_not_cross_the_device_are_no_measurement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = {"all": Mock(count=100, errors={})}
    seen = Mock(remotes=("10.98.0.2:6379",), seconds=1.0, operations=done)
    monkeypatch.setattr(redis_round_trips, "carried_out", lambda *_: seen)
    device = Mock()
    device.name = "br0"
    device.received.side_effect = [5, 105, 105, 204]
    way = Way(Mock(), "10.98.0.2", over=device)
    assert way.microseconds() == 10_000.0
    with pytest.raises(AssertionError, match="br0"):
        way.microseconds()
    assert Way(Mock(), "10.98.0.2").microseconds() == 10_000.0
