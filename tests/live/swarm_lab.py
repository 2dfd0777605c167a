"""A lab with a Swarm, and deployments of Redis and Cassandra on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from living import STAY, LabHosts, client_of, deployed, living
from their_daemon import answering_by_certificates

from dunnage import catalog
from dunnage.contracts.database import Database
from dunnage.contracts.substrate import Substrate
from dunnage.docker_api import connect
from dunnage.hosts.namespace.testbed import open_namespace
from dunnage.model.choices import Cores
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Target
from dunnage.model.study import TestbedSpec
from dunnage.platforms.swarm import Swarm
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.daemons import open_daemons
from dunnage.substrates.kubernetes.certificates import Authority
from dunnage.substrates.swarm import Swarm as SwarmSubstrate
from dunnage.substrates.swarm import open_swarm

TREES = DebianSoftware()


@dataclass(frozen=True)
class Lab(LabHosts):
    """Hosts, and the Swarm of them."""

    swarm: SwarmSubstrate
    authority: Authority
    """Vouches for those whom daemons answer where they ask for certificates (`their_daemon`)."""


@contextmanager
def opened(members: int = 3) -> Iterator[Lab]:
    """A lab of its own, with its manager on a host that has no members."""
    hosts = {"db": members, "client": 1, "control": 1}
    spec = TestbedSpec(kind="namespace", hosts=hosts, cores=Cores.SHARED)
    authority = Authority("theirs")
    with open_namespace(spec, name="swarm", engine=engine_path(), keep=False) as testbed:
        place = Path(client_of(testbed).scratch, "secured")
        dockerd = answering_by_certificates(TREES.dockerd(), authority, place)
        with (
            open_daemons(testbed, dockerd, testbed.hosts) as below,
            open_swarm(testbed, below, testbed.hosts) as swarm,
        ):
            yield Lab(testbed, swarm, authority)


def deployed_as(
    network: str = "overlay", endpoint: str = "host-port", **changes: Any
) -> Deployment:
    """A deployment on it."""
    return deployed("swarm", network, endpoint, **changes)


@contextmanager
def formed(
    lab: Lab,
    deployment: Deployment,
    substrate: Substrate | None = None,
    platform: type[Swarm] = Swarm,
    database: Database | None = None,
) -> Iterator[tuple[Swarm, Target, frozenset[str]]]:
    """A deployment that lives on it, as `living` has it, of which nothing may be left."""
    catalog.translate(lab.testbed, [deployment])
    made = platform(deployment, lab.members, substrate or lab.swarm, TREES, STAY)
    with living(made, deployment, lab.testbed, database) as formed:
        yield formed
    assert traces(lab) == {}


def traces(lab: Lab) -> dict[str, Sequence[str]]:
    """What of stays is left on the daemons of all hosts."""
    left: dict[str, Sequence[str]] = {}
    for host in lab.testbed.hosts:
        client = connect(lab.swarm.daemon(host.name))
        try:
            containers = [str(each.name) for each in client.containers.list(all=True)]
            volumes = [str(each.name) for each in client.volumes.list()]
            networks = [str(each.name) for each in client.networks.list()]
        finally:
            client.close()
        own = [name for name in networks if name.startswith("dunnage-")]
        if found := [*containers, *volumes, *own]:
            left[host.name] = found
    return left
