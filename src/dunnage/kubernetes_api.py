"""A Kubernetes' API as substrates and platforms both need it: a connection, and its errors as ours.

lightkube was chosen over the `kubernetes` client: it is much smaller, typed, and takes a transport,
so that a server in another network can be reached through a socket.
"""

from __future__ import annotations

import base64
import os
import ssl

import httpx2
from lightkube import ApiError, Client, ConfigError, KubeConfig, SingleConfig
from lightkube.config import client_adapter
from lightkube.config.models import Cluster

from dunnage.contracts.kubernetes import ApiServer

TIMEOUT = 30.0
"""Seconds that one call may take."""

Refused = (ApiError, httpx2.HTTPError, ConfigError, OSError)
"""Everything that a call can raise when the server refuses it or is not there."""


def connect(server: ApiServer, timeout: float = TIMEOUT) -> Client:
    """A client of a server's API, to be closed. Raises `Refused` when its kubeconfig is unusable.

    A server that is not there is found out by the first call.
    """
    config = _config(server)
    if server.socket is None:
        return Client(config, timeout=httpx2.Timeout(timeout))
    transport = httpx2.HTTPTransport(uds=server.socket, verify=_secured(config))
    there = config._replace(cluster=Cluster(server=config.cluster.server), user=config.user)
    return Client(there, timeout=httpx2.Timeout(timeout), transport=transport, trust_env=False)


def told(server: ApiServer, url: str, socket: str | None = None, timeout: float = TIMEOUT) -> str:
    """What a server answers to a question that is none of its API's, such as `/readyz`.

    An `url` without a host is asked of the API server; `socket` leads to another server of the same
    Kubernetes. Raises `Refused`, for every answer that is none of success too.
    """
    config = _config(server)
    transport = httpx2.HTTPTransport(uds=socket or server.socket, verify=_secured(config))
    with httpx2.Client(
        base_url=config.cluster.server, transport=transport, timeout=timeout, trust_env=False
    ) as client:
        return client.get(url).raise_for_status().text


def explanation(refusal: BaseException) -> str:
    """The server's own words."""
    return str(refusal).strip() or type(refusal).__name__


def _config(server: ApiServer) -> SingleConfig:
    config = KubeConfig.from_file(server.kubeconfig).get(server.context)
    if config is None or config.user is None:
        raise ConfigError(f"`{server.kubeconfig}` names no user")
    return config


def _secured(config: SingleConfig) -> ssl.SSLContext:
    """Believe only who signed the server's certificate, and show the user's.

    OpenSSL takes them from files only; those that lie in the kubeconfig are shown to it in memory.
    """
    cluster, user = config.cluster, config.user
    authority = base64.b64decode(cluster.certificate_auth_data or "").decode()
    context = ssl.create_default_context(cadata=authority)
    if user is not None and user.client_cert_data and user.client_key_data:
        both = (user.client_cert_data, user.client_key_data)
        memory = os.memfd_create("dunnage", os.MFD_CLOEXEC)
        try:
            os.write(memory, b"\n".join(map(base64.b64decode, both)))
            context.load_cert_chain(f"/proc/self/fd/{memory}")
        finally:
            os.close(memory)
    return context


def session(server: ApiServer, timeout: float = TIMEOUT) -> httpx2.Client:
    """The same without lightkube, for what it has no words for; to be closed. Raises `Refused`."""
    config = _config(server)
    if server.socket is None:
        known = client_adapter.ConnectionParams(timeout=httpx2.Timeout(timeout))
        return client_adapter.Client(config, known)
    return httpx2.Client(
        base_url=config.cluster.server,
        transport=httpx2.HTTPTransport(uds=server.socket, verify=_secured(config)),
        timeout=timeout,
        trust_env=False,
    )
