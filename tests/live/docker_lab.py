"""A lab with Docker daemons, and stays of Redis in it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

import living
import pytest

from dunnage.contracts.host import Host
from dunnage.contracts.software import Tree
from dunnage.contracts.substrate import Substrate
from dunnage.contracts.testbed import Testbed
from dunnage.databases.redis.database import Redis
from dunnage.docker_api import connect
from dunnage.hosts.namespace.testbed import open_namespace
from dunnage.model.choices import Cores
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Reservation, Service, Software
from dunnage.model.study import TestbedSpec
from dunnage.platforms.docker import Docker
from dunnage.platforms.native import Native
from dunnage.runner.formation import form
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.daemons import Daemons, open_daemons

TREES = DebianSoftware()
NATIVE = living.deployed("native", "host", "host-port", name="native")
DOCKER_HOST = NATIVE.model_copy(update={"name": "docker-host", "platform": "docker"})
DOCKER_BRIDGE = DOCKER_HOST.model_copy(update={"name": "docker-bridge", "network": "bridge"})
USER_DEFINED = DOCKER_HOST.model_copy(update={"name": "docker-user", "network": "user-defined"})
VARIANTS = (NATIVE, DOCKER_HOST, DOCKER_BRIDGE, USER_DEFINED)
every_variant = pytest.mark.parametrize("deployment", VARIANTS, ids=lambda each: each.name)
native_and_docker = pytest.mark.parametrize(
    "deployment", (NATIVE, DOCKER_BRIDGE), ids=lambda each: each.name
)


@dataclass(frozen=True)
class Lab:
    testbed: Testbed
    substrate: Daemons

    @property
    def database_hosts(self) -> tuple[Host, ...]:
        return self.testbed.group("db")

    @property
    def client(self) -> Host:
        return self.testbed.group("client")[0]


@contextmanager
def opened() -> Iterator[Lab]:
    """A lab of its own; all is gone afterwards."""
    spec = TestbedSpec(kind="namespace", hosts={"db": 2, "client": 1}, cores=Cores.SHARED)
    with (
        open_namespace(spec, name="platforms", engine=engine_path(), keep=False) as testbed,
        open_daemons(testbed, TREES.dockerd(), testbed.hosts) as substrate,
    ):
        yield Lab(testbed, substrate)


def tree() -> Tree:
    return TREES.tree(Software("redis", "7.0"))


def cli(host: Host, address: object, *words: str) -> str:
    """What redis-cli on a host prints."""
    where, _, port = str(address).rpartition(":")
    host.put_tree(tree().source, tree().prefix)
    done = host.run([f"{tree().prefix}/bin/redis-cli", "-h", where, "-p", port, *words])
    return done.stdout + done.stderr


@contextmanager
def deployed(
    lab: Lab, deployment: Deployment, substrate: Substrate | None = None
) -> Iterator[tuple[Native | Docker, Reservation]]:
    """A stay of one deployment, formed; gone afterwards, which is checked."""
    with prepared(lab, deployment, substrate) as (platform, reservation):
        walk = partial(Redis().stages, deployment.database)
        formed = form(platform, walk, reservation, lab.testbed.clock, deadline=30.0)
        yield platform, formed.reservation


@contextmanager
def prepared(
    lab: Lab, deployment: Deployment, substrate: Substrate | None = None
) -> Iterator[tuple[Native | Docker, Reservation]]:
    """A stay of one deployment, reserved; what comes up in it is gone afterwards."""
    make: type[Native | Docker] = Native if deployment.platform == "native" else Docker
    platform = make(deployment, lab.database_hosts, substrate or lab.substrate, TREES, "b1-live")
    try:
        yield platform, platform.reserve(Redis().layout(deployment.database))
    finally:
        platform.down()
    assert traces(lab) == {}


def traces(lab: Lab) -> dict[str, list[str]]:
    """All that a stay could have left on the hosts, by what it is."""
    left: dict[str, list[str]] = {}

    def note(what: str, found: list[str]) -> None:
        if found:
            left.setdefault(what, []).extend(found)

    for host in lab.testbed.hosts:
        client = connect(lab.substrate.daemon(host.name))
        note("containers", [str(each.name) for each in client.containers.list(all=True)])
        note("volumes", [str(each.name) for each in client.volumes.list()])
        kinds = ("bridge", "host", "none")
        names = [str(each.name) for each in client.networks.list()]
        note("networks", [name for name in names if name not in kinds])
        client.close()
        processes = host.run(["sh", "-c", "cat /proc/[0-9]*/comm"]).stdout.split("\n")
        note("processes", [name for name in processes if name in ("redis-server", "docker-proxy")])
        mounts = host.run(["cat", "/proc/mounts"]).stdout.splitlines()
        note("mounts", [each for each in mounts if "/members/" in each or " overlay " in each])
        directories = host.run(["sh", "-c", f"ls {host.scratch}/members 2>/dev/null"]).stdout
        note("directories", directories.split())
    return left


def until(true: Callable[[], bool]) -> None:
    """Ask again and again, for a minute at most."""
    ends = time.monotonic() + 60.0
    while not true():
        assert time.monotonic() < ends, "it did not come true within a minute"
        time.sleep(0.05)


def first_services(deployment: Deployment, reservation: Reservation) -> tuple[Service, ...]:
    return Redis().stages(deployment.database, reservation)[0].services


def write_context(directory: Path, name: str, url: str) -> None:
    meta = directory / "contexts" / "meta" / sha256(name.encode()).hexdigest()
    meta.mkdir(parents=True)
    (directory / "config.json").write_text("{}")
    endpoint = {"docker": {"Host": url, "SkipTLSVerify": False}}
    (meta / "meta.json").write_text(
        json.dumps({"Name": name, "Metadata": {}, "Endpoints": endpoint})
    )
