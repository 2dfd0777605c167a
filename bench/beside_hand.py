"""A deployment by Dunnage beside the same made and removed by hand, in turns on one lab.

Only ratios within a pair mean something.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from dunnage.contracts.platform import Platform
from dunnage.databases.redis.database import Redis
from dunnage.hosts.namespace.testbed import NamespaceTestbed, open_namespace
from dunnage.model.choices import ClientPlace, Peers, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.study import DatabaseSpec, Limits, TestbedSpec
from dunnage.runner.formation import Formed, form
from dunnage.software.engine import engine_path

Way = Callable[[], tuple[float, float]]
"""Brings a database up and takes it down; seconds of both."""
STAY = "b1-bench"
LIMIT = 60.0
"""Seconds that one step may take."""


@contextmanager
def lab() -> Iterator[NamespaceTestbed]:
    """Three hosts for members, one for a client, and one for a control plane."""
    spec = TestbedSpec(kind="namespace", hosts={"db": 3, "client": 1, "control": 1})
    with open_namespace(spec, name="bench", engine=engine_path(), keep=False) as testbed:
        yield testbed


def replicas(platform: str, network: str) -> Deployment:
    """Redis with two replicas, reached by ports of its hosts."""
    return Deployment(
        name=platform,
        title=platform,
        platform=platform,
        network=network,
        endpoint="host-port",
        storage=Storage.BIND,
        peers=Peers.ENDPOINT,
        client=ClientPlace.HOST,
        hosts="db",
        limits=Limits(),
        slowdown=0.0,
        database=DatabaseSpec(kind="redis", version="7.0", topology="replicas", members=3),
    )


def formed_on(platform: Platform, deployment: Deployment, testbed: NamespaceTestbed) -> Formed:
    """The database, ready for its clients."""
    redis = Redis()
    reservation = platform.reserve(redis.layout(deployment.database))
    walk = partial(redis.stages, deployment.database)
    return form(platform, walk, reservation, testbed.clock, LIMIT)


def by_dunnage(
    make: Callable[[], Platform], deployment: Deployment, testbed: NamespaceTestbed
) -> tuple[float, float]:
    """Seconds for a formed database, and for its removal."""
    began = time.monotonic()
    platform = make()
    try:
        formed_on(platform, deployment, testbed)
    finally:
        ready = time.monotonic()
        platform.down()
    return ready - began, time.monotonic() - ready


def pairs(description: str | None) -> int:
    """How many pairs the command line asks for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--pairs", type=int, default=5, help="more pairs, steadier medians")
    return int(parser.parse_args().pairs)


def compare(ours: Way, hand: Way, pairs: int) -> None:
    """Print seconds of both, and the median ratios over some pairs."""
    ratios = []
    for number in range(pairs):
        order = (ours, hand) if number % 2 else (hand, ours)
        taken = {way: way() for way in order}
        ratios.append([a / b for a, b in zip(taken[ours], taken[hand], strict=True)])
        told = [f"{seconds:.2f} s" for way in (ours, hand) for seconds in taken[way]]
        sys.stdout.write(
            f"Dunnage: up {told[0]}, down {told[1]}; by hand: up {told[2]}, down {told[3]}\n"
        )
    for what, each in zip(("up", "down"), zip(*ratios, strict=True), strict=True):
        sys.stdout.write(
            f"{what}: {statistics.median(each):.2f} × by hand (median of {len(each)} pairs)\n"
        )
