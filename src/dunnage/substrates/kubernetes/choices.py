"""What can be chosen of a Kubernetes of our own, and what deployments choose."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from dunnage.errors import UnavailableError
from dunnage.model.cni import configuration_of, label
from dunnage.model.deployment import Deployment
from dunnage.model.proxy import ProxyMode, proxy_of


class Network(StrEnum):
    """How pods on different hosts reach each other."""

    BRIDGE = "bridge"
    """A bridge on each host, and routes between the hosts."""
    FLANNEL_VXLAN = "flannel-vxlan"
    """The same bridges, and flannel's VXLAN tunnel between the hosts."""
    FLANNEL_HOST_GW = "flannel-host-gw"
    """The same bridges, and routes that flannel keeps."""
    CNI = "cni"
    """What a CNI configuration of the user's makes, and routes between the hosts."""


@dataclass(frozen=True)
class Choices:
    """One set of choices."""

    network: Network = Network.BRIDGE
    proxy: ProxyMode = ProxyMode.IPTABLES
    configuration: str = ""
    """The CNI configuration of the network `cni`, with its placeholders."""

    def __str__(self) -> str:
        told = f"`{self.network}` with proxy `{self.proxy}`"
        if not self.configuration:
            return told
        return f"{told} and configuration `{label(json.loads(self.configuration))}`"


def chosen(deployments: Iterable[Deployment]) -> Choices:
    """What one must have for deployments on it; one without a network of pods asks for nothing.

    Raises UnavailableError where they ask for several networks or proxies, as it has one of each,
    or for what none has.
    """
    wanted = {
        Choices(Network(each.network), proxy_of(each), configuration_of(each))
        for each in deployments
        if each.network in {*Network}
    }
    if len(wanted) > 1:
        told = ", ".join(sorted(map(str, wanted)))
        raise UnavailableError(
            f"a Kubernetes has one network of pods and one kind of proxy, not {told}",
            where="kubernetes",
            hint="dunnage schema study  # put them into studies of their own",
        )
    return wanted.pop() if wanted else Choices()
