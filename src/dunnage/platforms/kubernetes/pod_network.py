"""The network of a deployment's pods: what is in force of it, beside what was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dunnage.contracts.kubernetes import HasKubernetes, TellsNetwork
from dunnage.model.deployment import Deployment
from dunnage.model.proxy import proxy_of
from dunnage.model.unknown import UNKNOWN, is_unknown
from dunnage.platforms.kubernetes.asked_network import asked_of
from dunnage.platforms.kubernetes.network import (
    ClientNode,
    Pod,
    in_force,
    insist_asked_for,
    merged,
    unread,
)
from dunnage.platforms.offered import HOST

_Ways = Mapping[str, Mapping[str, str]]
"""Host → what is in force there."""
_READ = ("plugin", "driver", "encapsulation", "proxy")
"""What is read back, on hosts that see their machine."""


class PodNetwork:
    """That of one deployment. What contradicts what was asked for is a StayError."""

    def __init__(self, deployment: Deployment, substrate: HasKubernetes) -> None:
        self._deployment = deployment
        self._proxy = proxy_of(deployment)
        self._tells = substrate.network if isinstance(substrate, TellsNetwork) else None

    def as_kernels_tell(
        self, pods: Sequence[Pod], clients: Sequence[ClientNode], *, ours: bool
    ) -> dict[str, str]:
        """What the kernels of hosts tell, and of the plugin what their nodes do, in a Kubernetes
        of ours or of someone else's."""
        ways = in_force(pods, clients, host_network=self._is_of_hosts)
        if not self._is_of_hosts:
            ways = {host: {**found, **self._plugin(host)} for host, found in ways.items()}
        return self._insisted(ways, ours=ours, seen=True)

    def as_nodes_tell(self, hosts: Iterable[str], why: str) -> dict[str, str]:
        """What the nodes of someone else's Kubernetes tell, where nobody may look at a host, and
        `why` not."""
        nothing = dict.fromkeys(_READ, f"{UNKNOWN}: {why}")
        ways = {host: {**nothing, **self._told(host)} for host in hosts}
        return self._insisted(ways, ours=False, seen=False)

    def _insisted(self, ways: _Ways, *, ours: bool, seen: bool) -> dict[str, str]:
        asked: Mapping[str, str] = {}
        if not self._is_of_hosts:
            asked = asked_of(self._deployment, self._proxy, ours=ours, seen=seen)
        insist_asked_for(ways, asked, self._deployment.name)
        return {**merged(ways), **unread(ways, asked)}

    @property
    def _is_of_hosts(self) -> bool:
        return self._deployment.network == HOST

    def _plugin(self, host: str) -> Mapping[str, str]:
        """The plugin that a host's node tells of, if it does."""
        plugin = self._told(host).get("plugin", UNKNOWN)
        return {} if is_unknown(plugin) else {"plugin": plugin}

    def _told(self, host: str) -> Mapping[str, str]:
        """What is written to a host's node of the network of pods."""
        return self._tells(host) if self._tells is not None else {}
