"""A lab of one database host and one client, with a Docker daemon on the database host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from docker import DockerClient

from dunnage.contracts.host import Host
from dunnage.docker_api import connect
from dunnage.hosts.namespace.testbed import NamespaceTestbed, open_namespace
from dunnage.model.choices import Cores
from dunnage.model.study import TestbedSpec
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.daemons import open_daemons


@dataclass(frozen=True)
class Lab:
    """Its hosts, and a client of the daemon."""

    testbed: NamespaceTestbed
    host: Host
    client: Host
    daemon: DockerClient


@contextmanager
def opened(name: str, *, steer: bool = True) -> Iterator[Lab]:
    """A lab of its own; where it does not `steer`, senders take in packets for receivers."""
    spec = TestbedSpec(
        kind="namespace", hosts={"db": 1, "client": 1}, cores=Cores.SHARED, steer=steer
    )
    with open_namespace(spec, name=name, engine=engine_path(), keep=False) as testbed:
        (host,), (client,) = testbed.group("db"), testbed.group("client")
        with (
            open_daemons(testbed, DebianSoftware().dockerd(), [host]) as daemons,
            closing(connect(daemons.daemon(host.name))) as daemon,
        ):
            yield Lab(testbed, host, client, daemon)
