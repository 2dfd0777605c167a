"""Services of a Kubernetes that need no pod: all lead to one address outside of any.

They end with their Kubernetes.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any, cast

from lightkube import Client
from lightkube.codecs import from_dict
from lightkube.resources.core_v1 import Service

from dunnage.contracts.kubernetes import ApiServer
from dunnage.kubernetes_api import connect
from dunnage.model.layout import Address

PORT = 80
"""Of every service."""
_NAMESPACE = "known-answers"


class ManyServices:
    """Services in a namespace of their own."""

    def __init__(self, api: ApiServer, endpoint: Address) -> None:
        self.addresses: list[str] = []
        """Of each, in the order in which they were created."""
        self._api = api
        self._endpoint = endpoint

    def grow(self, count: int) -> None:
        """Create what is missing, until there are so many."""
        with closing(connect(self._api)) as client:
            if not self.addresses:
                metadata = {"name": _NAMESPACE}
                wanted = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
                client.create(from_dict(wanted))
            missing = range(len(self.addresses), count)
            self.addresses += [self._created(client, f"service-{each}") for each in missing]

    def _created(self, client: Client, name: str) -> str:
        """The address of a new service, whose endpoint nobody but us looks after."""
        made = cast("Service", client.create(from_dict(self._service(name))))
        client.create(from_dict(self._endpoints(name)))
        assert made.spec is not None
        assert made.spec.clusterIP is not None
        return made.spec.clusterIP

    def _service(self, name: str) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": _NAMESPACE},
            "spec": {"ports": [{"name": "tcp", "protocol": "TCP", "port": PORT}]},
        }

    def _endpoints(self, name: str) -> dict[str, Any]:
        labels = {
            "kubernetes.io/service-name": name,
            "endpointslice.kubernetes.io/managed-by": "dunnage",
        }
        return {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": name, "namespace": _NAMESPACE, "labels": labels},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [self._endpoint.host], "conditions": {"ready": True}}],
            "ports": [{"name": "tcp", "protocol": "TCP", "port": self._endpoint.port}],
        }
