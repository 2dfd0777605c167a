"""Known answers: what parts of a platform cost elsewhere, looked for in labs of this machine.

Each is a small experiment of its own: blocks with about a second for each way, in balanced orders,
and differences inside blocks. Everything that is measured is on one processor, so that nobody waits
for another one to wake up. That leaves out what a second machine would add.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest
from kubernetes_lab import Lab, opened
from lab_networks import (
    BRIDGE,
    BY_BRIDGE,
    BY_VETH,
    IN_INNER,
    TUNNEL,
    VETH,
    add_inner,
    add_tunnel,
    received,
)
from living import client_of
from many_services import PORT, ManyServices
from paired_blocks import Blocks, ends, measured, said
from proxy_rules import LANGUAGES, Node
from redis_round_trips import PROCESSOR, Way, contained, daemon_with_redis, running

from dunnage.contracts.host import Host
from dunnage.hosts.namespace.testbed import NamespaceTestbed, open_namespace
from dunnage.model.choices import Cores
from dunnage.model.layout import LOOPBACK, Address
from dunnage.model.proxy import ProxyMode
from dunnage.model.study import TestbedSpec
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.daemons import open_daemons
from dunnage.substrates.kubernetes.choices import Choices, Network

pytestmark = [pytest.mark.live, pytest.mark.proof, pytest.mark.timeout(900)]

Record = Callable[[str, object], None]
"""pytest's `record_property`: what is recorded as `seen` stands in `docs/proofs.md`."""

BLOCKS = 24
"""A whole number of squares for two ways and for three."""
FEWER = 18
"""The same, where blocks take longer."""

CROSSED = 1000 * BLOCKS
"""Packets that a device at least takes in, where all blocks of a way lead over it."""

VXLAN_ELSEWHERE = 15.0, 30.0
"""Microseconds that a round trip takes longer in a VXLAN between real machines."""

NOTHING = 1.0
"""Microseconds of an operation: what a filter of system calls may cost at most."""

SIZES = (1, 100, 1000)
"""Services of a Kubernetes."""
LISTEN = 7000
CONNECTION_TIMES = Path(__file__).with_name("connection_times.py")
SECONDS = 1.0
FLAT = 0.05
"""Share of a connection's set-up that a thousand services may add in maps."""


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
    lab: NamespaceTestbed, record_property: Record
) -> None:
    """Public measurements: 0.3 to 1.5 µs more than loopback. One server in a network of its own is
    reached by its loopback, by a veth alone, and by a bridge with a veth."""
    host = server_of(lab)
    add_inner(host)
    loopback = Way(host, LOOPBACK, IN_INNER)
    ways = {"loopback": loopback, "veth": Way(host, BY_VETH), "bridge": Way(host, BY_BRIDGE)}
    with running(host, IN_INNER):
        loopback.fill()
        measures = {name: way.microseconds for name, way in ways.items()}
        seen = measured(measures, BLOCKS, "known answers: bridge")
    assert received(host, VETH) > CROSSED
    assert received(host, BRIDGE) > CROSSED
    both = seen.beyond("bridge", "loopback")
    record_property("seen", f"loopback {said(seen.mean('loopback'), '')}")
    record_property("seen", f"veth beyond loopback {said(seen.beyond('veth', 'loopback'))}")
    record_property("seen", f"bridge beyond veth {said(seen.beyond('bridge', 'veth'))}")
    record_property("seen", f"both beyond loopback {said(both)}; public: +0.3 to 1.5 µs")
    assert ends(both)[0] > 0


def test_vxlan_between_two_hosts_of_a_lab_costs_less_than_between_machines(
    lab: NamespaceTestbed, record_property: Record
) -> None:
    """Public measurements: 15 to 30 µs of a round trip between two machines. Here only the work of
    both kernels is left, done by one processor: packets are wrapped, sent as others are, and
    unwrapped. There is no wire and no second machine. So there is no network card that can do less
    for wrapped packets, there are no interrupts, and nobody is woken up for one more step."""
    server, client = server_of(lab), client_of(lab)
    inside, _ = add_tunnel(server, client)
    ways = {"direct": Way(client, server.address), "vxlan": Way(client, inside)}
    with running(server):
        ways["direct"].fill()
        measures = {name: way.microseconds for name, way in ways.items()}
        seen = measured(measures, BLOCKS, "known answers: vxlan")
    assert received(server, TUNNEL) > CROSSED
    added = seen.beyond("vxlan", "direct")
    low, high = VXLAN_ELSEWHERE
    record_property("seen", f"direct {said(seen.mean('direct'), '')}")
    public = f"between real machines: +{low:g} to {high:g} µs"
    record_property("seen", f"VXLAN beyond it {said(added)}; {public}")
    assert ends(added)[0] > 0
    assert ends(added)[1] < low


def test_a_default_filter_of_system_calls_costs_next_to_nothing(
    lab: NamespaceTestbed, record_property: Record
) -> None:
    """Docker's own profile of seccomp beside none. Since 5.11 the kernel keeps in a bitmap which
    system calls a filter always allows, and seldom runs it. Two processes of the same server differ
    by chance, so each block has new ones."""
    host = server_of(lab)
    trees = DebianSoftware()
    way = Way(host, LOOPBACK)
    security: Mapping[str, tuple[tuple[str, ...], str]] = {
        "default": ((), "2"),
        "unconfined": (("seccomp=unconfined",), "0"),
    }
    with (
        open_daemons(lab, trees.dockerd(), [host]) as daemons,
        daemon_with_redis(daemons.daemon(host.name)) as client,
    ):

        def microseconds(options: Sequence[str], mode: str) -> float:
            with contained(host, client, options) as found:
                assert found == mode
                way.fill()
                return way.microseconds()

        measures = {
            name: partial(microseconds, options, mode)
            for name, (options, mode) in security.items()
        }
        seen = measured(measures, FEWER, "known answers: seccomp")
    cost = seen.beyond("default", "unconfined")
    record_property("seen", f"without a filter {said(seen.mean('unconfined'), '')}")
    record_property("seen", f"Docker's default filter beyond it {said(cost)}")
    assert ends(cost)[1] < NOTHING


@pytest.mark.kubernetes
def test_services_cost_a_new_connection_time_by_their_number_in_lists_of_iptables(
    record_property: Record,
) -> None:
    """Rules in a list are tried one after the other, for the first packet of a connection only:
    what comes after it is translated as that was. So the cost is in connections that are set up,
    and they are measured here. An operation of one that stands costs the same however many services
    there are. The client's host tries the rules before that of the service, the server's host tries
    all. kube-proxy lists services in any order, so where the service stands is recorded too."""
    seen = with_services(ProxyMode.IPTABLES, record_property)
    hundred, thousand = (seen.beyond(str(size), "1") for size in SIZES[1:])
    more = seen.weighted({"1000": 1, "100": -3, "1": 2})
    record_property("seen", f"1000 beyond 1, less three times 100 beyond 1 {said(more)}")
    assert ends(more)[0] > 0
    assert ends(hundred)[1] < ends(thousand)[0]


@pytest.mark.kubernetes
def test_services_cost_a_new_connection_no_time_in_maps_of_nftables(
    record_property: Record,
) -> None:
    """A map is asked once, however many services it holds. Here, too, only the first packet of a
    connection is looked up, so connections are set up."""
    seen = with_services(ProxyMode.NFTABLES, record_property)
    added, least = seen.beyond("1000", "1"), seen.mean("1")
    record_property("seen", f"allowed: {FLAT:.0%} of the set-up, {FLAT * least.value:.2f} µs")
    assert max(map(abs, ends(added))) < FLAT * least.value


def with_services(proxy: ProxyMode, record: Record) -> Blocks:
    """How long a connection to the same service takes beside every number of others."""
    with opened(Choices(Network.BRIDGE, proxy), members=1, steer=False) as lab:
        (server,) = lab.members
        nodes = [node(lab, host, proxy) for host in (lab.client, server)]
        services = ManyServices(lab.kubernetes.api, Address(server.address, LISTEN))
        rules: dict[int, list[str]] = {}
        for size in SIZES:
            services.grow(size)
            rules[size] = [each.programmed(services.addresses) for each in nodes]
            record("seen", f"{size} services: {place(services.addresses[0], nodes, rules[size])}")
        lab.kubernetes.freeze()
        measures = {
            str(size): partial(set_up_with, lab, nodes, rules[size], services.addresses[0])
            for size in SIZES
        }
        seen = measured(measures, FEWER, f"known answers: {proxy}")
        put(nodes, rules[SIZES[-1]])  # those that kube-proxy believes to be in force
        lab.kubernetes.wake()
        services.remove()
        for each in nodes:
            each.insist_gone(services.addresses)
    record("seen", f"{proxy}: set-up with 1 service {said(seen.mean('1'), '')}")
    for size in SIZES[1:]:
        record("seen", f"{size} beyond 1 {said(seen.beyond(str(size), '1'))}")
    return seen


def node(lab: Lab, host: Host, proxy: ProxyMode) -> Node:
    """A host of a lab as a node."""
    environment = lab.kubernetes.runtime(host.name).environment
    return Node(host, environment, LANGUAGES[proxy])


def place(service: str, nodes: Sequence[Node], rules: Sequence[str]) -> str:
    """Where a service stands among all that the rules of nodes lead to."""
    found = (each.language.services(text) for each, text in zip(nodes, rules, strict=True))
    client, server = found
    first = f"the one connected to is {client.index(service) + 1} of {len(client)}"
    return f"{first} on the client's host, of {len(server)} on the server's"


def put(nodes: Sequence[Node], rules: Sequence[str]) -> None:
    """Have each node's rules in force."""
    for each, wanted in zip(nodes, rules, strict=True):
        each.put(wanted)
        assert sorted(each.services()) == sorted(each.language.services(wanted))


def set_up_with(lab: Lab, nodes: Sequence[Node], rules: Sequence[str], service: str) -> float:
    """Microseconds to set up a connection to a service while these rules are in force."""
    put(nodes, rules)
    client, server = (each.host for each in nodes)
    argv = (
        *(sys.executable, str(CONNECTION_TIMES), str(PROCESSOR), str(SECONDS)),
        *(network(lab, host) for host in (client, server)),
        *(f"{service}:{PORT}", f"{server.address}:{LISTEN}"),
    )
    done = subprocess.run(argv, capture_output=True, check=False, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def network(lab: Lab, host: Host) -> str:
    """The network of a host of a lab, as this machine tells it."""
    return f"/proc/{lab.testbed.host(host.name).door().first.pid}/ns/net"
