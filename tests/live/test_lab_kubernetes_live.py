"""`dunnage lab up --kubernetes`: a real Kubernetes on this machine, from its making to its end."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from lab_traces import Traces, eventually
from lightkube import Client
from lightkube.codecs import from_dict
from lightkube.resources.core_v1 import Node, Pod, Service
from standing_labs import said, stands

from dunnage.contracts.kubernetes import ApiServer
from dunnage.image_archive import write_archive
from dunnage.kubernetes_api import connect
from dunnage.model.layout import Software
from dunnage.software.trees import DebianSoftware

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

PORT, NODE_PORT = 6379, 30079
IMAGE = "dunnage/answers:1"


@pytest.fixture(scope="module")
def lab() -> Iterator[dict[str, Any]]:
    DebianSoftware().kubernetes(print)  # where it is not built yet, that takes minutes
    words = ("--kubernetes", "--network", "flannel-vxlan", "--expose")
    with stands("--hosts", "2", *words) as made:
        yield made


@pytest.fixture
def api(lab: dict[str, Any]) -> Iterator[Client]:
    """The API server as whoever was handed the kubeconfig reaches it."""
    with closing(connect(ApiServer(Path(lab["kubeconfig"])))) as client:
        yield client


def on(lab: Mapping[str, Any], host: str, *argv: str) -> str:
    """What a command says on a host of the lab."""
    done = said("shell", "--lab", lab["lab"], host, "--", *argv)
    assert done.returncode == 0, done.stderr
    return done.stdout


def pod(host: str) -> dict[str, Any]:
    """A Redis on one host, as the tree of it that all deployments have."""
    prefix = DebianSoftware().tree(Software("redis", "7.0")).prefix
    server = f"{prefix}/bin/redis-server"
    container = {
        "name": "redis",
        "image": IMAGE,
        "imagePullPolicy": "Never",
        "command": [server, "--protected-mode", "no", "--save", ""],
        "readinessProbe": {"tcpSocket": {"port": PORT}, "periodSeconds": 1},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"on-{host}", "namespace": "default", "labels": {"app": "redis"}},
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": host},
            "terminationGracePeriodSeconds": 1,
            "containers": [container],
        },
    }


def service() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "redis", "namespace": "default"},
        "spec": {
            "type": "NodePort",
            "selector": {"app": "redis"},
            "ports": [{"port": PORT, "nodePort": NODE_PORT}],
        },
    }


def place_image(lab: Mapping[str, Any], directory: Path) -> None:
    """Have the image on both hosts: none can be pulled."""
    tree = DebianSoftware().tree(Software("redis", "7.0"))
    archive = directory / "image.tar"
    write_archive(tree.archive, IMAGE, (), archive)
    for host in ("db-1", "db-2"):
        words = (host, "--", "ctr", "images", "import", "-")
        done = said("shell", "--lab", lab["lab"], *words, given=str(archive))
        assert done.returncode == 0, done.stderr


def ping(lab: Mapping[str, Any], host: str, address: str, port: int) -> str:
    script = f"exec 3<> /dev/tcp/{address}/{port}; echo PING >&3; head -n 1 <&3"
    return on(lab, host, "bash", "-c", script).strip()


def test_a_node_tells_by_which_rules_services_are_reached(lab: dict[str, Any]) -> None:
    assert lab["proxy"] == "iptables"


def test_every_host_but_controls_is_a_ready_node(lab: dict[str, Any], api: Client) -> None:
    assert list(lab["hosts"]) == ["db-1", "db-2", "client-1", "control-1"]
    named = {str(node.metadata.name): node for node in api.list(Node) if node.metadata}
    assert sorted(named) == ["client-1", "db-1", "db-2"]
    taints = {
        name: [taint.key for taint in (node.spec.taints if node.spec else None) or ()]
        for name, node in named.items()
    }
    assert taints == {"client-1": ["dunnage/client"], "db-1": [], "db-2": []}


def address_of(api: Client, pod: str) -> str:
    """The address of a pod that is ready; empty before."""
    status = api.get(Pod, pod, namespace="default").status
    conditions = (status.conditions if status else None) or ()
    ready = any(each.type == "Ready" and each.status == "True" for each in conditions)
    return str(status.podIP) if status and ready else ""


def insist_reached(lab: Mapping[str, Any], api: Client, directory: Path) -> None:
    """Pods on two hosts are reached by address, and their service by every way that leads to it."""
    place_image(lab, directory)
    for each in (pod("db-1"), pod("db-2"), service()):
        api.create(from_dict(each))
    names = ("on-db-1", "on-db-2")
    assert eventually(lambda: all(address_of(api, each) for each in names), 60, 0.1)
    pods = [address_of(api, each) for each in names]
    spec = api.get(Service, "redis", namespace="default").spec
    assert spec is not None
    assert spec.clusterIP is not None
    for address in (*pods, spec.clusterIP):
        assert ping(lab, "client-1", address, PORT) == "+PONG"
    for host in ("db-1", "db-2", "client-1"):
        assert ping(lab, "client-1", lab["hosts"][host], NODE_PORT) == "+PONG"
    name = "redis.default.svc.cluster.local."
    engine = ("/run/dunnage/engine", "resolve", "--server", "10.68.0.10")
    assert json.loads(on(lab, "db-2", *engine, name)) == {name: [spec.clusterIP]}


def test_a_service_is_reached_by_every_way_that_leads_to_it(
    lab: dict[str, Any], api: Client, tmp_path: Path
) -> None:
    insist_reached(lab, api, tmp_path)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("network", "proxy"),
    [("bridge", "iptables"), ("flannel-host-gw", "nftables"), ("flannel-vxlan", "nftables")],
)
def test_so_it_is_over_the_other_networks_and_by_the_other_rules(
    network: str, proxy: str, tmp_path: Path
) -> None:
    words = ("--kubernetes", "--network", network, "--proxy", proxy, "--expose")
    with (
        stands("--hosts", "2", *words) as lab,
        closing(connect(ApiServer(Path(lab["kubeconfig"])))) as api,
    ):
        insist_reached(lab, api, tmp_path)
        assert lab["proxy"] == proxy


def test_the_control_host_has_a_kubectl_and_the_file_for_it(lab: dict[str, Any]) -> None:
    told = on(lab, "control-1", "kubectl", "get", "nodes", "--output=name")
    assert told.split() == ["node/client-1", "node/db-1", "node/db-2"]
    status = said("status", "--format", "json")
    (known,) = (each for each in json.loads(status.stdout) if each["lab"] == lab["lab"])
    reached = {host["name"]: host["kubeconfig"] for host in known["hosts"]}
    assert [name for name, file in reached.items() if file] == ["control-1"]


def test_only_root_may_read_the_kubeconfig_and_only_the_loopback_leads_there(
    lab: dict[str, Any],
) -> None:
    file = Path(lab["kubeconfig"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (cluster,) = json.loads(file.read_text())["clusters"]
    server = cluster["cluster"]["server"]
    assert server.startswith("https://127.0.0.1:")
    port = int(server.rpartition(":")[2])
    tables = "".join(Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6"))
    listening = [
        line.split()[1]
        for line in tables.splitlines()
        if f":{port:04X} " in line and " 0A " in line
    ]
    assert listening == [f"0100007F:{port:04X}"]


def test_its_programs_belong_to_the_lab(lab: dict[str, Any]) -> None:
    found = " ".join(Traces(lab["lab"]).processes())
    for program in ("etcd", "kube-apiserver", "coredns", "kubelet", "kube-proxy", "flanneld"):
        assert f"/{program}\0" in found
