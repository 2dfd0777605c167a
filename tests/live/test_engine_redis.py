"""The engine against a real Redis on a loopback of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from own_loopback import OwnLoopback

from dunnage.generators.engine import EngineGenerator, plan
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.layout import Address, Software, Target
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder
from dunnage.model.record import Measurement
from dunnage.software.engine import engine_path

pytestmark = pytest.mark.live

RECORDS = 500


class Place:
    """A loopback with Redis servers."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.loopback = OwnLoopback(Software("redis", "7.0"))
        self.inside, self.prefix = self.loopback.inside, self.loopback.prefix
        self.servers: list[subprocess.Popen[bytes]] = []

    def cli(self, port: int, *words: str) -> str:
        argv = self.inside(f"{self.prefix}/bin/redis-cli", "-p", str(port), *words)
        return subprocess.run(argv, check=False, capture_output=True, text=True).stdout.strip()

    def start(self, port: int, *options: str) -> subprocess.Popen[bytes]:
        home = self.directory / str(port)
        home.mkdir()
        base = ("--port", str(port), "--save", "", "--dir", str(home), "--appendonly", "no")
        argv = self.inside(f"{self.prefix}/bin/redis-server", *base, *options)
        self.servers.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL))
        self.until(lambda: self.cli(port, "ping") == "PONG", f"a server at {port}")
        return self.servers[-1]

    def until(self, true: Any, what: str) -> None:
        deadline = time.monotonic() + 20
        while not true():
            assert time.monotonic() < deadline, f"{what} did not come"
            time.sleep(0.05)

    def load(self, content: dict[str, Any]) -> Measurement:
        out = self.directory / f"load-{len(list(self.directory.iterdir()))}"
        out.mkdir()
        (out / "plan.json").write_text(json.dumps(content))
        argv = self.inside(
            str(engine_path()), "load", "--plan", str(out / "plan.json"), "--out", str(out)
        )
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        left = {name: (out / name).read_bytes() for name in ("result.json", "latency.hlog")}
        return EngineGenerator().parse([left])

    def close(self) -> None:
        for server in self.servers:
            server.kill()
            server.wait()
        self.loopback.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    home = Place(tmp_path)
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


def errors(measured: Measurement) -> dict[str, int]:
    return dict(measured.operations["all"].errors)


def test_records_lie_in_ycsbs_own_shape(place: Place) -> None:
    place.start(6379)
    measured = place.load(order(phase=Phase.LOAD))
    assert measured.operations["insert"].count == RECORDS
    assert place.cli(6379, "dbsize") == str(RECORDS + 1)
    assert place.cli(6379, "zcard", "_indices") == str(RECORDS)
    assert place.cli(6379, "hlen", "user6284781860667377211") == "10"
    assert place.cli(6379, "hstrlen", "user8517097267634966620", "field9") == "100"


@pytest.mark.parametrize("core", ["A", "B", "C", "D", "E", "F"])
def test_every_core_workload_runs_without_an_error(place: Place, core: str) -> None:
    place.start(6379)
    place.load(order(phase=Phase.LOAD))
    measured = place.load(order(core))
    assert errors(measured) == {}
    assert measured.operations["all"].count > 0
    assert measured.remotes == ("127.0.0.1:6379",)


@pytest.mark.parametrize("fields", ["all-by-name", "one"])
def test_fields_that_are_asked_for_by_name_are_found(place: Place, fields: str) -> None:
    place.start(6379)
    place.load(order(phase=Phase.LOAD))
    content = order("F")
    content["workload"]["read_fields"] = fields
    measured = place.load(content)
    assert errors(measured) == {}
    assert measured.operations["all"].count > 0


def test_poisson_arrivals_offer_the_rate_and_have_response_times(place: Place) -> None:
    place.start(6379)
    place.load(order(phase=Phase.LOAD))
    content = order("B", level=Level(rate=2000), duration=3.0)
    content["level"]["arrivals"] = "poisson"
    measured = place.load(content)
    everything = measured.operations["all"]
    assert errors(measured) == {}
    assert everything.response is not None
    # What was meant for the window but answered after it has a latency, and is not counted.
    assert everything.response.count >= everything.count > 0
    # 6000 arrivals vary by 1.3 % (one standard deviation), so 5 % is beyond chance.
    assert measured.offered == pytest.approx(2000.0, rel=0.05)


def test_a_record_that_is_not_there_is_an_error(place: Place) -> None:
    place.start(6379)
    measured = place.load(order("C", operations=100, duration=None))
    assert errors(measured) == {"not_found": 100}


def test_a_cluster_is_discovered_and_moved_slots_are_followed(place: Place) -> None:
    ports = (6379, 6380, 6381)
    for port in ports:
        place.start(port, "--cluster-enabled", "yes")
    members = [f"127.0.0.1:{port}" for port in ports]
    place.cli(6379, "--cluster", "create", *members, "--cluster-yes")
    for port in ports:
        place.until(
            lambda port=port: "cluster_state:ok" in place.cli(port, "cluster", "info"), "ok"
        )
    loaded = place.load(order(phase=Phase.LOAD, topology="cluster"))
    assert (errors(loaded), loaded.remotes) == ({}, tuple(members))
    sizes = [int(place.cli(port, "dbsize")) for port in ports]
    assert sum(sizes) == RECORDS + 1
    assert min(sizes) > 0

    receiver = place.cli(6380, "cluster", "myid")
    argv = (
        "--cluster",
        "reshard",
        members[0],
        "--cluster-from",
        place.cli(6379, "cluster", "myid"),
    )
    mover = threading.Thread(
        target=place.cli,
        args=(6379, *argv, "--cluster-to", receiver, "--cluster-slots", "500", "--cluster-yes"),
    )
    mover.start()
    try:
        measured = place.load(order("F", topology="cluster", duration=2.0))
    finally:
        mover.join()
    assert errors(measured) == {}
    scanned = place.load(order("E", topology="cluster"))
    assert errors(scanned) == {}


def test_writes_wait_for_replicas_and_too_few_acknowledgements_are_errors(place: Place) -> None:
    place.start(6379)
    place.start(6380, "--replicaof", "127.0.0.1", "6379")
    place.until(
        lambda: "master_link_status:up" in place.cli(6380, "info", "replication"), "the replica"
    )

    def waiting(replicas: int) -> dict[str, Any]:
        content = order(phase=Phase.LOAD, topology="replicas", level=Level(threads=8))
        content["target"]["options"] = {"wait": replicas}
        return {**content, "workload": {**content["workload"], "records": 8}}

    assert errors(place.load(waiting(1))) == {}
    assert errors(place.load(waiting(2))) == {"server": 8}


def test_a_server_that_goes_away_and_comes_back_costs_errors_but_not_the_run(place: Place) -> None:
    server = place.start(6379)
    place.load(order(phase=Phase.LOAD))
    content = order("A", duration=8.0, warmup=0.0)

    def restart() -> None:
        time.sleep(1.0)
        server.kill()
        server.wait()
        (place.directory / "6379").rename(place.directory / "before")
        place.start(6379)

    trouble = threading.Thread(target=restart)
    trouble.start()
    measured = place.load(content)
    trouble.join()
    assert errors(measured)["connection"] > 0
    assert measured.windows[-1].operations > 0


@pytest.mark.quiet
def test_a_stall_of_two_seconds_is_in_the_response_times(place: Place) -> None:
    """Known answer at load ρ: the queue drains at 1 − ρ, so response p99 = 2 − 0.15 (1 − ρ) s."""
    server = place.start(6379)
    place.load(order(phase=Phase.LOAD))
    closed = place.load(order("C", level=Level(threads=64), duration=2.0))
    capacity = closed.operations["all"].count / closed.seconds
    rate, seconds = 2000.0, 15.0
    stopped: list[float] = []

    def stall() -> None:
        time.sleep(7)
        began = time.monotonic()
        server.send_signal(signal.SIGSTOP)
        time.sleep(2)
        server.send_signal(signal.SIGCONT)
        stopped.append(time.monotonic() - began)

    trouble = threading.Thread(target=stall)
    trouble.start()
    measured = place.load(order("C", level=Level(rate=rate), duration=seconds, warmup=1.0))
    trouble.join()
    everything = measured.operations["all"]
    assert errors(measured) == {}
    assert everything.response is not None
    assert everything.service is not None
    assert everything.response.count == seconds * rate
    expected = stopped[0] - 0.01 * seconds * (1 - rate / capacity)
    assert everything.response.quantiles["p99"] == pytest.approx(expected, rel=0.03)
    assert everything.response.maximum == pytest.approx(stopped[0], rel=0.03)
    assert everything.service.quantiles["p99"] < 0.1
