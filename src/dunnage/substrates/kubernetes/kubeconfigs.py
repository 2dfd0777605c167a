"""Kubeconfigs: where the API server answers, whom to believe, and who asks."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what makes them takes long to load, and who writes one only copies it
    from dunnage.substrates.kubernetes.certificates import Credentials

_NAME = "dunnage"


def kubeconfig(server: str, authority: bytes, user: str, credentials: Credentials) -> bytes:
    """One for a single user; it holds that user's key. JSON is YAML as well.

    `server` is an URL, `authority` the certificate of who signed the server's.
    """
    cluster = {"server": server, "certificate-authority-data": _text(authority)}
    identity = {
        "client-certificate-data": _text(credentials.certificate),
        "client-key-data": _text(credentials.key),
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": _NAME, "cluster": cluster}],
        "users": [{"name": user, "user": identity}],
        "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": user}}],
        "current-context": _NAME,
    }
    return (json.dumps(config, indent=1) + "\n").encode()


def write_kubeconfig(file: Path, content: bytes) -> None:
    """Write one for whoever looks, that nobody else may read."""
    file.parent.mkdir(mode=0o700, exist_ok=True)
    file.touch(0o600)
    file.chmod(0o600)  # one of before may be open to others; all of it before it holds a key
    file.write_bytes(content)


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
