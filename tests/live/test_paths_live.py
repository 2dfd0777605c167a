"""Network paths read from a real lab, for every way in which members and clients can be joined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from living import deployed

from dunnage import catalog
from dunnage.contracts.testbed import Testbed
from dunnage.databases.redis.database import Redis
from dunnage.hosts.namespace.testbed import open_namespace
from dunnage.model.choices import ClientPlace, Cores
from dunnage.model.deployment import Deployment
from dunnage.model.path import HopKind, NetworkPath
from dunnage.model.study import TestbedSpec
from dunnage.runner.formation import form
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.daemons import Daemons, open_daemons
from dunnage.substrates.swarm import Swarm, open_swarm

pytestmark = pytest.mark.live

TREES = DebianSoftware()
NATIVE = deployed("native", "host", "host-port", name="native")
DOCKER_HOST = NATIVE.model_copy(update={"name": "docker-host", "platform": "docker"})
DOCKER_BRIDGE = DOCKER_HOST.model_copy(update={"name": "docker-bridge", "network": "bridge"})
USER_DEFINED = DOCKER_HOST.model_copy(update={"name": "docker-user", "network": "user-defined"})
INSIDE = DOCKER_BRIDGE.model_copy(update={"name": "inside", "client": ClientPlace.CONTAINER})
HOST_PORT = NATIVE.model_copy(
    update={"name": "swarm-host-port", "platform": "swarm", "network": "overlay"}
)
CONTAINER_DNS = HOST_PORT.model_copy(
    update={
        "name": "swarm-container-dns",
        "endpoint": "container-dns",
        "client": ClientPlace.CONTAINER,
    }
)

ACROSS = ["device client-1", "wire ", "device db-1"]
BEHIND_A_BRIDGE = ["translation db-1", "bridge db-1", "veth db-1", "veth db-1"]
OUT_OF_A_BRIDGE = ["veth client-1", "veth client-1", "bridge client-1", "translation client-1"]
OVER_AN_OVERLAY = [
    "veth client-1",
    "veth client-1",
    "bridge client-1",
    "tunnel client-1",
    *ACROSS,
    "tunnel db-1",
    "bridge db-1",
    "veth db-1",
    "veth db-1",
]
WAYS = (
    (NATIVE, ACROSS),
    (DOCKER_HOST, ACROSS),
    (DOCKER_BRIDGE, [*ACROSS, *BEHIND_A_BRIDGE]),
    (USER_DEFINED, [*ACROSS, *BEHIND_A_BRIDGE]),
    (INSIDE, [*OUT_OF_A_BRIDGE, *ACROSS, *BEHIND_A_BRIDGE]),
    (CONTAINER_DNS, OVER_AN_OVERLAY),
    (HOST_PORT, [*ACROSS, *BEHIND_A_BRIDGE]),
)


@dataclass(frozen=True)
class Lab:
    testbed: Testbed
    daemons: Daemons
    swarm: Swarm


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    spec = TestbedSpec(
        kind="namespace", hosts={"db": 2, "client": 1, "control": 1}, cores=Cores.SHARED
    )
    with (
        open_namespace(spec, name="paths", engine=engine_path(), keep=False) as testbed,
        open_daemons(testbed, TREES.dockerd(), testbed.hosts) as daemons,
        open_swarm(testbed, daemons, testbed.hosts) as swarm,
    ):
        yield Lab(testbed, daemons, swarm)


def paths(lab: Lab, deployment: Deployment, *, without_rules: bool = False) -> list[NetworkPath]:
    """Those of a stay of its own, where the daemons' rules may have been removed before."""
    substrate = lab.swarm if deployment.platform == "swarm" else lab.daemons
    platform = catalog.platform(deployment, lab.testbed, substrate, TREES, "b1-paths")
    try:
        reservation = platform.reserve(Redis().layout(deployment.database))
        form(
            platform,
            lambda now: Redis().stages(deployment.database, now),
            reservation,
            lab.testbed.clock,
            deadline=30.0,
        )
        client = platform.client(lab.testbed.group("client")[0])
        if without_rules:
            flush_rules(lab)
        return list(platform.paths(client))
    finally:
        platform.down()


def flush_rules(lab: Lab) -> None:
    for host in lab.testbed.group("db"):
        environment = lab.daemons.daemon(host.name).environment
        variables = [f"{name}={value}" for name, value in environment.items()]
        words = ["env", *variables, "iptables", "--table", "nat", "--flush", "DOCKER"]
        assert host.run(words).code == 0


def hops(path: NetworkPath) -> list[str]:
    return [f"{hop.kind} {hop.host}" for hop in path.hops]


@pytest.mark.parametrize(
    ("deployment", "between"),
    [pytest.param(*way, id=way[0].name) for way in WAYS],
)
def test_the_way_to_every_member_is_read_hop_by_hop(
    lab: Lab, deployment: Deployment, between: list[str]
) -> None:
    first, second = paths(lab, deployment)
    assert first.unknown == second.unknown == ""
    assert hops(first) == ["client client-1", *between, "member db-1"]
    assert hops(second) == [each.replace("db-1", "db-2") for each in hops(first)]
    assert (first.member, second.member) == ("redis-1", "redis-2")
    named = deployment.endpoint == "container-dns"
    where = "redis-1" if named else lab.testbed.group("db")[0].address
    assert first.address == f"{where}:6379"
    assert first.hops[-1].name == "redis-server"


def test_the_rule_that_is_in_force_is_shown(lab: Lab) -> None:
    first, _ = paths(lab, DOCKER_BRIDGE)
    (rule,) = (hop.detail for hop in first.hops if hop.kind is HopKind.TRANSLATION)
    assert rule.startswith(f"-A DOCKER -d {lab.testbed.group('db')[0].address}/32 ! -i docker0 ")
    assert "--dport 6379 -j DNAT --to-destination " in rule


def test_where_the_rule_is_gone_the_proxy_is_seen(lab: Lab) -> None:
    first, _ = paths(lab, DOCKER_BRIDGE, without_rules=True)
    assert first.unknown == ""
    behind = ["proxy db-1", "bridge db-1", "veth db-1", "veth db-1", "member db-1"]
    assert hops(first) == ["client client-1", *ACROSS, *behind]
