"""Questions to a Kubernetes whose answer is what is not ready yet, or nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from lightkube import ApiError, Client
from lightkube.codecs import from_dict
from lightkube.resources.coordination_v1 import Lease
from lightkube.resources.core_v1 import Node, ServiceAccount

from dunnage.contracts.host import Clock
from dunnage.contracts.kubernetes import ApiServer
from dunnage.kubernetes_api import TAKEN, Refused, connect, explanation, status_of, told
from dunnage.substrates.kubernetes.control_plane import ASKED, DNS
from dunnage.substrates.kubernetes.objects import Object
from dunnage.substrates.kubernetes.readiness import not_ready, pod_ranges

_CALL = 5.0
"""Seconds that one question may take."""
_LEASES = "kube-node-lease"


@dataclass(frozen=True)
class Probes:
    """All questions; each returns a sentence's end, or None when it is content."""

    api: ApiServer
    sockets: Mapping[str, str]
    """Unit → file that leads to where it tells whether it is ready."""
    clock: Clock

    def server(self) -> str | None:
        """Whether the API server is ready."""
        try:
            told(self.api, "/readyz", timeout=_CALL)
        except Refused as refusal:
            return explanation(refusal)
        return None

    def holds(self, objects: Iterable[Object]) -> str | None:
        """Whether it holds these objects, which are created where they are missing."""
        try:
            with closing(connect(self.api)) as client:
                for each in objects:
                    _create(client, from_dict(dict(each)))
        except Refused as refusal:
            return explanation(refusal)
        return None

    def ranges(self, nodes: Collection[str]) -> str | None:
        """Whether these nodes are there, and have addresses for pods."""
        try:
            with closing(connect(self.api)) as client:
                known = pod_ranges(client.list(Node))
        except Refused as refusal:
            return explanation(refusal)
        return next((f"`{name}` has none" for name in nodes if name not in known), None)

    def all_of_it(self, nodes: Collection[str]) -> str | None:
        """Whether all that acts on its own is ready, and each of these nodes."""
        try:
            for unit, address in ASKED.items():
                url = f"http://{address}/ready" if unit == DNS else f"https://{address}/healthz"
                told(self.api, url, self.sockets[unit], timeout=_CALL)
            with closing(connect(self.api)) as client:
                client.get(ServiceAccount, "default", namespace="default")
                leases = client.list(Lease, namespace=_LEASES)
                late = not_ready(client.list(Node), leases, nodes, self.clock.now())
        except Refused as refusal:
            return explanation(refusal)
        return next((f"`{host}` is {why}" for host, why in late.items()), None)


def _create(client: Client, wanted: Any) -> None:
    """Create an object unless there is one of its name."""
    try:
        client.create(wanted)
    except ApiError as error:
        if status_of(error) != TAKEN:
            raise
