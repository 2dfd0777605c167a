"""A connection to an API server, through a socket or by its address."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from lightkube import ConfigError
from lightkube.resources.core_v1 import Node

from dunnage.contracts.kubernetes import ApiServer
from dunnage.kubernetes_api import Refused, connect, explanation, session, told
from dunnage.substrates.kubernetes.certificates import Authority
from dunnage.substrates.kubernetes.kubeconfigs import kubeconfig, write_kubeconfig
from dunnage.substrates.kubernetes.objects import initial_objects
from dunnage.substrates.kubernetes.probes import Probes

ADDRESS = "https://127.0.0.1:6443"
UNTOLD: Any = ["what a balancer says, which tells no kind of content"]


@dataclass
class Server:
    """Answers as it is told, over TLS, to whom its authority trusts."""

    api: ApiServer
    answers: dict[str, tuple[int, Any]]
    asked: list[str]


def _reply(connection: ssl.SSLSocket, server: Server) -> None:
    with connection, connection.makefile("rb") as reading:
        request = reading.readline().decode().split()
        if not request:
            return
        length = 0
        while (line := reading.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        reading.read(length)
        path = request[1].partition("?")[0]
        server.asked.append(f"{request[0]} {path}")
        code, content = server.answers.get(path, (200, "ok"))
        kind = "text/plain" if isinstance(content, str) else "application/json"
        named = "" if content is UNTOLD else f"Content-Type: {kind}\r\n"
        body = content if isinstance(content, str) else json.dumps(content)
        head = f"HTTP/1.1 {code} X\r\n{named}Content-Length: {len(body)}\r\n"
        connection.sendall(f"{head}Connection: close\r\n\r\n{body}".encode())


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    authority = Authority("test")
    issued = authority.server("api", ("127.0.0.1",))
    (tmp_path / "api.pem").write_bytes(issued.certificate + issued.key)
    (tmp_path / "authority.pem").write_bytes(authority.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "api.pem")
    context.load_verify_locations(tmp_path / "authority.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    config = tmp_path / "lab" / "kubeconfig"
    admin = authority.client("admin")
    write_kubeconfig(config, kubeconfig(ADDRESS, authority.certificate, "admin", admin))
    found = Server(ApiServer(config, str(tmp_path / "api.sock")), {}, [])
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "api.sock"))
    listener.listen()

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
                _reply(context.wrap_socket(connection, server_side=True), found)
            except ssl.SSLError:
                continue
            except OSError:
                return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


def probes(server: Server) -> Probes:
    units = ("kube-controller-manager", "kube-scheduler", "coredns")
    clock: Any = None
    return Probes(server.api, dict.fromkeys(units, str(server.api.socket)), clock)


def test_questions_and_objects_go_through_the_socket_as_the_user_of_the_file(
    server: Server,
) -> None:
    assert told(server.api, "/readyz") == "ok"
    server.answers["/api/v1/nodes"] = (200, {"items": [{"metadata": {"name": "db-1"}}]})
    with closing(connect(server.api)) as client:
        (node,) = client.list(Node)
    assert node.metadata is not None
    assert node.metadata.name == "db-1"
    with session(server.api) as plain:
        assert plain.get("/readyz").text == "ok"
    assert server.asked == ["GET /readyz", "GET /api/v1/nodes", "GET /readyz"]


def test_a_server_that_another_authority_signed_is_not_believed(
    server: Server, tmp_path: Path
) -> None:
    other = Authority("test")
    config = tmp_path / "other" / "kubeconfig"
    write_kubeconfig(config, kubeconfig(ADDRESS, other.certificate, "x", other.client("x")))
    with pytest.raises(httpx2.ConnectError, match="certificate verify failed"):
        told(ApiServer(config, server.api.socket), "/readyz")


def test_whatever_can_go_wrong_is_one_kind_of_refusal_with_its_words(
    server: Server, tmp_path: Path
) -> None:
    nowhere = ApiServer(server.api.kubeconfig, str(tmp_path / "nowhere.sock"))
    with pytest.raises(Refused) as refusal:
        told(nowhere, "/readyz")
    assert "No such file" in explanation(refusal.value)
    server.answers["/readyz"] = (500, "etcd failed")
    with pytest.raises(Refused, match="500"):
        told(server.api, "/readyz")
    with pytest.raises(Refused):
        connect(ApiServer(tmp_path / "missing"))
    assert explanation(OSError()) == "OSError"


def test_a_refusal_that_tells_no_kind_of_content_is_one_too(server: Server) -> None:
    server.answers["/api/v1/nodes"] = (502, UNTOLD)
    assert "502" in str(probes(server).ranges(["db-1"]))
    with closing(connect(server.api)) as client, pytest.raises(Refused, match="502"):
        list(client.list(Node))


def changed(path: str, value: object) -> str:
    """A kubeconfig whose part at `path` has another value, or none of it."""
    config = json.loads(kubeconfig(ADDRESS, b"", "x", Authority("x").client("x")))
    where, _, key = path.rpartition(".")
    part = config
    for step in where.split("."):
        part = part[int(step) if step.isdigit() else step]
    part.pop(key, None)
    if value is not None:
        part[key] = value
    return json.dumps(config)


USER, CLUSTER = "users.0.user", "clusters.0.cluster"
CONTEXT = "contexts.0.context"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is no kubeconfig: it is empty"),
        ("[]", "is no kubeconfig: it is no mapping"),
        ("clusters: 1", "is no kubeconfig: "),
        ("clusters: [{name: a}]", "is no kubeconfig: a part of it has no 'cluster'"),
        ("clusters: null", "has no current context"),
        ("token: [secret", "is not YAML: see its line 1"),
        ("\x00secret", "is not YAML"),
        (changed("contexts.0.name", "other"), "has no context `dunnage`"),
        (changed(f"{CONTEXT}.user", None), "context `dunnage` of .* names no user"),
        (changed(f"{CONTEXT}.user", "y"), "context `dunnage` of .* names a user `y` that it has"),
        (changed(f"{CONTEXT}.cluster", "y"), "names a cluster `y` that it has not"),
        (changed(f"{CLUSTER}.server", "https://[::1"), "names no URL of a server"),
        (changed(f"{CLUSTER}.server", "ftp://x"), "names no URL of a server"),
        (changed(f"{CLUSTER}.server", 3), "is no kubeconfig: "),
        (changed(f"{CLUSTER}.certificate-authority-data", "!"), "says of certificates cannot be"),
        (changed(f"{USER}.client-key-data", None), "user `x` of .* has no key"),
        (changed(f"{USER}.client-key-data", "AAAA"), "says of certificates cannot be used"),
        (changed(f"{USER}.tokenFile", "/none"), "names the file `/none`, which cannot be read"),
        (
            changed(f"{USER}.exec", {"apiVersion": "v1", "command": "no-such-login"}),
            "names the program `no-such-login`, which is not there",
        ),
    ],
)
def test_a_kubeconfig_that_leads_nowhere_is_one_kind_of_refusal(
    tmp_path: Path, text: str, told: str
) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(text)
    for use in (connect, session):
        with pytest.raises(ConfigError, match=told) as raised:
            use(ApiServer(file))
        assert "secret" not in str(raised.value)


def test_a_kubeconfig_that_is_no_text_or_no_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="is no kubeconfig: "):
        connect(ApiServer(file))
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        connect(ApiServer(tmp_path))


def test_a_server_on_this_machines_network_needs_no_socket(server: Server) -> None:
    away = ApiServer(server.api.kubeconfig)
    with closing(connect(away)) as client, session(away) as plain:
        assert str(client.config.cluster.server) == ADDRESS
        assert str(plain.base_url) == ADDRESS


def test_what_is_there_already_is_left_and_what_is_refused_is_told(server: Server) -> None:
    objects = initial_objects("10.68.0.10", "10.77.0.5", flannel=False)
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    kinds = ("clusterrolebindings", "clusterroles")
    for kind in kinds:
        path = f"/apis/rbac.authorization.k8s.io/v1/{kind}"
        server.answers[path] = (409, {"code": 409, "message": "exists"})
    system = "/namespaces/kube-system"
    slices = f"/apis/discovery.k8s.io/v1{system}/endpointslices"
    server.answers[slices] = (201, {"addressType": "IPv4", "endpoints": []})
    server.answers[f"/api/v1{system}/services"] = (201, {})
    assert probes(server).holds(objects) is None
    assert len(server.asked) == len(objects)
    server.answers[roles] = (403, {"code": 403, "message": "not allowed"})
    assert probes(server).holds(objects) == "not allowed"


def test_what_is_not_ready_is_said(server: Server) -> None:
    asked = probes(server)
    assert asked.server() is None
    nodes = "/api/v1/nodes"
    server.answers[nodes] = (200, {"items": []})
    assert asked.ranges(["db-1"]) == "`db-1` has none"
    told_range = {"metadata": {"name": "db-1"}, "spec": {"podCIDR": "10.67.1.0/24"}}
    server.answers[nodes] = (200, {"items": [told_range]})
    assert asked.ranges(["db-1"]) is None
    server.answers[nodes] = (503, {"code": 503, "message": "starting"})
    assert asked.ranges(["db-1"]) == "starting"
    server.answers["/readyz"] = (500, "not yet")
    assert "500" in str(asked.server())
    server.answers["/healthz"] = (500, "not yet")
    assert "500" in str(asked.all_of_it(["db-1"]))
