"""What proofs of known answers are made with: blocks, and rules read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from paired_blocks import Blocks, ends, measured, said
from proxy_rules import LANGUAGES

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


@pytest.mark.parametrize(
    ("proxy", "rules"), [(ProxyMode.IPTABLES, IPTABLES), (ProxyMode.NFTABLES, NFTABLES)]
)
def test_services_are_read_from_rules_in_their_order(proxy: ProxyMode, rules: str) -> None:
    assert LANGUAGES[proxy].services(rules) == ["10.68.7.7", "10.68.0.1"]
