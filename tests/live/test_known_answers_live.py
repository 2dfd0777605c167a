"""Known answers: what parts of a platform cost elsewhere, looked for in labs of this machine.

Each is a small experiment of its own: blocks with about a second for each way, in balanced orders,
and differences inside blocks. Everything that is measured is on one processor, so that nobody waits
for another one to wake up. That leaves out what a second machine would add.

Each test measures one of its ways twice, under two names: as large as these differ is what is seen
where nothing does. What is expected are rules of thumb; no source has exactly these figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import pytest
from kubernetes_lab import TREES
from lab_networks import (
    BRIDGE,
    BY_BRIDGE,
    BY_VETH,
    IN_INNER,
    TUNNEL,
    VETH,
    Device,
    add_inner,
    add_tunnel,
)
from living import client_of
from paired_blocks import Tell, beside, ends, measured, reach, said
from redis_round_trips import Way, contained, daemon_with_redis, running
from service_connections import AGAIN as ONE_AGAIN
from service_connections import SIZES, beside_services

from dunnage.contracts.host import Host
from dunnage.hosts.namespace.testbed import NamespaceTestbed, open_namespace
from dunnage.model.choices import Cores
from dunnage.model.layout import LOOPBACK
from dunnage.model.proxy import ProxyMode
from dunnage.model.study import TestbedSpec
from dunnage.software.engine import engine_path
from dunnage.substrates.daemons import open_daemons

pytestmark = [
    pytest.mark.live,
    pytest.mark.proof,
    pytest.mark.quiet,
    pytest.mark.timeout(900),
]

BLOCKS = 24
"""A whole number of squares for two ways, for three and for four."""

WITHIN = 0.4
"""Microseconds of a round trip, to each side: intervals that reach further have more blocks."""

AGAIN = "again"
"""The first way of a test under another name."""

BRIDGED = 0.3, 1.5
"""Microseconds of a round trip that a bridge and a veth are expected to cost."""

A_LITTLE = 5.0
"""Microseconds of a round trip: what a bridge and a veth may cost at most. It is the least of what
Deitcher measured, see below."""

ON_A_WIRE = 15.0, 30.0
"""Microseconds of a round trip that VXLAN is expected to cost between two machines on a real
network: a rule of thumb. Where both ends are here it must cost less than the least of it."""

NO_WIRE = (
    "on real networks; here one processor does the work of both kernels: no wire, no second "
    "machine, no network card that can do less for wrapped packets, no interrupts, nobody to wake"
)
"""Why it differs."""

NEXT_TO_NOTHING = 1.0
"""Microseconds of an operation: what a filter of system calls may change at most, either way."""

SURE = 0.99
"""Coverage of the interval of a ratio."""

FLAT = 0.25
"""Share of what services cost in lists that as many may cost in maps. A list costs all of it; what
costs less than a quarter is none. Two ways that are alike must differ by less, too, or the proof
sees too little to tell."""


@pytest.fixture
def lab() -> Iterator[NamespaceTestbed]:
    """Two hosts whose packets are taken in on the processor that sent them."""
    hosts = {"db": 1, "client": 1}
    spec = TestbedSpec(kind="namespace", hosts=hosts, cores=Cores.SHARED, steer=False)
    with open_namespace(spec, name="known", engine=engine_path(), keep=False) as testbed:
        yield testbed


def server_of(lab: NamespaceTestbed) -> Host:
    (server,) = lab.group("db")
    return server


def test_a_bridge_and_a_veth_cost_a_round_trip_on_one_host_a_little(
    lab: NamespaceTestbed, record_property: Tell
) -> None:
    """One server in a network of its own is reached by its loopback, by a veth alone, and by a
    bridge with a veth.

    Public measurements: 1.1 µs in one direction between containers on Docker's bridge and in their
    host's network ("Docker Network Tests under Host/Bridge Mode", Weiwei Yang, 2017); 5 to 10 µs of
    a round trip between containers ("Networking (Containers) in Ultra-Low-Latency Environments",
    Avi Deitcher, LinuxCon Japan 2016).
    """
    host = server_of(lab)
    add_inner(host)
    loopback = Way(host, LOOPBACK, IN_INNER)
    ways = {
        "loopback": loopback,
        AGAIN: loopback,
        "veth": Way(host, BY_VETH, over=Device(host, VETH)),
        "bridge": Way(host, BY_BRIDGE, over=Device(host, BRIDGE)),
    }
    with running(host, IN_INNER):
        loopback.fill()
        measures = {name: way.microseconds for name, way in ways.items()}
        seen = measured(measures, BLOCKS, "known answers: bridge", WITHIN)
    both = seen.beyond("bridge", "loopback")
    record_property("seen", f"loopback {said(seen.mean('loopback'), '')}")
    record_property("seen", f"veth beyond loopback {said(seen.beyond('veth', 'loopback'))}")
    record_property("seen", f"bridge beyond veth {said(seen.beyond('bridge', 'veth'))}")
    record_property("seen", f"both beyond loopback {said(both)}: {beside(both, *BRIDGED)}")
    alike = seen.beyond(AGAIN, "loopback")
    record_property("seen", f"loopback again, beyond loopback {said(alike)}")
    assert ends(both)[0] > 0
    assert ends(both)[1] < A_LITTLE
    assert reach(alike) < both.value


def test_a_tunnel_between_two_hosts_of_a_lab_costs_a_round_trip_less_than_15_microseconds(
    lab: NamespaceTestbed, record_property: Tell
) -> None:
    """Here only the work of both kernels is left, done by one processor: packets are wrapped in
    VXLAN, sent as others are, and unwrapped. There is no wire and no second machine. So there is no
    network card that can do less for wrapped packets, there are no interrupts, and nobody is woken
    up for one more step. What a tunnel between two machines costs is not measured.

    Public measurement: where what an overlay adds to each packet is taken from a cache, and little
    is left of it, 36 % more requests over TCP are answered in a second ("ONCache: A Cache-Based
    Low-Overhead Container Overlay Network", Lin et al., NSDI 2025).
    """
    server, client = server_of(lab), client_of(lab)
    inside, _ = add_tunnel(server, client)
    direct = Way(client, server.address)
    tunnel = Way(client, inside, over=Device(server, TUNNEL))
    with running(server):
        direct.fill()
        ways = {"direct": direct, AGAIN: direct, "tunnel": tunnel}
        measures = {name: way.microseconds for name, way in ways.items()}
        seen = measured(measures, BLOCKS, "known answers: vxlan", WITHIN)
    added, alike = seen.beyond("tunnel", "direct"), seen.beyond(AGAIN, "direct")
    record_property("seen", f"direct {said(seen.mean('direct'), '')}")
    expected = beside(added, *ON_A_WIRE)
    record_property("seen", f"VXLAN beyond it {said(added)}: {expected} {NO_WIRE}")
    record_property("seen", f"direct again, beyond direct {said(alike)}")
    assert ends(added)[0] > 0
    assert ends(added)[1] < ON_A_WIRE[0]
    assert reach(alike) < added.value


def test_a_default_filter_of_system_calls_costs_next_to_nothing(
    lab: NamespaceTestbed, record_property: Tell
) -> None:
    """Docker's own profile of seccomp beside none. Since 5.11 the kernel keeps in a bitmap which
    system calls a filter always allows, and seldom runs it ("Constant-action bitmaps for
    seccomp()", LWN, 2020; "SECCOMP Filters Get A Very Nice Speed-Up With Linux 5.11", Phoronix).
    The kernel's own `tools/testing/selftests/seccomp/seccomp_benchmark` tells in public logs 18 to
    105 ns for a call that the bitmap allows, and a read needs a few calls.

    Two processes of the same server differ by chance, so each block has new ones. Daemons are held
    still while there is load.
    """
    host = server_of(lab)
    way = Way(host, LOOPBACK)
    security: Mapping[str, tuple[tuple[str, ...], str]] = {
        "unconfined": (("seccomp=unconfined",), "0"),
        AGAIN: (("seccomp=unconfined",), "0"),
        "default": ((), "2"),
    }
    with (
        open_daemons(lab, TREES.dockerd(), [host]) as daemons,
        daemon_with_redis(daemons.daemon(host.name)) as client,
    ):

        def microseconds(options: Sequence[str], mode: str) -> float:
            with contained(host, client, options) as found:
                assert found == mode
                daemons.freeze()
                try:
                    way.fill()
                    return way.microseconds()
                finally:
                    daemons.wake()

        measures = {
            name: partial(microseconds, options, mode) for name, (options, mode) in security.items()
        }
        seen = measured(measures, BLOCKS, "known answers: seccomp", WITHIN)
    cost, alike = (seen.beyond(way, "unconfined") for way in ("default", AGAIN))
    record_property("seen", f"without a filter {said(seen.mean('unconfined'), '')}")
    record_property("seen", f"Docker's default filter beyond it {said(cost)}")
    record_property("seen", f"without a filter again, beyond it {said(alike)}")
    assert reach(cost) < NEXT_TO_NOTHING
    assert reach(alike) < NEXT_TO_NOTHING


@pytest.mark.kubernetes
@pytest.mark.timeout(2400)
def test_services_cost_a_new_connection_time_by_their_number_in_lists_and_not_in_maps(
    record_property: Tell,
) -> None:
    """kube-proxy's iptables are a list, tried rule by rule; its nftables ask one map ("NFTables
    mode for kube-proxy", Dan Winship, Kubernetes Blog, 2025; "Comparing kube-proxy modes: iptables
    or IPVS?", Tigera). Both are asked for the first packet of a connection only: what comes after
    it is translated as that was. So connections are set up here; an operation of one that stands
    costs the same however many services there are. Those of a list are tried on both hosts.

    What is linear costs as many times more as there are more services: 999 over 99. The interval of
    that ratio must hold this, and leave out a half and the double of it.
    """
    one, few, many = map(str, SIZES)
    lists = beside_services(ProxyMode.IPTABLES, 2 * BLOCKS, record_property)
    linear = (int(many) - int(one)) / (int(few) - int(one))
    low, high = lists.ratio(many, few, one, SURE)
    told = f"{many} beyond 1 over {few} beyond 1: {low:.1f} … {high:.1f}, {SURE:.0%}"
    record_property("seen", f"{told}; {linear:.1f} where it is linear")
    per = 100 / (int(many) - int(one))
    each = lists.weighted({many: per, one: -per})
    within = f"within {one} to {many}, to the last of the list"
    record_property("seen", f"per 100 services in lists {said(each)}, {within}")
    maps = beside_services(ProxyMode.NFTABLES, BLOCKS, record_property)
    assert linear / 2 < low < linear < high < 2 * linear
    allowed = FLAT * ends(lists.beyond(many, one))[0]
    record_property("seen", f"allowed in maps, and between two ways alike: {allowed:.2f} µs")
    assert max(reach(proxy.beyond(ONE_AGAIN, one)) for proxy in (lists, maps)) < allowed
    assert reach(maps.beyond(many, one)) < allowed
