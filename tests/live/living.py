"""A deployment that lives in a lab for a moment, without a study."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from dunnage import catalog
from dunnage.contracts.database import Database
from dunnage.contracts.host import Host
from dunnage.contracts.platform import Platform
from dunnage.contracts.testbed import Testbed
from dunnage.hosts.namespace.testbed import NamespaceTestbed
from dunnage.model.choices import ClientPlace, Peers, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Target
from dunnage.model.study import DatabaseSpec, Limits
from dunnage.runner.endpoint import allowed, resolved
from dunnage.runner.formation import form

P = TypeVar("P", bound=Platform)
REPLICAS = DatabaseSpec(kind="redis", version="7.0", topology="replicas", members=2)
STAY = "b1-live"
"""Name of the stay."""
_SECONDS = 120.0
"""Within which a service must be ready."""


def deployed(
    platform: str,
    network: str,
    endpoint: str,
    client: ClientPlace = ClientPlace.HOST,
    database: DatabaseSpec = REPLICAS,
    **changes: Any,
) -> Deployment:
    """A deployment on the hosts `db`."""
    known: dict[str, Any] = {
        "name": "tested",
        "title": "Tested",
        "platform": platform,
        "network": network,
        "endpoint": endpoint,
        "storage": Storage.BIND,
        "peers": Peers.ENDPOINT,
        "client": client,
        "hosts": "db",
        "limits": Limits(),
        "slowdown": 0.0,
        "database": database,
    }
    return Deployment(**(known | changes))


def client_of(testbed: Testbed) -> Host:
    """The only host for a client."""
    (client,) = testbed.group("client")
    return client


@dataclass(frozen=True)
class LabHosts:
    """The hosts of a lab: of members, and one client."""

    testbed: NamespaceTestbed

    @property
    def members(self) -> tuple[Host, ...]:
        return self.testbed.group("db")

    @property
    def client(self) -> Host:
        return client_of(self.testbed)


@contextmanager
def living(
    made: P, deployment: Deployment, testbed: Testbed, database: Database | None = None
) -> Iterator[tuple[P, Target, frozenset[str]]]:
    """A platform with its members up, what a generator needs of it, and where its connections may
    go."""
    spec = deployment.database
    what = database or catalog.DATABASES[spec.kind]()
    try:
        reservation = made.reserve(what.layout(spec))
        walk = partial(what.stages, spec)
        formed = form(made, walk, reservation, testbed.clock, _SECONDS).reservation
        target = what.target(spec, formed)
        yield made, target, allowed(target, resolved(target, [made.client(client_of(testbed))]))
    finally:
        made.down()
