"""The canonical name of a deployment: what kind of place, and what kind of address.

The grammar, after the first published study (`VM_HostNameHostPort`, `K8ServiceIP_flannel`):

    title    = hosts "_" endpoint                          natively
             | hosts platform [network] endpoint           an address that the hosts provide
             | hosts platform endpoint "_" network         an address that the cluster provides
    hosts    = "Host" | "VM" | "Metal" | "Fake"            what the hosts really were

Platforms, networks and endpoints bring their words: `Docker`, `Only` for the host's own network of
it, `HostPort`. A network has none where a platform leaves no choice behind its host ports, as
orchestrators do not.
"""

from __future__ import annotations

from dunnage.model.offer import PlatformOffer


def title(hosts: str, platform: PlatformOffer, network: str, endpoint: str) -> str:
    """Return the canonical name; `hosts` is the word for what the testbed's hosts are."""
    chosen = platform.networks[network]
    address = chosen.endpoints[endpoint]
    if not platform.title:
        return f"{hosts}_{address.title}"
    where = "" if platform.title == hosts else platform.title
    if address.of_cluster:
        return f"{hosts}{where}{address.title}_{network}"
    return f"{hosts}{where}{chosen.title}{address.title}"
