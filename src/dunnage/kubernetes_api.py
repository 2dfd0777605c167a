"""A Kubernetes' API as substrates and platforms both need it: a connection, and its errors as ours.

lightkube was chosen over the `kubernetes` client: it is much smaller, typed, and takes a transport,
so that a server in another network can be reached through a socket.
"""

from __future__ import annotations

import base64
import os
import shutil
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import httpx2
from cryptography import x509
from lightkube import ApiError, Client, ConfigError, KubeConfig, SingleConfig
from lightkube.config import client_adapter
from lightkube.config.models import Cluster, User
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from dunnage.contracts.kubernetes import ApiServer

TIMEOUT = 30.0
"""Seconds that one call may take."""

Refused = (ApiError, httpx2.HTTPError, ConfigError, OSError)
"""Everything that a call can raise when the server refuses it or is not there."""

UNAUTHORIZED, FORBIDDEN, GONE, TAKEN = 401, 403, 404, 409
"""HTTP status where nobody is known to ask, of what may not be done, of what is not there, and of a
name that is taken."""


def connect(server: ApiServer) -> Client:
    """A client of a server's API, to be closed. Raises ConfigError, which is one of `Refused`, when
    its kubeconfig is unusable.

    A server that is not there is found out by the first call.
    """
    with _usable(server.kubeconfig):
        config = _config(server)
        if server.socket is None:
            return _of_any_kind(Client(config, timeout=httpx2.Timeout(TIMEOUT)))
        transport = httpx2.HTTPTransport(uds=server.socket, verify=_secured(config))
        there = config._replace(cluster=Cluster(server=config.cluster.server), user=config.user)
        waiting = httpx2.Timeout(TIMEOUT)
        return _of_any_kind(Client(there, timeout=waiting, transport=transport, trust_env=False))


def _of_any_kind(client: Client) -> Client:
    """A client that takes refusals without a Content-Type, such as a balancer's; lightkube asks
    for that of each, and has no way to give hooks to what it asks by."""

    def name_one(answer: httpx2.Response) -> None:
        answer.headers.setdefault("Content-Type", "")

    client._client._client.event_hooks = {"response": [name_one]}
    return client


def told(server: ApiServer, url: str, socket: str | None = None, timeout: float = TIMEOUT) -> str:
    """What a server answers to a question that is none of its API's, such as `/readyz`.

    An `url` without a host is asked of the API server; `socket` leads to another server of the same
    Kubernetes. Raises `Refused`, for every answer that is none of success too.
    """
    with _usable(server.kubeconfig):
        config = _config(server)
        secured = _secured(config)
    transport = httpx2.HTTPTransport(uds=socket or server.socket, verify=secured)
    with httpx2.Client(
        base_url=config.cluster.server, transport=transport, timeout=timeout, trust_env=False
    ) as client:
        return client.get(url).raise_for_status().text


def address(server: ApiServer) -> str:
    """The URL where a server answers. Raises ConfigError."""
    return _config(server).cluster.server


def certificate_ends(server: ApiServer) -> datetime | None:
    """When the certificate of a kubeconfig's user is over; None if it has none. Raises `Refused`.

    A server says no more of that than that it does not know who asks.
    """
    with _usable(server.kubeconfig):
        user = _config(server).user
        if user is None or not _certified(user):
            return None
        if user.client_cert_data:
            certificate = base64.b64decode(user.client_cert_data)
        else:
            certificate = Path(server.kubeconfig.parent, str(user.client_cert)).read_bytes()
        return x509.load_pem_x509_certificate(certificate).not_valid_after_utc


def version(asked: httpx2.Client) -> str:
    """What an API server says of its release, such as `v1.34.2`; raises `Refused`."""
    answer = asked.get("/version")
    if not answer.is_success:
        raise refusal_of(answer)
    return str(answer.json().get("gitVersion", ""))


def refusal_of(answer: httpx2.Response) -> httpx2.HTTPStatusError:
    """What the cluster says in an answer. Not every answer of a server that starts is an object."""
    if answer.headers.get("Content-Type") == "application/json":
        return ApiError(request=answer.request, response=answer)
    said = f"HTTP status {answer.status_code}: {answer.text.strip()}"
    return httpx2.HTTPStatusError(said, request=answer.request, response=answer)


def status_of(refusal: BaseException | None) -> int:
    """HTTP status of what an API server refused in its own words; 0 of all else."""
    return refusal.response.status_code if isinstance(refusal, ApiError) else 0


def explanation(refusal: BaseException) -> str:
    """The server's own words."""
    return str(refusal).strip() or type(refusal).__name__


@contextmanager
def _usable(kubeconfig: Path) -> Iterator[None]:
    """Say what is wrong with certificates and keys that a kubeconfig has or names."""
    try:
        yield
    except (OSError, ValueError) as error:
        told = f"what `{kubeconfig}` says of certificates cannot be used: {explanation(error)}"
        raise ConfigError(told) from error


def _config(server: ApiServer) -> SingleConfig:
    """What a kubeconfig says of a context; raises ConfigError."""
    known = _read(server.kubeconfig)
    name = server.context or known.current_context
    if name is None:
        raise ConfigError(f"`{server.kubeconfig}` has no current context")
    context = known.contexts.get(name)
    if context is None:
        raise ConfigError(f"`{server.kubeconfig}` has no context `{name}`")
    cluster = known.clusters.get(context.cluster)
    user = known.users.get(context.user or "")
    for kind, named, found in (("cluster", context.cluster, cluster), ("user", context.user, user)):
        if found is None:
            lacks = f"a {kind} `{named}` that it has not" if named else f"no {kind}"
            raise ConfigError(f"context `{name}` of `{server.kubeconfig}` names {lacks}")
    if user is not None and _certified(user) and not (user.client_key or user.client_key_data):
        raise ConfigError(f"user `{context.user}` of `{server.kubeconfig}` has no key")
    if user is not None and (lacks := _lacks(user)):
        raise ConfigError(f"user `{context.user}` of `{server.kubeconfig}` names {lacks}")
    config = known.get(name)
    if config is None or not _leads_somewhere(config.cluster.server):
        raise ConfigError(f"context `{name}` of `{server.kubeconfig}` names no URL of a server")
    return config


def _read(file: Path) -> KubeConfig:
    """A kubeconfig; raises ConfigError where it is none. `kubectl` writes `null` for no list."""
    try:
        told = YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))
        if not isinstance(told, dict):
            what = "no mapping" if told is not None else "empty"
            raise ConfigError(f"`{file}` is no kubeconfig: it is {what}")
        lists = {each: told.get(each) or [] for each in ("clusters", "contexts", "users")}
        return KubeConfig.from_dict({**told, **lists}, fname=file)
    except OSError as error:
        raise ConfigError(f"`{file}` cannot be read: {error.strerror}") from error
    except YAMLError as error:
        raise ConfigError(f"`{file}` is not YAML{_line(error)}") from None  # it may tell of keys
    except KeyError as error:
        raise ConfigError(f"`{file}` is no kubeconfig: a part of it has no {error}") from error
    except (AttributeError, TypeError, ValueError) as error:  # a text where a mapping should be
        raise ConfigError(f"`{file}` is no kubeconfig: {explanation(error)}") from error


def _line(error: YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f": see its line {mark.line + 1}" if mark is not None else ""


def _certified(user: User) -> bool:
    return bool(user.client_cert or user.client_cert_data)


def _lacks(user: User) -> str:
    """What the first question would fail for, of what is needed only then; empty for nothing."""
    if user.token_file is not None:
        readable = Path(user.token_file).is_file() and os.access(user.token_file, os.R_OK)
        return "" if readable else f"the file `{user.token_file}`, which cannot be read"
    if user.token is not None or user.exec is None:
        return ""
    own = (each.value for each in user.exec.env or () if each.name == "PATH")
    found = shutil.which(user.exec.command, path=next(own, None))
    return "" if found else f"the program `{user.exec.command}`, which is not there"


def _leads_somewhere(server: str) -> bool:
    try:
        url = httpx2.URL(server)
    except httpx2.InvalidURL:
        return False
    return url.scheme in {"http", "https"} and bool(url.host)


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


def session(server: ApiServer) -> httpx2.Client:
    """The same without lightkube, for what it has no words for; to be closed. Raises `Refused`."""
    with _usable(server.kubeconfig):
        config = _config(server)
        if server.socket is None:
            known = client_adapter.ConnectionParams(timeout=httpx2.Timeout(TIMEOUT))
            return client_adapter.Client(config, known)
        return httpx2.Client(
            base_url=config.cluster.server,
            transport=httpx2.HTTPTransport(uds=server.socket, verify=_secured(config)),
            timeout=TIMEOUT,
            trust_env=False,
        )
