"""How the fakes are opened for the contract tests."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace

from cases import HOSTS, PlatformCase, TestbedCase

from dunnage.contracts.host import Host
from dunnage.contracts.testbed import Testbed
from dunnage.databases.fake import FakeDatabase
from dunnage.hosts.fake.testbed import FakeTestbed, open_fake
from dunnage.model.choices import ClientPlace
from dunnage.model.study import DatabaseSpec
from dunnage.platforms.fake import LATE, FakePlatform
from dunnage.software.fake import FakeTrees
from dunnage.substrates.fake import FakeSubstrate, open_fake_substrate


def _open_fake(name: str) -> AbstractContextManager[Testbed]:
    return open_fake(HOSTS, name=name)


def _lose_fake(testbed: Testbed, host: Host) -> None:
    assert isinstance(testbed, FakeTestbed)
    testbed.world.lose(host.name)


FAKE_TESTBED = TestbedCase(open=_open_fake, lose=_lose_fake)


def fake_substrate(testbed: Testbed) -> AbstractContextManager[FakeSubstrate]:
    return open_fake_substrate(testbed, testbed.hosts)


def _fake_platform(
    network: str, client: ClientPlace, spec: DatabaseSpec, endpoint: str = "host-port"
) -> PlatformCase:
    return PlatformCase(
        testbed=FAKE_TESTBED,
        substrate=fake_substrate,
        trees=FakeTrees,
        platform=FakePlatform,
        network=network,
        endpoint=endpoint,
        database=FakeDatabase,
        spec=spec,
        client=client,
    )


FAKE_SINGLE = DatabaseSpec(kind="fake", topology="single")
FAKE_SHARDED = DatabaseSpec(kind="fake", topology="sharded", members=2, replication=2)
FAKE_PLAIN = _fake_platform("plain", ClientPlace.HOST, FAKE_SINGLE)
FAKE_LATE = _fake_platform("late", ClientPlace.CONTAINER, FAKE_SHARDED)
FAKE_NAMED = _fake_platform("named", ClientPlace.CONTAINER, FAKE_SHARDED, "container-dns")


class Elsewhere(FakePlatform):
    """Runs members where their hosts do not see them."""

    unseen = frozenset({LATE})


FAKE_UNSEEN = replace(FAKE_LATE, platform=Elsewhere, seen=False)
