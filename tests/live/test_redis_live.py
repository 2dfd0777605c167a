"""Real Redis servers on a loopback of their own, formed by walking the stages."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dunnage.contracts.software import Tree
from dunnage.databases.redis.database import Redis
from dunnage.model.layout import Address, Addresses, Place, Reservation, Service, Step
from dunnage.model.study import DatabaseSpec
from dunnage.software.trees import DebianSoftware

pytestmark = pytest.mark.live

ALL, PEER, CLIENT = "0.0.0.0", "127.0.0.1", "127.0.0.2"  # noqa: S104

# Mounts of its own for the tree's prefix, and a network of its own, so that ports are free.
HOME = """
mount -t tmpfs tmpfs /run && mkdir -p "$2" && mount --bind "$1" "$2" &&
ip link set lo up && echo ready && exec sleep 280
"""


@dataclass
class Loopback:
    """A namespace to run members in: a platform as small as can be."""

    tree: Tree
    directory: Path
    holder: subprocess.Popen[str]
    servers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def reserve(self, spec: DatabaseSpec, redis: Redis, *, apart: bool) -> Reservation:
        places = []
        for seat in redis.layout(spec).seats:
            home, data = self.directory / seat.member, self.directory / seat.member / "data"
            data.mkdir(parents=True)
            ports = {
                name: Addresses(
                    bind=Address(ALL if apart else PEER, port),
                    peer=Address(PEER, port),
                    contact=Address(CLIENT if apart else PEER, port),
                    advertised=Address(CLIENT if apart else PEER, port),
                )
                for name, port in seat.ports.items()
            }
            places.append(
                Place(
                    member=seat.member,
                    role=seat.role,
                    host="here",
                    home=str(home),
                    data=str(data),
                    prefix=self.tree.prefix,
                    ports=ports,
                )
            )
        return Reservation(tuple(places))

    def form(self, spec: DatabaseSpec, redis: Redis, reservation: Reservation) -> None:
        for stage in redis.stages(spec, reservation):
            for service in stage.services:
                self.start(service)
            for service in stage.services:
                ready = Step(
                    "ready",
                    service.member,
                    service.ready.argv,
                    done=lambda out, probe=service.ready: probe.expect in out,  # type: ignore[misc]
                )
                self.take([ready])
            self.take(stage.steps)

    def start(self, service: Service) -> None:
        for path, content in service.files.items():
            Path(path).write_text(content)
        with (self.directory / f"{service.member}.log").open("wb") as log:
            argv = self.inside(service.argv)
            self.servers.append(subprocess.Popen(argv, stdout=log, env=dict(service.env)))

    def take(self, steps: Sequence[Step]) -> dict[str, object]:
        facts: dict[str, object] = {}
        for step in steps:
            ends = time.monotonic() + step.deadline
            while True:
                done = subprocess.run(
                    self.inside(step.argv),
                    input=step.stdin,
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                )
                if done.returncode == 0 and step.done(done.stdout):
                    facts |= step.parse(done.stdout)
                    break
                assert time.monotonic() < ends, (step.name, step.member, done.stdout, done.stderr)
                time.sleep(0.02)
        return facts

    def cli(self, port: int, *words: str, host: str = PEER) -> str:
        argv = (f"{self.tree.prefix}/bin/redis-cli", "-h", host, "-p", str(port), *words)
        done = subprocess.run(
            self.inside(argv), capture_output=True, text=True, timeout=30, check=True
        )
        return done.stdout.strip()

    def inside(self, argv: Sequence[str]) -> list[str]:
        target = ["--target", str(self.holder.pid), "--mount", "--net"]
        return ["nsenter", *target, *argv]

    def close(self) -> None:
        for server in self.servers:
            server.send_signal(signal.SIGKILL)
            server.wait(10)
        self.holder.kill()
        self.holder.wait(10)


@pytest.fixture
def loopback(tmp_path: Path) -> Iterator[Loopback]:
    tree = DebianSoftware().tree(DatabaseTree)
    argv = ["unshare", "--mount", "--net", "sh", "-c", HOME, "home", str(tree.source), tree.prefix]
    holder = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    loopback = Loopback(tree, tmp_path, holder)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        yield loopback
    finally:
        loopback.close()


DatabaseTree = Redis().layout(DatabaseSpec(kind="redis")).software


def spec(topology: str, members: int, **more: object) -> DatabaseSpec:
    return DatabaseSpec.model_validate(
        {"kind": "redis", "topology": topology, "members": members, **more}
    )


def test_a_single_server_is_ready_and_tells_its_version(loopback: Loopback) -> None:
    redis, one = Redis(), spec("single", 1, settings={"io-threads": 2, "save": "900 1"})
    reservation = loopback.reserve(one, redis, apart=False)
    loopback.form(one, redis, reservation)
    facts = loopback.take(redis.facts(one, reservation))
    assert facts["redis-1.redis_version"] == loopback.tree.facts["version"]
    assert facts["redis-1.role"] == "master"
    assert facts["redis-1.io-threads"] == "2"
    assert facts["redis-1.save"] == "900 1"
    assert facts["redis-1.appendonly"] == "no"


def test_replicas_follow_and_a_reset_empties_all(loopback: Loopback) -> None:
    redis = Redis()
    three = spec("replicas", 3, consistency={"write": 2})
    reservation = loopback.reserve(three, redis, apart=False)
    loopback.form(three, redis, reservation)
    facts = loopback.take(redis.facts(three, reservation))
    assert [facts[f"redis-{i}.role"] for i in (1, 2, 3)] == ["master", "slave", "slave"]
    assert facts["redis-1.connected_slaves"] == "2"
    empty = loopback.take(redis.settle(three, reservation))["data_size"]
    loopback.cli(6379, "SET", "key", "x" * 100_000)
    assert loopback.cli(6379, "WAIT", "2", "5000") == "2"
    full = loopback.take(redis.settle(three, reservation))["data_size"]
    assert isinstance(empty, int)
    assert isinstance(full, int)
    assert full - empty >= 100_000
    assert loopback.cli(6381, "STRLEN", "key") == "100000"
    loopback.take(redis.reset(three, reservation))
    loopback.take(redis.settle(three, reservation))
    assert [loopback.cli(port, "DBSIZE") for port in (6379, 6380, 6381)] == ["0", "0", "0"]


def told_by_slots(loopback: Loopback) -> Mapping[str, list[str]]:
    """First slot of each range → every address that clients are told for it."""
    told = json.loads(loopback.cli(6379, "--json", "CLUSTER", "SLOTS"))
    return {str(first): [f"{host}:{port}" for host, port, *_ in nodes] for first, _, *nodes in told}


def test_a_cluster_of_three_serves_all_slots(loopback: Loopback) -> None:
    redis, three = Redis(), spec("cluster", 3)
    reservation = loopback.reserve(three, redis, apart=False)
    loopback.form(three, redis, reservation)
    assert told_by_slots(loopback) == {
        "0": ["127.0.0.1:6379"],
        "5461": ["127.0.0.1:6380"],
        "10923": ["127.0.0.1:6381"],
    }
    loopback.cli(6379, "-c", "SET", "somewhere", "x" * 50_000)
    size = loopback.take(redis.settle(three, reservation))["data_size"]
    assert isinstance(size, int)
    assert size >= 50_000
    loopback.take(redis.reset(three, reservation))
    assert [loopback.cli(port, "DBSIZE") for port in (6379, 6380, 6381)] == ["0", "0", "0"]


def test_a_cluster_of_six_tells_clients_their_address_and_uses_its_own(loopback: Loopback) -> None:
    redis, six = Redis(), spec("cluster", 6)
    reservation = loopback.reserve(six, redis, apart=True)
    loopback.form(six, redis, reservation)
    told = told_by_slots(loopback)
    assert {first: addresses[0] for first, addresses in told.items()} == {
        "0": "127.0.0.2:6379",
        "5461": "127.0.0.2:6380",
        "10923": "127.0.0.2:6381",
    }
    facts = loopback.take(redis.facts(six, reservation))
    assert [facts[f"redis-{i}.cluster_role"] for i in (1, 4)] == ["primary", "replica"]
    assert facts["redis-2.slots"] == "5461-10922"
    assert facts["redis-5.announced"] == "127.0.0.2:6383"
    nodes = loopback.cli(6379, "CLUSTER", "NODES").splitlines()
    assert all(line.split()[1].startswith("127.0.0.1:") for line in nodes)
    assert "master_host:127.0.0.1" in loopback.cli(6384, "INFO", "replication")
    redirected = loopback.cli(6380, "-c", "SET", "somewhere", "x", host=CLIENT)
    assert redirected == "OK"
    loopback.take(redis.settle(six, reservation))
    assert redis.target(six, reservation).endpoint == {Address(CLIENT, 6379 + i) for i in range(6)}
