"""A study whose world is made faulty, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from dunnage import catalog
from dunnage.hosts.fake.testbed import FakeTestbed, open_fake
from dunnage.hosts.fake.world import World
from dunnage.model.study import TestbedSpec
from dunnage.store.read import Result

STUDY = """
dunnage: 1
name: faulty
testbed: {kind: fake, hosts: {db: 3, client: 1}}
database: {kind: fake, topology: sharded, members: 2, replication: 1}
deployments:
  plain: {platform: fake, network: plain}
  late: {platform: fake, network: late}
workloads: [A, C]
records: 100
load: {threads: [4], warmup: 0s, duration: 2s}
blocks: 2
deadline: 5s
generator: fake
sampler: {kind: fake, rate: 5Hz}
questions:
  Q1: {baseline: plain, against: [late]}
"""
RUNS = 8


@dataclass
class Ended:
    """How the command ended, and the result it left."""

    code: int
    shown: str
    result: Result

    def events(self, name: str) -> list[dict[str, Any]]:
        return [dict(each) for each in self.result.events() if each["event"] == name]


class Carry(Protocol):
    """Carries a study out with faults put into its world."""

    def __call__(self, fault: Callable[[World], None], study: str = STUDY) -> Ended: ...


def put_into_worlds(fault: Callable[[World], None], patch: pytest.MonkeyPatch) -> None:
    """From now on every fake testbed opens with a fault in its world."""

    @contextmanager
    def opened(spec: TestbedSpec, name: str, **_: object) -> Iterator[FakeTestbed]:
        with open_fake(spec, name=name) as testbed:
            fault(testbed.world)
            yield testbed

    patch.setattr(catalog, "open_testbed", opened)


def complete(ended: Ended) -> bool:
    return len(ended.result.finished()) == RUNS
