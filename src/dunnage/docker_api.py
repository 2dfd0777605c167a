"""Docker's API as substrates and platforms both need it: a connection, and its errors as ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import docker
import docker.tls
import requests
from docker.errors import DockerException

from dunnage.contracts.docker import Certificates, Daemon
from dunnage.errors import DunnageError

TIMEOUT = 120.0
"""Seconds that one call may take; a container's graceful stop is the longest."""

Refused = (DockerException, requests.RequestException, OSError)
"""Everything that a call can raise when the daemon refuses it or is not there."""


def connect(daemon: Daemon, timeout: float = TIMEOUT) -> docker.DockerClient:
    """Connect to a daemon in the newest version of the API that it speaks. Raises `Refused`."""
    certificates = daemon.certificates
    tls: docker.tls.TLSConfig | bool = False
    if certificates is not None:
        tls = _ContextTLS(certificates, daemon.url)
    return docker.DockerClient(
        base_url=daemon.url,
        version="auto",
        timeout=int(timeout),
        tls=tls,
        use_ssh_client=daemon.url.startswith("ssh://"),
    )


class _ContextTLS(docker.tls.TLSConfig):
    """TLS by the authority of a context, through the proxies of the environment.

    Where the environment names another authority (REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE), `requests`
    would trust that one in its place.
    """

    def __init__(self, certificates: Certificates, url: str) -> None:
        super().__init__(
            ca_cert=certificates.authority,
            client_cert=(certificates.certificate, certificates.key),
            verify=certificates.verify,
        )
        self._url = url.replace("tcp://", "https://", 1)

    def configure_client(self, client: docker.APIClient) -> None:
        super().configure_client(client)
        client.proxies = requests.utils.get_environ_proxies(self._url)
        client.trust_env = False


@contextmanager
def translated(error: type[DunnageError], what: str, *, where: str, hint: str) -> Iterator[None]:
    """Raise `error` saying `what` and the daemon's own explanation in place of `Refused`."""
    try:
        yield
    except Refused as refusal:
        raise error(f"{what}: {explanation(refusal)}", where=where, hint=hint) from refusal


def explanation(refusal: BaseException) -> str:
    """The daemon's own words, without the address of the call."""
    return str(getattr(refusal, "explanation", None) or refusal).strip()
