"""How the fakes are opened for the contract tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from cases import DEADLINE, HOSTS, Bench, Ground, PlatformCase, TestbedCase

from dunnage.contracts import Host, Testbed
from dunnage.databases.fake import FakeDatabase
from dunnage.hosts.fake import FakeTestbed, open_fake
from dunnage.model.study import ClientPlace, DatabaseSpec
from dunnage.platforms.fake import FakePlatform
from dunnage.runner.formation import form
from dunnage.software.fake import FakeTrees
from dunnage.substrates.fake import open_fake_substrate


def _open_fake(name: str) -> AbstractContextManager[Testbed]:
    return open_fake(HOSTS, name=name, engine=None, keep=False)


def _lose_fake(testbed: Testbed, host: Host) -> None:
    assert isinstance(testbed, FakeTestbed)
    testbed.world.lose(host.name)


FAKE_TESTBED = TestbedCase(open=_open_fake, lose=_lose_fake)


def _fake_platform(network: str, client: ClientPlace, spec: DatabaseSpec) -> PlatformCase:
    return PlatformCase(
        testbed=FAKE_TESTBED,
        substrate=lambda testbed: open_fake_substrate(testbed, testbed.hosts),
        trees=FakeTrees,
        platform=FakePlatform,
        network=network,
        endpoint="host-port",
        database=FakeDatabase,
        spec=spec,
        client=client,
    )


FAKE_SINGLE = DatabaseSpec(kind="fake", topology="single")
FAKE_SHARDED = DatabaseSpec(kind="fake", topology="sharded", members=2, replication=2)
FAKE_PLAIN = _fake_platform("plain", ClientPlace.HOST, FAKE_SINGLE)
FAKE_LATE = _fake_platform("late", ClientPlace.CONTAINER, FAKE_SHARDED)


@contextmanager
def fake_bench(name: str) -> Iterator[Bench]:
    with _open_fake(name) as testbed, open_fake_substrate(testbed, testbed.hosts) as substrate:
        here = Ground(FAKE_PLAIN, testbed, substrate)
        platform, database = here.platform("bench"), FakeDatabase()
        reservation = platform.reserve(database.layout(FAKE_SINGLE))
        stages = database.stages(FAKE_SINGLE, reservation)
        form(platform, stages, testbed.clock, DEADLINE)
        (client,) = testbed.group("client")
        yield Bench(client, database.target(FAKE_SINGLE, reservation), testbed)
        platform.down()
