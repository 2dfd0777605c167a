"""Docker daemons that are already there, each reached by a Docker context.

They are never started, stopped or held still; a study's own containers, networks and volumes are
the platform's to remove.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import docker
from docker.context import ContextAPI
from docker.tls import TLSConfig

from dunnage.contracts.docker import Certificates, Daemon
from dunnage.contracts.host import Host
from dunnage.docker_api import connect, translated
from dunnage.errors import UnavailableError
from dunnage.model.agreement import agreed
from dunnage.model.value import Scalar
from dunnage.substrates.inquiry import daemon_facts


@contextmanager
def open_existing(contexts: Mapping[str, str], hosts: Sequence[Host]) -> Iterator[Existing]:
    """Ask every host's daemon for itself; `contexts` maps a host to the name of its context.

    DOCKER_CONFIG is honoured. Raises UnavailableError when a host has no context, or its daemon
    does not answer.
    """
    yield Existing({host.name: inquire(host, contexts, "docker") for host in hosts})


@dataclass(frozen=True)
class Reached:
    """A daemon of someone else's, and what it told of itself."""

    context: str
    daemon: Daemon
    info: Mapping[str, Any]
    """Its answer to `info`."""
    facts: Mapping[str, Scalar] = field(default_factory=dict)


class Existing:
    """Daemons of someone else's."""

    def __init__(self, reached: Mapping[str, Reached]) -> None:
        self._reached = reached

    def daemon(self, host: str) -> Daemon:
        return self._reached[host].daemon

    def units(self, host: str) -> tuple[str, ...]:  # noqa: ARG002  # they are no unit of ours
        return ()

    def wake(self) -> None:
        """They are awake."""

    def freeze(self, hosts: Collection[str] | None = None) -> None:
        """They are not ours to hold still; `facts` says so."""

    def mend(self, host: str) -> None:
        """Whoever owns a daemon brings it back."""

    def facts(self) -> Mapping[str, Scalar]:
        """What the daemons told of themselves."""
        facts = agreed({host: each.facts for host, each in self._reached.items()})
        return {**facts, "frozen_when_unused": False}


def inquire(host: Host, contexts: Mapping[str, str], family: str) -> Reached:
    """What the daemon of a host tells of itself; `family` is where the study names its context."""
    context = contexts.get(host.name)
    if context is None:
        raise UnavailableError(
            f"no Docker context is named for this host under `substrate: {family}: contexts:`",
            where=host.name,
            hint="docker context ls",
        )
    with reached(host.name, context) as (there, client):
        return replace(there, facts={**daemon_facts(client, host, {}), "context": context})


@contextmanager
def reached(where: str, context: str) -> Iterator[tuple[Reached, docker.DockerClient]]:
    """A connection to the daemon of a context; UnavailableError at `where` when it fails."""
    url, certificates = endpoint(where, context)
    daemon = Daemon(where, url, certificates, ours=False)
    with (
        translated(
            UnavailableError,
            f"the daemon of Docker context `{context}` does not answer",
            where=where,
            hint=asking(context),
        ),
        closing(connect(daemon)) as client,
    ):
        info = client.info()
        yield Reached(context, daemon, info), client


def asking(context: str) -> str:
    """The command that shows what the daemon of a context says."""
    return shlex.join(["docker", "--context", context, "info"])


def endpoint(where: str, name: str) -> tuple[str, Certificates | None]:
    """Address of a context's daemon, and the files for TLS; UnavailableError when it has none."""
    try:
        context = ContextAPI.get_context(name)
    except Exception as error:  # the SDK raises a bare Exception for a damaged context file
        raise UnavailableError(
            f"Docker context `{name}` cannot be read: {error}",
            where=where,
            hint=shlex.join(["docker", "context", "inspect", name]),
        ) from error
    if context is None or not context.Host:
        _insist_on_configuration(where, name)
        raise UnavailableError(
            f"there is no Docker context `{name}` with a Docker endpoint",
            where=where,
            hint="docker context ls",
        )
    tls = context.TLSConfig
    if not isinstance(tls, TLSConfig) or tls.cert is None:
        return str(context.Host), None
    certificate, key = tls.cert
    return str(context.Host), Certificates(str(tls.ca_cert), certificate, key, bool(tls.verify))


def _insist_on_configuration(where: str, name: str) -> None:
    """The SDK finds contexts only beside a `config.json`, which the command line does without."""
    directory = Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")
    configuration = directory / "config.json"
    if not configuration.exists():
        raise UnavailableError(
            f"Docker context `{name}` cannot be found without `{configuration}`",
            where=where,
            hint=f"echo '{{}}' > {shlex.quote(str(configuration))}",
        )
