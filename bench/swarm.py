"""What a deployment on a Swarm takes beside the same services made and removed by hand.

Both make one service for each member on the same Swarm of a lab, in turns: Dunnage's platform, with
Redis formed and ready, and plain calls of Docker's API that wait until every task runs, and after
their removal until every container is gone. Only ratios within a pair mean something.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from docker import DockerClient
from docker.types import ContainerSpec, EndpointSpec, RestartPolicy, TaskTemplate

from dunnage.contracts.host import Host
from dunnage.databases.redis.database import Redis
from dunnage.docker_api import connect
from dunnage.hosts.namespace.testbed import open_namespace
from dunnage.model.choices import ClientPlace, Peers, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Software
from dunnage.model.study import DatabaseSpec, Limits, TestbedSpec
from dunnage.platforms.images import provide
from dunnage.platforms.swarm import Swarm
from dunnage.runner.formation import form
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.daemons import open_daemons
from dunnage.substrates.swarm import Swarm as SwarmSubstrate
from dunnage.substrates.swarm import open_swarm

TREES = DebianSoftware()
DEPLOYMENT = Deployment(
    name="swarm",
    title="HostSwarmHostPort",
    platform="swarm",
    network="overlay",
    endpoint="host-port",
    storage=Storage.BIND,
    peers=Peers.ENDPOINT,
    client=ClientPlace.HOST,
    hosts="db",
    limits=Limits(),
    slowdown=0.0,
    database=DatabaseSpec(kind="redis", version="7.0", topology="replicas", members=3),
)
_LIMIT = 60.0


def main() -> None:
    """Print seconds of both, and the median ratios over some pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5, help="more pairs, steadier medians")
    arguments = parser.parse_args()
    hosts = {"db": 3, "client": 1, "control": 1}
    with (
        open_namespace(
            TestbedSpec(kind="namespace", hosts=hosts),
            name="bench",
            engine=engine_path(),
            keep=False,
        ) as testbed,
        open_daemons(testbed, TREES.dockerd(), testbed.hosts) as below,
        open_swarm(testbed, below, testbed.hosts) as swarm,
    ):
        members = testbed.group("db")
        clients = {host.name: connect(swarm.daemon(host.name)) for host in members}
        for host in members:
            provide(clients[host.name], TREES.tree(Software("redis", "7.0")), host.name)
        ours = partial(by_dunnage, swarm, members)
        hand = partial(by_hand, swarm, clients)
        ratios = []
        for number in range(arguments.pairs):
            order = (ours, hand) if number % 2 else (hand, ours)
            taken = {way: way() for way in order}
            ratios.append([a / b for a, b in zip(taken[ours], taken[hand], strict=True)])
            told = [f"{seconds:.2f} s" for way in (ours, hand) for seconds in taken[way]]
            sys.stdout.write(
                f"Dunnage: up {told[0]}, down {told[1]}; by hand: up {told[2]}, down {told[3]}\n"
            )
        for what, each in zip(("up", "down"), zip(*ratios, strict=True), strict=True):
            sys.stdout.write(
                f"{what}: {statistics.median(each):.2f} × by hand (median of {len(each)} pairs)\n"
            )


def by_dunnage(swarm: SwarmSubstrate, members: tuple[Host, ...]) -> tuple[float, float]:
    """Seconds for a formed database, and for its removal."""
    platform = Swarm(DEPLOYMENT, members, swarm, TREES, "b1-bench")
    redis, began = Redis(), time.monotonic()
    try:
        reservation = platform.reserve(redis.layout(DEPLOYMENT.database))
        walk = partial(redis.stages, DEPLOYMENT.database)
        form(platform, walk, reservation, _Clock(), _LIMIT)
    finally:
        ready = time.monotonic()
        platform.down()
    return ready - began, time.monotonic() - ready


def by_hand(swarm: SwarmSubstrate, clients: dict[str, DockerClient]) -> tuple[float, float]:
    """Seconds until as many services run, the first before the others as in a database."""
    manager = connect(swarm.manager)
    api: Any = manager.api
    tree = TREES.tree(Software("redis", "7.0"))
    began = time.monotonic()
    network = manager.networks.create("by-hand", driver="overlay", attachable=True)
    services: list[str] = []

    def create(number: int, host: str) -> None:
        port = 6379 + number
        argv = [f"{tree.prefix}/bin/redis-server", "--port", str(port), "--protected-mode", "no"]
        spec = ContainerSpec(tree.tag, command=argv)
        published: dict[str, Any] = {"Protocol": "tcp", "TargetPort": port, "PublishedPort": port}
        template = TaskTemplate(
            spec,
            restart_policy=RestartPolicy(condition="none"),
            placement=[f"node.id=={swarm.node(host)}"],
            networks=["by-hand"],
        )
        ports = [{**published, "PublishMode": "host"}]
        made = api.create_service(
            template, name=f"by-hand-{number}", endpoint_spec=EndpointSpec("dnsrr", ports)
        )
        services.append(made["ID"])

    def running() -> bool:
        states = [task["Status"]["State"] for task in api.tasks()]
        return states.count("running") == len(services)

    for number, host in enumerate(clients):
        create(number, host)
        if number == 0:
            _until(running)
    _until(running)
    ready = time.monotonic()
    for service in reversed(services):
        api.remove_service(service)
    _until(lambda: not any(each.api.containers(all=True) for each in clients.values()))
    _until(lambda: _removed(network))
    manager.close()
    return ready - began, time.monotonic() - ready


def _removed(network: Any) -> bool:
    try:
        network.remove()
    except Exception:
        return False
    return True


def _until(done: Callable[[], bool]) -> None:
    ends = time.monotonic() + _LIMIT
    while not done():
        if time.monotonic() > ends:
            raise SystemExit("the Swarm did not come to rest")
        time.sleep(0.02)


class _Clock:
    def now(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


if __name__ == "__main__":
    main()
