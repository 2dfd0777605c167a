"""kube-proxy's IPVS mode: carried out in the machine, by the name of this file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driving import driven
from ipvs_ways import led_by_ipvs
from kubernetes_lab import Lab, deployed_as, formed, opened

from dunnage.model.proxy import ProxyMode
from dunnage.model.study import DatabaseSpec
from dunnage.substrates.kubernetes.choices import Choices, Network

pytestmark = [pytest.mark.live, pytest.mark.timeout(1800)]

SINGLE = DatabaseSpec(kind="redis", version="7.0", topology="single", members=1)
IPVS = {"proxy": "ipvs"}


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with opened(Choices(Network.BRIDGE, ProxyMode.IPVS), members=1) as made:
        yield made


@pytest.mark.parametrize(
    ("endpoint", "within"), [("service-ip", "10.68."), ("node-port", "10.77.")]
)
def test_load_goes_by_ipvs_and_stays_inside_of_the_endpoint(
    lab: Lab, endpoint: str, within: str
) -> None:
    asked = deployed_as(endpoint, network="bridge", network_options=IPVS, database=SINGLE)
    with formed(lab, asked) as (platform, target, inside):
        found = platform.network()
        assert found["proxy"] == "ipvs"
        assert int(found["translations"]) > 0
        client = platform.client(lab.client)
        remotes = driven(client, target)
        assert remotes
        assert remotes <= inside
        assert all(each.startswith(within) for each in inside)
        led_by_ipvs(platform.paths(client))
    assert lab.kubernetes.facts()["proxy_mode"] == "ipvs"
