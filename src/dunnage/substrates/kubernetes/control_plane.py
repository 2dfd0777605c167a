"""The control plane: etcd, the API server, its controllers, its scheduler and its DNS. Pure.

They are plain processes on the control host, which is no node. The API server listens on the lab's
network, CoreDNS as well; all else listens on the loopback only. Nobody is served without a
certificate, and all of it is encrypted, but for CoreDNS: names are no secret. Whether CoreDNS is
ready, and whether controllers and scheduler are well (`/healthz`), anyone on the loopback may ask.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dunnage.substrates.kubernetes.certificates import Authority, signing_keys
from dunnage.substrates.kubernetes.kubeconfigs import kubeconfig
from dunnage.substrates.kubernetes.place import (
    API_PORT,
    DOMAIN,
    LOOPBACK,
    MASTERS,
    SECRET,
    Component,
    Place,
    Written,
)
from dunnage.substrates.ranges import SUBNET_SIZE, Ranges

ETCD = "etcd"
API = "kube-apiserver"
CONTROLLERS = "kube-controller-manager"
SCHEDULER = "kube-scheduler"
DNS = "coredns"
UNITS = (ETCD, API, CONTROLLERS, SCHEDULER, DNS)

KUBELET_CLIENT = "kube-apiserver-kubelet-client"
"""User as whom the API server asks kubelets."""
DNS_USER = "system:coredns"
_FRONT_CLIENT = "front-proxy-client"
_CONTROLLERS_PORT = 10257
_SCHEDULER_PORT = 10259
_DNS_READY_PORT = 8181
_ETCD_PORT = 2379
_ETCD_PEER_PORT = 2380

ASKED: Mapping[str, str] = {
    CONTROLLERS: f"{LOOPBACK}:{_CONTROLLERS_PORT}",
    SCHEDULER: f"{LOOPBACK}:{_SCHEDULER_PORT}",
    DNS: f"{LOOPBACK}:{_DNS_READY_PORT}",
}
"""Unit → where it tells whether it is ready, on the control host."""


@dataclass(frozen=True)
class Trust:
    """Whom the parts of one Kubernetes believe. Its keys are never written anywhere."""

    own: Authority
    """Signs for users, the API server and kubelets."""
    etcd: Authority
    """Signs for etcd and its one client: no other certificate opens it."""
    front: Authority
    """Signs for the API server where it asks servers of further APIs on somebody's behalf."""


@dataclass(frozen=True)
class ControlPlane:
    """One control plane on a host with this address."""

    address: str
    binaries: Path
    place: Place
    ranges: Ranges
    trust: Trust

    @property
    def url(self) -> str:
        """Where the API server answers in the lab's network."""
        return f"https://{self.address}:{API_PORT}"

    @property
    def dns(self) -> str:
        """Address of the service by which pods ask for names."""
        return str(ipaddress.ip_network(self.ranges.services)[10])

    def kubeconfig(self, user: str, *groups: str, server: str = "") -> bytes:
        """One for this user, who is trusted by a certificate made for it now."""
        own = self.trust.own
        return kubeconfig(server or self.url, own.certificate, user, own.client(user, groups))

    def files(self) -> tuple[Written, ...]:
        """What is to be written before anything starts; all keys are made anew."""
        own, etcd, front = self.trust.own, self.trust.etcd, self.trust.front
        private, public = signing_keys()
        api_names = ("kubernetes", "kubernetes.default", f"kubernetes.default.svc.{DOMAIN}")
        service = str(ipaddress.ip_network(self.ranges.services)[1])
        issued = {
            "etcd": etcd.both("etcd", (LOOPBACK,)),
            "etcd-client": etcd.client(API),
            "api": own.server(
                API,
                (self.address, LOOPBACK, service, *api_names, "kubernetes.default.svc"),
            ),
            "kubelet-client": own.client(KUBELET_CLIENT),
            "front-client": front.client(_FRONT_CLIENT),
            "controllers": own.server(CONTROLLERS, (LOOPBACK,)),
            "scheduler": own.server(SCHEDULER, (LOOPBACK,)),
        }
        users = {
            CONTROLLERS: self.kubeconfig(f"system:{CONTROLLERS}"),
            SCHEDULER: self.kubeconfig(f"system:{SCHEDULER}"),
            DNS: self.kubeconfig(DNS_USER),
        }
        return (
            self._written("authority.crt", own.certificate),
            self._written("etcd-authority.crt", etcd.certificate),
            self._written("front-authority.crt", front.certificate),
            self._written("tokens.pub", public),
            self._secret("tokens.key", private),
            *(self._written(f"{name}.crt", each.certificate) for name, each in issued.items()),
            *(self._secret(f"{name}.key", each.key) for name, each in issued.items()),
            *(self._secret(f"{user}.kubeconfig", text) for user, text in users.items()),
            Written(self.place.admin, self.kubeconfig("dunnage", MASTERS), SECRET),
            self._written("Corefile", self._corefile().encode()),
        )

    def first(self) -> tuple[Component, ...]:
        """What starts at once: etcd and the API server, which waits for it."""
        return (self._etcd(), self._api())

    def controllers(self) -> tuple[Component, ...]:
        """What acts on its own, and would find the world changed after it was held still."""
        return (self._controllers(), self._scheduler())

    def names(self) -> Component:
        """The DNS of services and pods."""
        path = self.place.path
        return self._component(DNS, f"-conf={path('Corefile')}", "-dns.port=53")

    def _etcd(self) -> Component:
        path = self.place.path
        client = f"https://{LOOPBACK}:{_ETCD_PORT}"
        peer = f"https://{LOOPBACK}:{_ETCD_PEER_PORT}"
        return self._component(
            ETCD,
            "--name=control",
            f"--data-dir={path('etcd')}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=control={peer}",
            "--client-cert-auth",
            f"--trusted-ca-file={path('etcd-authority.crt')}",
            f"--cert-file={path('etcd.crt')}",
            f"--key-file={path('etcd.key')}",
            "--peer-client-cert-auth",
            f"--peer-trusted-ca-file={path('etcd-authority.crt')}",
            f"--peer-cert-file={path('etcd.crt')}",
            f"--peer-key-file={path('etcd.key')}",
            "--log-level=warn",
        )

    def _api(self) -> Component:
        path = self.place.path
        return self._component(
            API,
            f"--advertise-address={self.address}",
            f"--bind-address={self.address}",
            f"--secure-port={API_PORT}",
            f"--etcd-servers=https://{LOOPBACK}:{_ETCD_PORT}",
            f"--etcd-cafile={path('etcd-authority.crt')}",
            f"--etcd-certfile={path('etcd-client.crt')}",
            f"--etcd-keyfile={path('etcd-client.key')}",
            f"--client-ca-file={path('authority.crt')}",
            f"--tls-cert-file={path('api.crt')}",
            f"--tls-private-key-file={path('api.key')}",
            f"--kubelet-certificate-authority={path('authority.crt')}",
            f"--kubelet-client-certificate={path('kubelet-client.crt')}",
            f"--kubelet-client-key={path('kubelet-client.key')}",
            "--kubelet-preferred-address-types=InternalIP",
            f"--proxy-client-cert-file={path('front-client.crt')}",
            f"--proxy-client-key-file={path('front-client.key')}",
            f"--requestheader-client-ca-file={path('front-authority.crt')}",
            f"--requestheader-allowed-names={_FRONT_CLIENT}",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={path('tokens.pub')}",
            f"--service-account-signing-key-file={path('tokens.key')}",
            f"--service-cluster-ip-range={self.ranges.services}",
            "--anonymous-auth=false",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            "--profiling=false",
        )

    def _controllers(self) -> Component:
        path = self.place.path
        return self._component(
            CONTROLLERS,
            *self._serving(CONTROLLERS, "controllers", _CONTROLLERS_PORT),
            f"--service-account-private-key-file={path('tokens.key')}",
            f"--root-ca-file={path('authority.crt')}",
            "--use-service-account-credentials=true",
            "--allocate-node-cidrs=true",
            f"--cluster-cidr={self.ranges.pods}",
            f"--service-cluster-ip-range={self.ranges.services}",
            f"--node-cidr-mask-size={SUBNET_SIZE}",
            f"--flex-volume-plugin-dir={path('volume-plugins')}",
        )

    def _scheduler(self) -> Component:
        return self._component(SCHEDULER, *self._serving(SCHEDULER, "scheduler", _SCHEDULER_PORT))

    def _serving(self, unit: str, issued: str, port: int) -> tuple[str, ...]:
        """What a controller is told of the API server, of who may ask it, and that it is alone."""
        path = self.place.path
        config = path(f"{unit}.kubeconfig")
        return (
            f"--kubeconfig={config}",
            f"--authentication-kubeconfig={config}",
            f"--authorization-kubeconfig={config}",
            f"--bind-address={LOOPBACK}",
            f"--secure-port={port}",
            f"--client-ca-file={path('authority.crt')}",
            f"--tls-cert-file={path(f'{issued}.crt')}",
            f"--tls-private-key-file={path(f'{issued}.key')}",
            "--leader-elect=false",
            "--profiling=false",
        )

    def _corefile(self) -> str:
        """No name is asked of others: a lab's network leads nowhere.

        What is said of services and pods is not kept, so that a member that is deployed again is
        found where it is.
        """
        return f""".:53 {{
    bind {self.address}
    errors
    ready {LOOPBACK}:{_DNS_READY_PORT}
    kubernetes {DOMAIN} in-addr.arpa {{
        kubeconfig {self.place.path(f"{DNS}.kubeconfig")}
        pods insecure
        ttl 30
    }}
    cache 30 {{
        disable success {DOMAIN}
        disable denial {DOMAIN}
    }}
}}
"""

    def _component(self, unit: str, *arguments: str) -> Component:
        return Component(unit, (str(self.binaries / unit), *arguments))

    def _written(self, name: str, content: bytes) -> Written:
        return Written(self.place.path(name), content)

    def _secret(self, name: str, content: bytes) -> Written:
        return Written(self.place.path(name), content, SECRET)
