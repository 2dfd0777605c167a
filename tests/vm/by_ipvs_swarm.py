"""Swarm's addresses of services and its routing mesh: carried out in the machine, by this name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driving import driven
from insisted import insisted
from ipvs_ways import led_by_ipvs
from swarm_lab import Lab, deployed_as, formed, opened

from dunnage.model.choices import ClientPlace
from dunnage.model.study import DatabaseSpec

pytestmark = [pytest.mark.live, pytest.mark.timeout(1200)]

SINGLE = DatabaseSpec(kind="redis", version="7.0", topology="single", members=1)
SERVED = deployed_as(endpoint="service-ip", client=ClientPlace.CONTAINER)
PING = r"exec 3<>/dev/tcp/{host}/{port} && printf 'PING\r\n' >&3 && head -c 5 <&3"


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with opened(members=2) as made:
        yield made


def test_load_goes_to_the_addresses_of_services_and_to_nothing_else(lab: Lab) -> None:
    with formed(lab, SERVED) as (platform, target, endpoint):
        remotes = driven(platform.client(lab.client), target)
        assert remotes
        assert remotes <= endpoint
        assert all(each.startswith("10.66.") for each in endpoint)
        own = set(platform.late().values())
        assert own
        assert not own & {each.rpartition(":")[0] for each in remotes}
        led_by_ipvs(platform.paths(platform.client(lab.client)))


def test_load_goes_to_ports_that_every_node_has(lab: Lab) -> None:
    deployment = deployed_as(endpoint="node-port", database=SINGLE)
    with formed(lab, deployment) as (platform, target, endpoint):
        remotes = driven(platform.client(lab.client), target)
        assert remotes
        assert remotes <= endpoint
        led_by_ipvs(platform.paths(platform.client(lab.client)))
        (address,) = target.addresses
        for node in lab.members:
            words = PING.format(host=node.address, port=address.port)
            assert insisted(lab.client, "timeout", "20", "bash", "-c", words) == "+PONG"
