"""A deployment by Dunnage beside the same made and removed by hand, in turns on one lab.

Only ratios within a pair mean something.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from engine.machine import today
from engine.table import grid, judged, ratio
from engine.verdict import LEAST
from engine.verdict import NOTE as VERDICT_NOTE

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
GOAL = 1.2
"""What the ratio of seconds is to be at most."""


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


@dataclass(frozen=True)
class Wanted:
    """How often both ways are compared, once at least, and a file for what comes of it."""

    pairs: int
    page: Path | None


def wanted(description: str | None) -> Wanted:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--pairs", type=int, default=LEAST, help="more pairs, narrower intervals")
    parser.add_argument("--write", type=Path, help="a page for what is printed, as Markdown")
    arguments = parser.parse_args()
    if arguments.pairs < 1:
        parser.error("--pairs: 1 or more")
    return Wanted(arguments.pairs, arguments.write)


def compare(ours: Way, hand: Way, wanted: Wanted, description: str | None) -> None:
    """Print seconds of both ways in each pair, and their ratios; both are the page, below its
    `description`."""
    taken: list[dict[Way, tuple[float, float]]] = []
    for number in range(wanted.pairs):
        order = (ours, hand) if number % 2 else (hand, ours)
        sys.stderr.write(f"pair {number + 1} of {wanted.pairs}\n")
        taken.append({way: way() for way in order})
    title, _, more = (description or "").partition("\n")
    text = [
        f"# {title.rstrip('.')}",
        more.strip(),
        f"`make bench` writes this. {VERDICT_NOTE}",
        f"- {today()}\n- pairs: {wanted.pairs}, in turns; the first of a pair alternates",
        grid(
            ("pair", "up, Dunnage", "up, by hand", "down, Dunnage", "down, by hand"),
            [
                (str(number), *_seconds(pair[ours], pair[hand]))
                for number, pair in enumerate(taken, 1)
            ],
            1,
        ),
        grid(
            ("", "Dunnage / by hand", "goal"),
            [
                (what, found.shown(GOAL), judged(found, GOAL))
                for each, what in enumerate(("up", "down"))
                for found in [ratio(*([pair[way][each] for pair in taken] for way in (ours, hand)))]
            ],
            1,
        ),
    ]
    page = "\n\n".join(text) + "\n"
    sys.stdout.write(page)
    if wanted.page is not None:
        wanted.page.parent.mkdir(parents=True, exist_ok=True)
        wanted.page.write_text(page)


def _seconds(*ways: tuple[float, float]) -> list[str]:
    """Of all ways up, then of all ways down."""
    return [f"{seconds:.2f} s" for direction in zip(*ways, strict=True) for seconds in direction]
