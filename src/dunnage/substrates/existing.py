"""Docker daemons that are already there, each reached by a Docker context.

They are never started, stopped or held still; a study's own containers, networks and volumes are
the platform's to remove.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from docker.context import ContextAPI
from docker.tls import TLSConfig

from dunnage.contracts import Certificates, Daemon, Host, Substrate
from dunnage.docker_api import connect, translated
from dunnage.errors import UnavailableError
from dunnage.model.agreement import agreed
from dunnage.model.value import Scalar
from dunnage.substrates.inquiry import daemon_facts

_DEFAULT_PARENT = {"cgroupfs": "/docker", "systemd": "/system.slice"}
"""Where Docker puts containers when the daemon was not told, by cgroup driver."""


@contextmanager
def open_existing(contexts: Mapping[str, str], hosts: Sequence[Host]) -> Iterator[Substrate]:
    """Ask every host's daemon for itself; `contexts` maps a host to the name of its context.

    DOCKER_CONFIG is honoured. Raises UnavailableError when a host has no context, or its daemon
    does not answer.
    """
    yield Existing({host.name: _inquire(host, contexts.get(host.name)) for host in hosts})


class Existing:
    """Daemons of someone else's."""

    def __init__(self, daemons: Mapping[str, tuple[Daemon, Mapping[str, Scalar]]]) -> None:
        self._daemons = daemons

    def daemon(self, host: str) -> Daemon:
        return self._daemons[host][0]

    def wake(self) -> None:
        """They are awake."""

    def freeze(self, hosts: Collection[str] | None = None) -> None:
        """They are not ours to hold still; `facts` says so."""

    def mend(self, host: str) -> None:
        """Whoever owns a daemon brings it back."""

    def facts(self) -> Mapping[str, Scalar]:
        """What the daemons told of themselves."""
        facts = agreed({host: facts for host, (_, facts) in self._daemons.items()})
        return {**facts, "frozen_when_unused": False}


def container_group(info: Mapping[str, Any]) -> str:
    """Control group of a daemon's containers, from its `info`, where it was not told another."""
    parent = str(info.get("CgroupParent") or _DEFAULT_PARENT.get(info["CgroupDriver"], "/docker"))
    return "/" + parent.strip("/")


def _inquire(host: Host, context: str | None) -> tuple[Daemon, Mapping[str, Scalar]]:
    if context is None:
        raise UnavailableError(
            "no Docker context is named for this host under `substrate: contexts:`",
            where=host.name,
            hint="docker context ls",
        )
    url, certificates = endpoint(host, context)
    nominal = Daemon(host.name, url, (), "", certificates)
    with (
        translated(
            UnavailableError,
            f"the daemon of Docker context `{context}` does not answer",
            where=host.name,
            hint=shlex.join(["docker", "--context", context, "info"]),
        ),
        closing(connect(nominal)) as client,
    ):
        group = container_group(client.info())
        facts = {**daemon_facts(client, host, {}), "context": context}
    return Daemon(host.name, url, (), group, certificates), facts


def endpoint(host: Host, name: str) -> tuple[str, Certificates | None]:
    """Address of a context's daemon, and the files for TLS; UnavailableError when it has none."""
    try:
        context = ContextAPI.get_context(name)
    except Exception as error:  # the SDK raises a bare Exception for a damaged context file
        raise UnavailableError(
            f"Docker context `{name}` cannot be read: {error}",
            where=host.name,
            hint=shlex.join(["docker", "context", "inspect", name]),
        ) from error
    if context is None or not context.Host:
        _insist_on_configuration(host, name)
        raise UnavailableError(
            f"there is no Docker context `{name}` with a Docker endpoint",
            where=host.name,
            hint="docker context ls",
        )
    tls = context.TLSConfig
    if not isinstance(tls, TLSConfig) or tls.cert is None:
        return str(context.Host), None
    certificate, key = tls.cert
    return str(context.Host), Certificates(str(tls.ca_cert), certificate, key, bool(tls.verify))


def _insist_on_configuration(host: Host, name: str) -> None:
    """The SDK finds contexts only beside a `config.json`, which the command line does without."""
    directory = Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")
    configuration = directory / "config.json"
    if not configuration.exists():
        raise UnavailableError(
            f"Docker context `{name}` cannot be found without `{configuration}`",
            where=host.name,
            hint=f"echo '{{}}' > {shlex.quote(str(configuration))}",
        )
