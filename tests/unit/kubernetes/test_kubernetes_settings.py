"""What the programs of a Kubernetes of ours are told."""

from __future__ import annotations

import base64
import ipaddress
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from dunnage.model.proxy import ProxyMode
from dunnage.substrates.kubernetes.certificates import Authority
from dunnage.substrates.kubernetes.choices import Network
from dunnage.substrates.kubernetes.control_plane import ControlPlane, Trust
from dunnage.substrates.kubernetes.network import (
    Flannel,
    Subnet,
    begin_script,
    configuration,
    routes_script,
    told_by_flannel,
    with_flannel,
)
from dunnage.substrates.kubernetes.node import Node
from dunnage.substrates.kubernetes.objects import initial_objects
from dunnage.substrates.kubernetes.place import Component, Place, Written
from dunnage.substrates.ranges import container_ranges

BINARIES, PLUGINS = Path("/tree/bin"), Path("/tree/cni")
PLANE = ControlPlane(
    "10.77.0.5",
    BINARIES,
    Place("/s/control-1/kubernetes"),
    container_ranges(["10.77.0.1", "10.77.0.5"]),
    Trust(*map(Authority, ("dunnage", "dunnage-etcd", "dunnage-front"))),
)


def node(group: str = "db", proxy: ProxyMode = ProxyMode.IPTABLES) -> Node:
    return Node(
        "db-1",
        group,
        "10.77.0.1",
        "/s/db-1",
        "/dunnage/lab/db-1/pods",
        BINARIES,
        PLUGINS,
        Place("/s/db-1/kubernetes"),
        PLANE,
        proxy,
    )


def files(written: tuple[Written, ...]) -> dict[str, Written]:
    return {each.path.rpartition("/")[2]: each for each in written}


def options(component: Component) -> dict[str, str]:
    """Option → value, of those that have one."""
    words = [each[2:] for each in component.argv if each.startswith("--") and "=" in each]
    return dict(each.split("=", 1) for each in words)


def user(kubeconfig: bytes) -> tuple[str, list[str]]:
    """Name and groups of the user whom a kubeconfig's certificate names."""
    (told,) = json.loads(kubeconfig)["users"]
    certificate = x509.load_pem_x509_certificate(
        base64.b64decode(told["user"]["client-certificate-data"])
    )
    (name,) = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    groups = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return str(name.value), [str(each.value) for each in groups]


def test_whatever_holds_a_key_is_for_root_alone_and_nothing_else_holds_one() -> None:
    for each in (*PLANE.files(), *node().files()):
        holds = b"PRIVATE KEY" in each.content or b"client-key-data" in each.content
        assert each.mode == (0o600 if holds else 0o644), each.path


def test_every_file_that_a_program_is_told_of_is_written() -> None:
    written = {each.path for each in (*PLANE.files(), *node().files())}
    components = (*PLANE.first(), *PLANE.controllers(), PLANE.names(), node().kube_proxy())
    for component in components:
        for word in component.argv[1:]:
            path = word.partition("=")[2]
            if path.endswith((".crt", ".key", ".pub", ".kubeconfig", "Corefile", ".json")):
                assert path in written, word


def test_the_api_server_is_anonymous_to_nobody_and_knows_nodes_and_roles() -> None:
    _, api = PLANE.first()
    told = options(api)
    assert told["anonymous-auth"] == "false"
    assert told["authorization-mode"] == "Node,RBAC"
    assert told["enable-admission-plugins"] == "NodeRestriction"
    assert told["bind-address"] == "10.77.0.5"
    names = x509.load_pem_x509_certificate(files(PLANE.files())["api.crt"].content)
    hosts = names.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    addresses = {str(each) for each in hosts.get_values_for_type(x509.IPAddress)}
    assert addresses == {"10.77.0.5", "127.0.0.1", "10.68.0.1"}


def test_the_api_server_asks_for_others_by_an_authority_of_its_own() -> None:
    told = options(PLANE.first()[1])
    written = files(PLANE.files())
    authority = x509.load_pem_x509_certificate(written["front-authority.crt"].content)
    asking = x509.load_pem_x509_certificate(written["front-client.crt"].content)
    asking.verify_directly_issued_by(authority)
    (name,) = asking.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    assert told["requestheader-allowed-names"] == name.value
    assert told["requestheader-client-ca-file"].endswith("/front-authority.crt")


def test_etcd_listens_on_the_loopback_and_believes_its_own_authority_only() -> None:
    etcd, api = PLANE.first()
    told = options(etcd)
    assert told["listen-client-urls"] == "https://127.0.0.1:2379"
    assert "--client-cert-auth" in etcd.argv
    written = files(PLANE.files())
    assert told["trusted-ca-file"].endswith("etcd-authority.crt")
    authority = x509.load_pem_x509_certificate(written["etcd-authority.crt"].content)
    for name in ("etcd.crt", "etcd-client.crt"):
        x509.load_pem_x509_certificate(written[name].content).verify_directly_issued_by(authority)
    assert options(api)["etcd-certfile"].endswith("etcd-client.crt")


def test_controllers_are_alone_and_have_users_of_their_own() -> None:
    written = files(PLANE.files())
    for component, name in zip(
        PLANE.controllers(), ("kube-controller-manager", "kube-scheduler"), strict=True
    ):
        told = options(component)
        assert told["leader-elect"] == "false"
        assert told["bind-address"] == "127.0.0.1"
        assert user(written[f"{name}.kubeconfig"].content) == (f"system:{name}", [])
    assert user(written["coredns.kubeconfig"].content) == ("system:coredns", [])
    assert user(written["admin.kubeconfig"].content) == ("dunnage", ["system:masters"])
    assert options(PLANE.controllers()[0])["cluster-cidr"] == PLANE.ranges.pods


def test_names_are_asked_of_nobody_outside() -> None:
    corefile = files(PLANE.files())["Corefile"].content.decode()
    assert "bind 10.77.0.5" in corefile
    assert "kubernetes cluster.local" in corefile
    assert "forward" not in corefile
    assert PLANE.dns == "10.68.0.10"
    assert PLANE.names().argv[1] == "-conf=/s/control-1/kubernetes/Corefile"


def test_a_kubelet_is_its_node_and_asks_who_asks() -> None:
    written = files(node().files())
    assert user(written["kubelet.kubeconfig"].content) == ("system:node:db-1", ["system:nodes"])
    assert user(written["kube-proxy.kubeconfig"].content) == ("system:kube-proxy", [])
    told: dict[str, Any] = json.loads(written["kubelet.json"].content)
    assert told["authentication"]["anonymous"] == {"enabled": False}
    assert told["authorization"] == {"mode": "Webhook"}
    assert (told["readOnlyPort"], told["healthzPort"]) == (0, 0)
    assert told["cgroupDriver"] == "cgroupfs"
    assert told["cgroupRoot"] == "/dunnage/lab/db-1/pods"
    assert (told["failCgroupV1"], told["failSwapOn"]) == (False, False)
    assert told["clusterDNS"] == [PLANE.dns]
    assert told["cpuCFSQuotaPeriod"] == "10000us"
    assert told["featureGates"] == {"CustomCPUCFSQuotaPeriod": True}


def test_only_the_clients_host_is_tainted() -> None:
    assert (
        options(node("client").kubelet(7))["register-with-taints"] == "dunnage/client=:NoSchedule"
    )
    member = node().kubelet(7)
    assert "register-with-taints" not in options(member)
    assert options(member)["node-labels"] == "dunnage/group=db"
    assert member.argv[:2] == ("nsenter", "--target=7")


def test_containerd_restricts_scores_and_finds_plugins_and_the_sandbox() -> None:
    told = tomllib.loads(files(node().files())["containerd.toml"].content.decode())
    cri = told["plugins"]["io.containerd.grpc.v1.cri"]
    assert cri["restrict_oom_score_adj"] is True
    assert cri["sandbox_image"] == "docker.io/dunnage/pause:1"
    assert cri["cni"]["bin_dir"] == "/tree/cni"
    assert cri["cni"]["conf_dir"] == node().cni == "/s/db-1/kubernetes/cni"
    runc = cri["containerd"]["runtimes"]["runc"]["options"]
    assert runc == {"BinaryName": "/tree/bin/runc", "SystemdCgroup": False}
    containerd = node().containerd()
    assert containerd.argv == (
        "/tree/bin/containerd",
        "--config",
        "/s/db-1/kubernetes/containerd.toml",
    )
    assert containerd.around[:2] == ("unshare", "--mount")
    assert containerd.around[-2:] == ("/s/db-1", "/run/kubernetes")


def test_containerd_serves_streams_by_tls_to_a_kubelet_that_believes_it() -> None:
    written = files(node().files())
    told = tomllib.loads(written["containerd.toml"].content.decode())
    cri = told["plugins"]["io.containerd.grpc.v1.cri"]
    assert (cri["stream_server_address"], cri["enable_tls_streaming"]) == ("127.0.0.1", True)
    place = "/s/db-1/kubernetes"
    assert cri["x509_key_pair_streaming"] == {
        "tls_cert_file": f"{place}/streams.crt",
        "tls_key_file": f"{place}/streams.key",
    }
    certificate = x509.load_pem_x509_certificate(written["streams.crt"].content)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("127.0.0.1")]
    authority = x509.load_pem_x509_certificate(written["authority.crt"].content)
    certificate.verify_directly_issued_by(authority)
    assert node().kubelet(7).environment == {"SSL_CERT_FILE": f"{place}/authority.crt"}


@pytest.mark.parametrize("mode", ProxyMode)
def test_kube_proxy_leaves_the_limits_of_this_machine(mode: ProxyMode) -> None:
    told = json.loads(files(node(proxy=mode).files())["proxy.json"].content)
    assert told["mode"] == str(mode)
    assert set(told["conntrack"].values()) == {0, "0s"}
    assert told["clusterCIDR"] == PLANE.ranges.pods
    assert told["nodePortAddresses"] == ["primary"]


def test_a_network_is_a_bridge_with_addresses_of_the_nodes_own() -> None:
    told = json.loads(configuration(Subnet("10.67.1.0/24", 1450), "/s/addresses"))
    bridge, ports = told["plugins"]
    assert bridge["bridge"] == "cni0"
    assert bridge["mtu"] == 1450
    assert bridge["ipam"]["ranges"] == [[{"subnet": "10.67.1.0/24"}]]
    assert bridge["ipam"]["dataDir"] == "/s/addresses"
    assert ports["capabilities"] == {"portMappings": True}
    assert "mtu" not in json.loads(configuration(Subnet("10.67.1.0/24"), "/s"))["plugins"][0]


def test_hosts_lead_to_each_others_pods_and_hide_their_own_from_outside() -> None:
    script = routes_script("10.67.0.0/16", "10.67.1.0/24", {"10.67.2.0/24": "10.77.0.2"})
    assert "route replace 10.67.2.0/24 via 10.77.0.2 proto static\n" in script
    assert "-s 10.67.1.0/24 ! -d 10.67.0.0/16 -j MASQUERADE" in script
    assert "route replace 10.68.0.0/16" in begin_script("10.77.0.1", "10.68.0.0/16")


@pytest.mark.parametrize(
    ("network", "backend"), [(Network.FLANNEL_VXLAN, "vxlan"), (Network.FLANNEL_HOST_GW, "host-gw")]
)
def test_flannel_is_told_of_its_backend(network: Network, backend: str) -> None:
    place = Place("/s/db-1/kubernetes")
    flannel = Flannel(
        "db-1", "10.77.0.1", "10.67.0.0/16", BINARIES, place, network, ProxyMode.NFTABLES
    )
    told = json.loads(flannel.settings())
    assert told["Backend"] == {"Type": backend}
    assert told["Network"] == "10.67.0.0/16"
    assert told["EnableNFTables"] is True
    assert flannel.component().environment == {"NODE_NAME": "db-1"}
    assert with_flannel(network)
    assert not with_flannel(Network.BRIDGE)


def test_what_flannel_tells_is_a_subnet_once_it_is_whole() -> None:
    text = "FLANNEL_NETWORK=10.67.0.0/16\nFLANNEL_SUBNET=10.67.3.1/24\nFLANNEL_MTU=1450\n"
    assert told_by_flannel(text) == Subnet("10.67.3.0/24", 1450)
    with pytest.raises(KeyError):
        told_by_flannel("FLANNEL_NETWORK=10.67.0.0/16\n")


@pytest.mark.parametrize("flannel", [False, True])
def test_the_first_objects_give_rights_to_users_that_have_certificates(flannel: bool) -> None:
    objects = initial_objects("10.68.0.10", "10.77.0.5", flannel=flannel)
    bindings = [each for each in objects if each["kind"] == "ClusterRoleBinding"]
    users = {subject["name"] for each in bindings for subject in each["subjects"]}
    own = {"kube-apiserver-kubelet-client", "system:coredns"}
    assert users == own | ({"system:flannel"} if flannel else set())
    roles = {each["metadata"]["name"] for each in objects if each["kind"] == "ClusterRole"}
    assert roles | {"system:kubelet-api-admin"} == {each["roleRef"]["name"] for each in bindings}
    (service,) = (each for each in objects if each["kind"] == "Service")
    (slice_,) = (each for each in objects if each["kind"] == "EndpointSlice")
    assert service["spec"]["clusterIP"] == "10.68.0.10"
    assert slice_["endpoints"][0]["addresses"] == ["10.77.0.5"]
    named = slice_["metadata"]["labels"]["kubernetes.io/service-name"]
    assert named == service["metadata"]["name"]
