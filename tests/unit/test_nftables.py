"""Rules of nftables as the walk reads them; the fixture is of a lab's kube-proxy and flannel."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from around import Around

from dunnage.platforms.paths.nftables import nft_chains
from dunnage.platforms.paths.packet import Packet
from dunnage.platforms.paths.rules import Translation, UnreadableRuleError, translation

FIXTURE = Path(__file__).parents[1] / "fixtures" / "network" / "kubernetes-nftables.json"
SERVICE, POD, NODE = "10.68.150.203", "10.67.1.2", "10.77.0.4"
PACKET = Packet(NODE, SERVICE, 6379)
MARK = {"meta": {"key": "mark"}}


def passed(
    chain: str, packet: Packet = PACKET, text: str = ""
) -> tuple[Packet, Translation | None]:
    found = nft_chains(text or FIXTURE.read_text(encoding="utf-8"))
    return translation(found, chain, packet, Around(NODE))


@pytest.mark.parametrize("chain", ["OUTPUT", "PREROUTING"])
def test_a_services_address_leads_to_its_pod_and_is_marked_to_be_hidden(chain: str) -> None:
    packet, found = passed(chain)
    assert found is not None
    assert (found.target, found.address, found.port) == ("DNAT", POD, 6379)
    assert packet.mark == 0x4000
    unmarked, _ = passed(chain, replace(PACKET, source="10.67.0.9"))
    assert unmarked.mark == 0


def test_an_address_without_a_service_is_left_alone() -> None:
    assert passed("OUTPUT", replace(PACKET, address="10.77.0.1")) == (
        replace(PACKET, address="10.77.0.1"),
        None,
    )
    assert passed("OUTPUT", replace(PACKET, port=1))[1] is None


def test_what_was_marked_is_hidden_behind_the_host_and_what_goes_between_pods_is_not() -> None:
    sent = Packet(NODE, POD, 6379, mark=0x4000)
    assert (found := passed("POSTROUTING", sent)[1]) is not None
    assert found.target == "MASQUERADE"
    assert passed("POSTROUTING", Packet("10.67.0.9", POD, 6379))[1] is None


def ruleset(*expressions: dict[str, Any], **sets: list[Any]) -> str:
    """One chain of the hook of outgoing packets, with one rule."""
    chain = {"table": "t", "name": "c", "type": "nat", "hook": "output"}
    rule = {"table": "t", "chain": "c", "expr": list(expressions)}
    named = [{"set": {"table": "t", "name": name, "elem": each}} for name, each in sets.items()]
    return json.dumps({"nftables": [{"chain": chain}, *named, {"rule": rule}]})


def match(left: Any, right: Any, op: str = "==") -> dict[str, Any]:
    return {"match": {"op": op, "left": left, "right": right}}


DADDR = {"payload": {"protocol": "ip", "field": "daddr"}}
SENDS = {"dnat": {"addr": "1.2.3.4", "port": 5}}


def sent_to(text: str, packet: Packet = PACKET) -> str:
    _, found = passed("OUTPUT", packet, text)
    return "" if found is None else f"{found.target} {found.address}:{found.port}"


def test_a_set_is_any_of_its_elements() -> None:
    text = ruleset({"counter": {}}, match(DADDR, "@all"), SENDS, all=["10.9.9.9", SERVICE])
    assert sent_to(text) == "DNAT 1.2.3.4:5"
    assert sent_to(text, replace(PACKET, address="10.1.1.1")) == ""
    assert sent_to(ruleset(match(DADDR, {"set": [SERVICE]}), SENDS)) == "DNAT 1.2.3.4:5"


@pytest.mark.parametrize(
    ("value", "mark"),
    [
        ({"|": [MARK, 6]}, 0b0111),
        ({"^": [MARK, 6]}, 0b0101),
        ({"&": [MARK, 6]}, 0b0010),
        (9, 9),
    ],
)
def test_a_mark_is_changed_bit_by_bit(value: Any, mark: int) -> None:
    text = ruleset({"mangle": {"key": MARK, "value": value}})
    assert passed("OUTPUT", replace(PACKET, mark=0b0011), text)[0].mark == mark


@pytest.mark.parametrize(
    "unknown",
    [
        match({"ct": {"key": "state"}}, "new", "in"),
        match(DADDR, "@all", "!="),
        match(DADDR, 5, "<"),
        {"vmap": {"key": {"numgen": {"mod": 2}}, "data": {"set": [[0, {"accept": None}]]}}},
        {"queue": {}},
    ],
)
def test_what_iptables_has_no_word_for_is_never_guessed(unknown: dict[str, Any]) -> None:
    with pytest.raises(UnreadableRuleError, match="--nft"):
        sent_to(ruleset(unknown, SENDS, all=["10.9.9.9"]))
    elsewhere = match(DADDR, "10.1.1.1")
    assert sent_to(ruleset(elsewhere, unknown, SENDS, all=["10.9.9.9"])) == ""


@pytest.mark.parametrize(
    ("expressions", "told"),
    [
        ([match(MARK, 0), SENDS], "DNAT 1.2.3.4:5"),
        ([match({"&": [MARK, 4]}, 4), SENDS], ""),
        (
            [match({"payload": {"protocol": "tcp", "field": "dport"}}, 6379), SENDS],
            "DNAT 1.2.3.4:5",
        ),
        ([match({"meta": {"key": "l4proto"}}, "udp"), SENDS], ""),
        ([match(DADDR, {"prefix": {"addr": "10.68.0.0", "len": 16}}), SENDS], "DNAT 1.2.3.4:5"),
        ([match({"fib": {"result": "type", "flags": ["daddr"]}}, "local"), SENDS], ""),
        ([{"snat": {"addr": "1.2.3.4"}}], "SNAT 1.2.3.4:0"),
        ([{"accept": None}], ""),
    ],
)
def test_conditions_and_verdicts_mean_what_they_do_in_the_kernel(
    expressions: list[dict[str, Any]], told: str
) -> None:
    assert sent_to(ruleset(*expressions)) == told


def test_a_map_of_one_key_has_a_verdict_for_each_of_its_elements() -> None:
    port = {"payload": {"protocol": "th", "field": "dport"}}
    data = {"set": [[1, {"accept": None}], [6379, {"goto": {"target": "c"}}]]}
    assert nft_chains(ruleset({"vmap": {"key": port, "data": data}}))["t/c"] == [
        ("--dport", "1", "-j", "ACCEPT"),
        ("--dport", "6379", "-g", "t/c"),
    ]


def test_what_was_sent_on_for_good_does_not_come_back() -> None:
    rules = {"OUTPUT": [("-g", "empty"), ("-j", "DNAT", "--to-destination", "1.2.3.4:5")]}
    assert translation(rules, "OUTPUT", PACKET, Around(NODE))[1] is None


def test_tables_of_iptables_are_told_by_iptables_and_no_rules_are_none() -> None:
    nat = ruleset(SENDS).replace('"t"', '"nat"')
    assert nft_chains(nat) == {}
    assert nft_chains("") == {}
