"""What a Kubernetes of ours holds from its beginning: rights, and the service for names. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dunnage.substrates.kubernetes.control_plane import DNS_USER, KUBELET_CLIENT
from dunnage.substrates.kubernetes.network import FLANNEL_USER

Object = Mapping[str, Any]
SYSTEM = "kube-system"
"""Namespace of what serves all others."""
_RBAC = "rbac.authorization.k8s.io"
_DNS = "kube-dns"
_DNS_PORT = 53


def initial_objects(dns: str, control: str, *, flannel: bool) -> tuple[Object, ...]:
    """All of them; `dns` is the address of the service, `control` that of the control host."""
    reading = ("list", "watch")
    names_rules = (
        _rule("", ("services", "pods", "namespaces"), reading),
        _rule("discovery.k8s.io", ("endpointslices",), reading),
    )
    flannel_rules = (
        _rule("", ("nodes",), ("get", *reading)),
        _rule("", ("nodes/status",), ("patch",)),
    )
    return (
        _binding("dunnage:kubelet-client", "system:kubelet-api-admin", KUBELET_CLIENT),
        _role(DNS_USER, names_rules),
        _binding(DNS_USER, DNS_USER, DNS_USER),
        _dns_service(dns),
        _dns_endpoints(control),
        *(
            (_role(FLANNEL_USER, flannel_rules), _binding(FLANNEL_USER, FLANNEL_USER, FLANNEL_USER))
            if flannel
            else ()
        ),
    )


def _rule(group: str, resources: Sequence[str], verbs: Sequence[str]) -> Object:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _role(name: str, rules: Sequence[Object]) -> Object:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": list(rules),
    }


def _binding(name: str, role: str, user: str) -> Object:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
    }


def _dns_service(dns: str) -> Object:
    """It selects no pods: CoreDNS is none."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": _DNS, "namespace": SYSTEM},
        "spec": {"clusterIP": dns, "ports": _ports()},
    }


def _dns_endpoints(control: str) -> Object:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": f"{_DNS}-control",
            "namespace": SYSTEM,
            "labels": {
                "kubernetes.io/service-name": _DNS,
                "endpointslice.kubernetes.io/managed-by": "dunnage",
            },
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [control], "conditions": {"ready": True}}],
        "ports": _ports(),
    }


def _ports() -> list[Object]:
    protocols = {"dns": "UDP", "dns-tcp": "TCP"}
    return [
        {"name": name, "port": _DNS_PORT, "protocol": protocol}
        for name, protocol in protocols.items()
    ]
