"""Redis servers on a loopback of their own, and the engine that drives them there."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from own_servers import ENVIRONMENT, OwnServers

from dunnage.generators.engine import plan
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.layout import Address, Software, Target
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder

RECORDS = 500
FIRST_KEY = "user6284781860667377211"
"""The key of the first record that a load phase inserts."""


class Place(OwnServers):
    """A loopback with Redis servers."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, Software("redis", "7.0"))
        self.asking: Sequence[str] = ()
        """Words by which `redis-cli` reaches the servers."""
        self.password = ""
        """What it logs in with."""

    def cli(self, port: int, *words: str) -> str:
        program = (f"{self.prefix}/bin/redis-cli", *self.asking, "-p", str(port))
        variables = {"REDISCLI_AUTH": self.password} if self.password else {}
        done = subprocess.run(
            self.inside(*program, *words),
            check=False,
            capture_output=True,
            text=True,
            env=ENVIRONMENT | variables,
        )
        return done.stdout.strip()

    def start(self, port: int, *options: str, lines: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """A server that answers. `lines` of its configuration are on no command line."""
        home = self.directory / str(port)
        home.mkdir()
        configuration = home / "redis.conf"
        configuration.write_text("".join(f"{line}\n" for line in lines))
        base = ("--port", str(port), "--save", "", "--dir", str(home), "--appendonly", "no")
        at_once = ("--repl-diskless-sync-delay", "0")  # other replicas are not waited for
        program = (f"{self.prefix}/bin/redis-server", str(configuration))
        argv = self.inside(*program, *base, *at_once, *options)
        self.servers.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL))
        self.until(lambda: self.cli(port, "ping") == "PONG", f"a server at {port}")
        return self.servers[-1]

    def replica(self, port: int, primary: int) -> None:
        """A server that has what another one has."""
        self.start(port, "--replicaof", "127.0.0.1", str(primary))
        self.until(
            lambda: "master_link_status:up" in self.cli(port, "info", "replication"), "the replica"
        )

    def cluster(self, ports: Sequence[int], replicas: int) -> None:
        """Make one of servers that were started for it."""
        members = [f"127.0.0.1:{port}" for port in ports]
        create = ("--cluster", "create", *members, "--cluster-replicas", str(replicas))
        self.cli(ports[0], *create, "--cluster-yes")
        for port in ports:
            self.until(partial(self._joined, port, ports), f"a cluster at {port}")

    def _joined(self, port: int, ports: Sequence[int]) -> bool:
        """Whether a server has its cluster, and tells clients of all its servers.

        It tells of no replica before that has said how far it has come, which takes seconds.
        """
        served = "cluster_state:ok" in self.cli(port, "cluster", "info")
        told = self.cli(port, "cluster", "slots").splitlines()
        return served and {str(each) for each in ports} <= set(told)

    def until(self, true: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + 20
        while not true():
            assert time.monotonic() < deadline, f"{what} did not come"
            time.sleep(0.05)

    def calls(self, port: int, command: str) -> int:
        """How often a server was asked for a command, as it says itself."""
        for line in self.cli(port, "info", "commandstats").splitlines():
            name, _, counts = line.partition(":")
            if name == f"cmdstat_{command}":
                return int(counts.partition("calls=")[2].partition(",")[0])
        return 0


@contextmanager
def opened(directory: Path) -> Iterator[Place]:
    """A place without servers yet; it ends with all that it has."""
    home = Place(directory)
    try:
        yield home
    finally:
        home.close()


def order(
    core: str = "A",
    phase: Phase = Phase.RUN,
    topology: str = "single",
    level: Level | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """A plan for the server at 6379, or for those that it tells of."""
    address = Address("127.0.0.1", 6379)
    content = plan(
        LoadOrder(
            workload=Workload.model_validate(
                {"name": core, "core": core, "phase": phase, "records": RECORDS}
            ),
            phase=phase,
            level=level or Level(threads=4),
            target=Target("redis", topology, (address,), frozenset({address}), {}),
            connections=64,
            arrivals=Arrivals.CONSTANT,
            warmup=0.1,
            duration=None if phase is Phase.LOAD else 0.5,
            operations=None,
            timeout=5.0,
            seed=1,
        ),
        0,
        1,
    )
    return {**content, **changes}


def targeted(content: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """The same plan for another target."""
    return {**content, "target": {**content["target"], **changes}}


def working(content: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """The same plan with another workload."""
    return {**content, "workload": {**content["workload"], **changes}}
