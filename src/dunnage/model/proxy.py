"""The mode of kube-proxy, an option that every network of pods has."""

from __future__ import annotations

from enum import StrEnum

from dunnage.errors import UnavailableError
from dunnage.model.cni import CONFIGURATION
from dunnage.model.deployment import Deployment

PROXY = "proxy"
"""Its name among a network's options."""


class ProxyMode(StrEnum):
    """With what kube-proxy leads addresses of services to pods."""

    IPTABLES = "iptables"
    NFTABLES = "nftables"
    IPVS = "ipvs"
    """IP Virtual Server, which not every kernel has."""


def proxy_of(deployment: Deployment) -> ProxyMode:
    """What a deployment on pods asks for, or the default.

    Raises UnavailableError for an option of its network that means nothing there.
    """
    options = deployment.network_options
    unknown = sorted(options.keys() - {PROXY, CONFIGURATION})
    named = options.get(PROXY, ProxyMode.IPTABLES)
    if unknown or named not in tuple(ProxyMode):
        what = f"`{unknown[0]}`" if unknown else f"`{PROXY}: {named}`"
        raise UnavailableError(
            f"a network of pods has the option `{PROXY}`, {' or '.join(ProxyMode)}, and not {what}",
            where=deployment.name,
            hint="dunnage schema study",
        )
    return ProxyMode(str(named))
