"""An API server of a cluster, which answers as it is told, by a context of a kubeconfig."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from lightkube.codecs import from_dict

from dunnage.substrates.kubernetes.certificates import Credentials
from dunnage.substrates.kubernetes.kubeconfigs import kubeconfig

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
Answer = tuple[int, Any]
"""A status and an object."""


def node(named: str, machine: str, boot: str = "boot", address: str = "", **info: str) -> Any:
    """A node that is ready."""
    told = {"machineID": machine, "bootID": boot, "kubeletVersion": "v1", **info}
    told |= dict.fromkeys(("architecture", "operatingSystem", "osImage", "systemUUID"), "")
    told |= {"kubeProxyVersion": "", "kernelVersion": "6.1", "containerRuntimeVersion": "c://2"}
    ready = [{"type": "Ready", "status": "True"}]
    return from_dict(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": named},
            "status": {
                "nodeInfo": told,
                "conditions": ready,
                "addresses": [{"type": "InternalIP", "address": address}],
            },
        }
    )


class Cluster(ThreadingHTTPServer):
    """Answers by path, or by method and path, where it has to with what it makes of the question,
    and 404 to others."""

    answers: dict[str, Answer | Callable[[Any], Answer]]
    asked: list[str]
    """Method and path of everything that was asked."""


class _Answering(BaseHTTPRequestHandler):
    """One question."""

    server: Cluster

    def do_GET(self) -> None:
        asked = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        by_path = self.server.answers.get(path, (404, {"code": 404}))
        answer = self.server.answers.get(f"{self.command} {path}", by_path)
        self.server.asked.append(f"{self.command} {self.path}")
        code, content = answer(json.loads(asked or b"null")) if callable(answer) else answer
        body = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_DELETE = do_GET  # noqa: N815  # so the library wants it

    def log_message(self, *_: object) -> None:
        """It is not of interest."""


@contextmanager
def cluster_of(*nodes: Any, kubeconfig: Path) -> Iterator[Cluster]:
    """A cluster that allows everything, by the context `mine` of a kubeconfig that is written."""
    server = Cluster(("127.0.0.1", 0), _Answering)
    server.asked = []
    server.answers = {
        REVIEWS: (201, {"spec": {}, "status": {"allowed": True}}),
        "/api/v1/nodes": (200, {"items": [each.to_dict() for each in nodes]}),
        "/version": (200, {"gitVersion": "v1.34.2"}),
    }
    config = {
        "clusters": [
            {"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}
        ],
        "users": [{"name": "u", "user": {"token": "secret"}}],
        "contexts": [{"name": "mine", "context": {"cluster": "c", "user": "u"}}],
    }
    kubeconfig.write_text(json.dumps(config))
    with _served(server):
        yield server


@contextmanager
def secured_cluster(
    authority: bytes, server: Credentials, user: Credentials, directory: Path
) -> Iterator[Path]:
    """One that knows nobody; its kubeconfig, whose context is `dunnage`."""
    pem = directory / "api.pem"
    pem.write_bytes(server.certificate + server.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    listening = Cluster(("127.0.0.1", 0), _Answering)
    listening.asked = []
    unknown = (401, {"kind": "Status", "code": 401, "message": "Unauthorized"})
    listening.answers = dict.fromkeys(("/version", WHOAMI, REVIEWS), unknown)
    listening.socket = context.wrap_socket(listening.socket, server_side=True)
    url = f"https://127.0.0.1:{listening.server_port}"
    file = directory / "kubeconfig"
    file.write_bytes(kubeconfig(url, authority, "me", user))
    with _served(listening):
        yield file


@contextmanager
def _served(server: Cluster) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
