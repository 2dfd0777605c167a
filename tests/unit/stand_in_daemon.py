"""A stand-in for a Docker daemon: answers the few questions that substrates ask, over a socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any

VERSION = {"ApiVersion": "1.41", "Version": "20.10", "Components": []}
INFO = {
    "ServerVersion": "20.10",
    "Driver": "overlay2",
    "CgroupDriver": "cgroupfs",
    "DefaultRuntime": "runc",
}
CLUSTER = {
    "ID": "cluster",
    "DefaultAddrPool": ["10.66.0.0/16"],
    "SubnetSize": 24,
    "Spec": {
        "Orchestration": {"TaskHistoryRetentionLimit": 5},
        "Raft": {"HeartbeatTick": 1, "ElectionTick": 10, "SnapshotInterval": 10000},
        "Dispatcher": {"HeartbeatPeriod": 5_000_000_000},
        "EncryptionConfig": {"AutoLockManagers": False},
    },
}


def in_swarm(node: str, *, manager: bool = False, state: str = "active") -> Mapping[str, Any]:
    """What `info` says of the Swarm on a node of it."""
    told = {"NodeID": node, "LocalNodeState": state, "ControlAvailable": manager, "Error": "why"}
    return told | ({"Nodes": 3, "Managers": 1, "Cluster": CLUSTER} if manager else {})


def listed(node: str, state: str = "ready") -> Mapping[str, Any]:
    """A node in the manager's list."""
    return {"ID": node, "Status": {"State": state, "Message": "" if state == "ready" else "why"}}


@contextmanager
def standing_in(
    socket: Path,
    swarm: Mapping[str, Any] | None = None,
    nodes: tuple[Mapping[str, Any], ...] = (),
) -> Iterator[str]:
    """A daemon that answers on a socket; yields its address."""
    info = {**INFO, "Swarm": swarm or {"LocalNodeState": "inactive", "NodeID": ""}}
    answers = {"version": VERSION, "info": info, "nodes": nodes, "networks": []}

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            question = self.path.partition("?")[0].rpartition("/")[2]
            text = json.dumps(answers[question]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """It keeps quiet."""

        def address_string(self) -> str:
            return "socket"

    with ThreadingUnixStreamServer(str(socket), Answering) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"unix://{socket}"
        server.shutdown()


def write_context(directory: Path, name: str, url: str, *, certificates: bool = False) -> None:
    """Write a Docker context, with files for TLS that hold none."""
    identity = sha256(name.encode()).hexdigest()
    meta = directory / "contexts" / "meta" / identity
    meta.mkdir(parents=True)
    told = {"docker": {"Host": url, "SkipTLSVerify": False}}
    (meta / "meta.json").write_text(json.dumps({"Name": name, "Metadata": {}, "Endpoints": told}))
    (directory / "config.json").write_text("{}")
    if certificates:
        tls = directory / "contexts" / "tls" / identity / "docker"
        tls.mkdir(parents=True)
        for file in ("ca.pem", "cert.pem", "key.pem"):
            (tls / file).write_text("certificate")
