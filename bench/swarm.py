"""What a deployment on a Swarm takes beside the same services made and removed by hand.

Both make one service for each member. Dunnage's platform has Redis formed and ready. Plain calls of
Docker's API wait until every task runs, and after their removal until every container is gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from beside_hand import LIMIT, STAY, by_dunnage, compare, lab, replicas, wanted
from docker import DockerClient
from docker.types import ContainerSpec, EndpointSpec, RestartPolicy, TaskTemplate

from dunnage.docker_api import connect
from dunnage.model.layout import Software
from dunnage.platforms.images import provide
from dunnage.platforms.swarm import Swarm
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.daemons import open_daemons
from dunnage.substrates.swarm import Swarm as SwarmSubstrate
from dunnage.substrates.swarm import open_swarm

TREES = DebianSoftware()
DEPLOYMENT = replicas("swarm", "overlay")


def main() -> None:
    """Compare both over some pairs."""
    asked = wanted(__doc__)
    with (
        lab() as testbed,
        open_daemons(testbed, TREES.dockerd(), testbed.hosts) as below,
        open_swarm(testbed, below, testbed.hosts) as swarm,
    ):
        members = testbed.group("db")
        clients = {host.name: connect(swarm.daemon(host.name)) for host in members}
        for host in members:
            provide(clients[host.name], TREES.tree(Software("redis", "7.0")), host.name)
        make = partial(Swarm, DEPLOYMENT, members, swarm, TREES, STAY)
        ours = partial(by_dunnage, make, DEPLOYMENT, testbed)
        compare(ours, partial(by_hand, swarm, clients), asked, __doc__)


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
    ends = time.monotonic() + LIMIT
    while not done():
        if time.monotonic() > ends:
            raise SystemExit("the Swarm did not come to rest")
        time.sleep(0.02)


if __name__ == "__main__":
    main()
