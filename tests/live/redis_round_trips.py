"""A Redis and its client on one processor, and the time of one operation of a closed load.

With both on one processor an operation never waits for another one to wake up. In a virtual machine
that takes longer than all that is looked for, and is not the same twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from docker import DockerClient
from driving import carried_out
from insisted import insisted
from kubernetes_lab import TREES
from lab_networks import Device
from lab_traces import eventually

from dunnage.contracts.docker import Daemon
from dunnage.contracts.host import Host
from dunnage.docker_api import connect
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.layout import Address, Software, Target
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder
from dunnage.model.record import Measurement
from dunnage.platforms.image_of_tree import image_of
from dunnage.platforms.images import provide

PROCESSOR = max(os.sched_getaffinity(0))
"""The one: interrupts mostly go to the first."""
PINNED = ("taskset", "--cpu-list", str(PROCESSOR))
"""Carries out a command there."""
PORT = 6379
REDIS = Software("redis", "7.0")
_OPTIONS = (
    *("--port", str(PORT), "--bind", "0.0.0.0", "--protected-mode", "no"),  # noqa: S104 - a lab's
    *("--save", "", "--appendonly", "no"),
)
_RECORDS = 300
_WARMUP, _SECONDS = 0.2, 1.0
_READY, _ENDED = 20.0, 10.0


@dataclass(frozen=True)
class Way:
    """How a client reaches a server: from where, and by which address."""

    client: Host
    server: str
    """Its IPv4 address."""
    through: tuple[str, ...] = ()
    """Carries out a command in the client's network, where that is not its host's own."""
    over: Device | None = None
    """What every operation has to cross: it takes in packets that go one way, at least one each."""

    def fill(self) -> None:
        """Put all records in."""
        self._carried_out(Phase.LOAD)

    def microseconds(self) -> float:
        """What one read takes on average, one after the other, over about a second."""
        before = self._crossed()
        seen = self._carried_out(Phase.RUN, warmup=_WARMUP, duration=_SECONDS)
        operations = seen.operations["all"].count
        assert self.over is None or self._crossed() - before >= operations, self.over.name
        return seen.seconds * 1e6 / operations

    def _crossed(self) -> int:
        return 0 if self.over is None else self.over.received()

    def _carried_out(self, phase: Phase, **times: float) -> Measurement:
        address = Address(self.server, PORT)
        changes: dict[str, Any] = dict(times)
        order = LoadOrder(
            workload=Workload(name="C", core="C", phase=phase, records=_RECORDS),
            phase=phase,
            level=Level(threads=1),
            target=Target("redis", "single", (address,), frozenset({address}), {}),
            connections=1,
            arrivals=Arrivals.CONSTANT,
            timeout=5.0,
            seed=1,
            **changes,
        )
        seen = carried_out(self.client, order, (*self.through, *PINNED))
        assert seen.remotes == (str(address),)
        assert not seen.operations["all"].errors
        return seen


@contextmanager
def running(host: Host, through: Sequence[str] = ()) -> Iterator[None]:
    """A Redis as a process, in the network in which `through` carries out commands."""
    tree = TREES.tree(REDIS)
    host.put_tree(tree.source, tree.prefix)
    argv = (*through, *PINNED, f"{tree.prefix}/bin/redis-server", *_OPTIONS)
    process = host.start(argv, unit="redis", log=f"{host.scratch}/redis.log")
    try:
        _insist_it_answers(host, through)
        yield
    finally:
        process.signal("KILL")
        process.wait(_ENDED)


@contextmanager
def daemon_with_redis(daemon: Daemon) -> Iterator[DockerClient]:
    """A daemon's client; the daemon has the image of Redis."""
    with closing(connect(daemon)) as client:
        provide(client, TREES.tree(REDIS), daemon.host)
        yield client


@contextmanager
def contained(host: Host, client: DockerClient, security: Sequence[str]) -> Iterator[str]:
    """A Redis in a container in its host's network, under these security options of Docker's.

    Gives its mode of seccomp as the kernel tells it, proc(5): `0` without a filter, `2` with one.
    """
    tree = TREES.tree(REDIS)
    host.put_tree(tree.source, tree.prefix)
    container = client.containers.create(
        image_of(tree),
        entrypoint=[f"{tree.prefix}/bin/redis-server"],
        command=list(_OPTIONS),
        network_mode="host",
        security_opt=list(security),
    )
    try:
        container.start()
        _insist_it_answers(host, ())
        container.reload()
        pid = str(container.attrs["State"]["Pid"])
        insisted(host, "taskset", "--all-tasks", "--cpu-list", "--pid", str(PROCESSOR), pid)
        yield insisted(host, "sed", "-n", r"s/^Seccomp:\s*//p", f"/proc/{pid}/status").strip()
    finally:
        container.remove(v=True, force=True)


def _insist_it_answers(host: Host, through: Sequence[str]) -> None:
    ping = (*through, f"{TREES.tree(REDIS).prefix}/bin/redis-cli", "-p", str(PORT), "PING")
    assert eventually(lambda: host.run(ping).stdout.strip() == "PONG", _READY)
