"""Redis on a Kubernetes of a lab with every other network and kind of proxy."""

from __future__ import annotations

import pytest
from driving import driven
from kubernetes_lab import deployed_as, formed, opened

from dunnage.model.proxy import ProxyMode
from dunnage.substrates.kubernetes.choices import Choices, Network

pytestmark = [pytest.mark.live, pytest.mark.proof, pytest.mark.timeout(300)]


@pytest.mark.parametrize(
    ("network", "proxy"),
    [
        (Network.FLANNEL_VXLAN, ProxyMode.NFTABLES),
        (Network.FLANNEL_HOST_GW, ProxyMode.IPTABLES),
        (Network.BRIDGE, ProxyMode.NFTABLES),
    ],
)
def test_what_is_in_force_is_read_back_and_every_way_is_known(
    network: Network, proxy: ProxyMode
) -> None:
    wraps = network is Network.FLANNEL_VXLAN
    with opened(Choices(network, proxy), members=2) as lab:
        options = {"proxy": str(proxy)}
        for endpoint in ("service-ip", "node-port", "host-port"):
            asked = deployed_as(endpoint, network=str(network), network_options=options)
            with formed(lab, asked) as (platform, target, may):
                told = platform.network()
                assert told["encapsulation"] == ("vxlan" if wraps else "none")
                assert (told["proxy"], told["driver"]) == (str(proxy), "bridge")
                assert told["mtu"] == ("1450" if wraps else "1500")
                remotes = driven(lab.client, target)
                assert remotes
                assert remotes <= may
                paths = platform.paths(lab.client)
                assert [path.unknown for path in paths] == ["", ""]
                for path in paths:
                    kinds = {str(hop.kind) for hop in path.hops}
                    assert "translation" in kinds
                    assert ("tunnel" in kinds) == (wraps and endpoint == "service-ip")
