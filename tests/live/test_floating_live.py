"""Floating addresses of a lab: nobody holds them, the switch translates them, clients use them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import pytest
from driving import driven

from dunnage import capabilities, catalog
from dunnage.contracts.host import Host
from dunnage.contracts.platform import Platform
from dunnage.contracts.substrate import Substrate
from dunnage.databases.redis.database import Redis
from dunnage.errors import UnavailableError
from dunnage.hosts.namespace.testbed import NamespaceTestbed, open_namespace
from dunnage.model.choices import ClientPlace, Cores, Peers, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Reservation, Target
from dunnage.model.offer import FLOATING
from dunnage.model.path import HopKind
from dunnage.model.study import DatabaseSpec, Limits, TestbedSpec
from dunnage.runner.endpoint import allowed, resolved
from dunnage.runner.formation import form
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.daemons import open_daemons

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

TREES = DebianSoftware()
REPLICAS = DatabaseSpec(kind="redis", version="7.0", topology="replicas", members=2)
CLUSTER = DatabaseSpec(kind="redis", version="7.0", topology="cluster", members=3)
NATIVE = Deployment(
    name="native",
    title="Host_FloatingIPHostPort",
    platform="native",
    network="host",
    endpoint="floating-ip",
    storage=Storage.TMPFS,
    peers=Peers.ENDPOINT,
    client=ClientPlace.HOST,
    hosts="db",
    limits=Limits(),
    slowdown=0.0,
    database=REPLICAS,
)
BRIDGE = NATIVE.model_copy(update={"name": "bridge", "platform": "docker", "network": "bridge"})
INSIDE = BRIDGE.model_copy(update={"name": "inside", "client": ClientPlace.CONTAINER})
RING = DatabaseSpec(kind="cassandra", version="5.0", topology="ring", members=3, replication=3)
BRIDGE_RING = BRIDGE.model_copy(update={"name": "ring", "database": RING})
BRIDGE_CLUSTER = BRIDGE.model_copy(update={"name": "cluster", "database": CLUSTER})


@dataclass(frozen=True)
class Lab:
    testbed: NamespaceTestbed
    substrate: Substrate

    @property
    def client(self) -> Host:
        return self.testbed.host("client-1")


@contextmanager
def opened(name: str, members: int) -> Iterator[NamespaceTestbed]:
    spec = TestbedSpec(kind="namespace", hosts={"db": members, "client": 1}, cores=Cores.SHARED)
    with open_namespace(spec, name=name, engine=engine_path(), keep=False) as testbed:
        yield testbed


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with (
        opened("floating", 3) as testbed,
        open_daemons(testbed, TREES.dockerd(), testbed.hosts) as substrate,
    ):
        catalog.translate(testbed, [NATIVE])
        yield Lab(testbed, substrate)


@contextmanager
def living(lab: Lab, deployment: Deployment) -> Iterator[tuple[Platform, Target, Reservation]]:
    """A formed deployment, what a generator needs of it, and where its members are."""
    platform = catalog.platform(deployment, lab.testbed, lab.substrate, TREES, "b1-live")
    database, spec = catalog.DATABASES[deployment.database.kind](), deployment.database
    try:
        reservation = platform.reserve(database.layout(spec))
        walk = partial(database.stages, spec)
        formed = form(platform, walk, reservation, lab.testbed.clock, 120.0).reservation
        yield platform, database.target(spec, formed), formed
    finally:
        platform.down()


@pytest.mark.parametrize(
    "deployment",
    [
        *(pytest.param(each, id=each.name) for each in (NATIVE, BRIDGE, INSIDE, BRIDGE_CLUSTER)),
        pytest.param(BRIDGE_RING, id=BRIDGE_RING.name, marks=pytest.mark.proof),
    ],
)
def test_load_goes_to_floating_addresses_and_the_path_shows_who_translates(
    lab: Lab, deployment: Deployment
) -> None:
    with living(lab, deployment) as (platform, target, reservation):
        client = platform.client(lab.client)
        may = allowed(target, resolved(target, [client]))
        assert {each.rpartition(":")[0] for each in may} == {
            f"10.77.1.{n}" for n in range(1, deployment.database.members + 1)
        }
        remotes = driven(client, target)
        assert remotes
        assert remotes <= may
        peers = {str(each.peer) for place in reservation.places for each in place.ports.values()}
        assert not remotes & peers
        for n, path in enumerate(platform.paths(client), start=1):
            assert not path.unknown
            between = [hop for hop in path.hops if hop.host == "switch"]
            assert [hop.kind for hop in between] == [
                HopKind.ROUTER,
                HopKind.TRANSLATION,
                HopKind.TRANSLATION,
            ]
            assert between[1].detail == (
                f"-A PREROUTING -d 10.77.1.{n}/32 -j DNAT --to-destination 10.77.0.{n}"
            )
            assert between[2].detail.endswith("--ctstate DNAT -j SNAT --to-source 10.77.1.4")


def test_members_talk_to_each_other_by_their_hosts_own_addresses(lab: Lab) -> None:
    with living(lab, BRIDGE) as (platform, _, reservation):
        first, second = reservation.places
        told = TREES.tree(Redis().layout(REPLICAS).software).prefix
        words = (f"{told}/bin/redis-cli", "-h", "127.0.0.1", "-p")
        argv = (*words, str(second.ports["redis"].bind.port), "INFO", "replication")
        done = platform.run(second.member, argv, stdin="", timeout=10.0)
        assert f"master_host:{first.ports['redis'].peer.host}\r" in done.stdout
        assert first.ports["redis"].peer.host == "10.77.0.1"


def test_beside_it_a_host_port_is_reached_without_the_switchs_rules(lab: Lab) -> None:
    port = BRIDGE.model_copy(update={"endpoint": "host-port"})
    with living(lab, port) as (platform, target, _):
        remotes = driven(platform.client(lab.client), target)
        assert {each.rpartition(":")[0] for each in remotes} <= {"10.77.0.1", "10.77.0.2"}
        for path in platform.paths(lab.client):
            assert not path.unknown
            assert "switch" not in {hop.host for hop in path.hops}


def test_no_interface_holds_a_floating_address(lab: Lab) -> None:
    router = lab.testbed.host("db-1").router
    assert router is not None
    every = [host.run(["ip", "-4", "address"]).stdout for host in lab.testbed.hosts]
    every.append(router.run(["ip", "-4", "address"], timeout=10.0).stdout)
    assert not any(" 10.77.1." in each for each in every)
    assert str(lab.testbed.environment()["network.translator"]).startswith("iptables v")


def test_a_lab_that_nobody_asks_for_it_translates_nothing() -> None:
    port = NATIVE.model_copy(update={"endpoint": "host-port"})
    with opened("plain", 1) as testbed:
        catalog.translate(testbed, [port])
        host = testbed.host("db-1")
        assert host.router is None
        assert "10.77.1." not in host.run(["ip", "route"]).stdout
        assert "network.translator" not in testbed.environment()
        with pytest.raises(UnavailableError, match="db-1: nothing translates a floating address"):
            catalog.platform(NATIVE, testbed, None, TREES, "b1-live").reserve(
                Redis().layout(REPLICAS)
            )


def test_a_host_that_is_restored_has_its_floating_address_again() -> None:
    with opened("mended", 1) as testbed:
        catalog.translate(testbed, [NATIVE])
        testbed.host("db-1").power_cut()
        testbed.restore("db-1")
        single = DatabaseSpec(kind="redis", version="7.0", topology="single")
        alone = NATIVE.model_copy(update={"database": single})
        lab = Lab(testbed, None)  # type: ignore[arg-type]  # natively nothing lives below
        with living(lab, alone) as (platform, target, _):
            assert driven(platform.client(lab.client), target) == {"10.77.1.1:6379"}


def test_this_machine_is_found_to_translate() -> None:
    assert capabilities.supports("namespace")[FLOATING].met
