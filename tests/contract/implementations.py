"""Every implementation of every contract: a new one is one entry in one of these lists.

What needs root and real daemons is marked `live`; the rest runs anywhere in about a second.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

import pytest

from dunnage.contracts import (
    Database,
    Generator,
    Host,
    Platform,
    Sampler,
    SoftwareStore,
    Substrate,
    Testbed,
)
from dunnage.databases.fake import FakeDatabase
from dunnage.generators.fake import FakeGenerator
from dunnage.hosts.fake import FakeTestbed, open_fake
from dunnage.model.layout import Target
from dunnage.model.study import (
    ClientPlace,
    DatabaseSpec,
    Deployment,
    Limits,
    Peers,
    Storage,
    TestbedSpec,
)
from dunnage.platforms.fake import FakePlatform
from dunnage.runner.formation import form
from dunnage.samplers.fake import FakeSampler
from dunnage.software.fake import FakeTrees
from dunnage.substrates.fake import open_fake_substrate

HOSTS = TestbedSpec(kind="any", hosts={"db": 3, "client": 1})
DEADLINE = 60.0


def unique() -> str:
    """A name that a test run going on beside this one does not use."""
    return f"test-{uuid.uuid4().hex[:8]}"


@dataclass(frozen=True)
class TestbedCase:
    """How to open a testbed, and how to cut the power of one of its hosts."""

    __test__ = False

    open: Callable[[str], AbstractContextManager[Testbed]]
    lose: Callable[[Testbed, Host], None]


@dataclass(frozen=True)
class PlatformCase:
    """A platform with a database to run on it, on a testbed."""

    testbed: TestbedCase
    substrate: Callable[[Testbed], AbstractContextManager[Substrate | None]]
    trees: Callable[[], SoftwareStore]
    platform: Callable[..., Platform]
    network: str
    endpoint: str
    database: Callable[[], Database]
    spec: DatabaseSpec
    client: ClientPlace = ClientPlace.HOST

    def deployment(self) -> Deployment:
        """The deployment under test."""
        return Deployment(
            name="tested",
            title="Tested",
            platform="any",
            network=self.network,
            endpoint=self.endpoint,
            storage=Storage.BIND,
            peers=Peers.ENDPOINT,
            client=self.client,
            hosts="db",
            limits=Limits(),
            slowdown=0.0,
            database=self.spec,
        )


@dataclass(frozen=True)
class DatabaseCase:
    """A database and something to ask of it."""

    database: Callable[[], Database]
    spec: DatabaseSpec


@dataclass(frozen=True)
class Bench:
    """A client's host with a database to drive."""

    host: Host
    target: Target
    testbed: Testbed


@dataclass(frozen=True)
class GeneratorCase:
    """A generator and where to drive it."""

    generator: Callable[[], Generator]
    bench: Callable[[str], AbstractContextManager[Bench]]


@dataclass(frozen=True)
class SamplerCase:
    """A sampler and a testbed whose hosts it can watch."""

    sampler: Callable[[], Sampler]
    testbed: TestbedCase


@dataclass
class Ground:
    """A testbed with a substrate, on which stays can be made."""

    case: PlatformCase
    testbed: Testbed
    substrate: Substrate | None
    trees: SoftwareStore = field(init=False)

    def __post_init__(self) -> None:
        self.trees = self.case.trees()

    def platform(self, stay: str) -> Platform:
        """A platform for one stay."""
        return self.case.platform(
            self.case.deployment(), self.testbed.group("db"), self.substrate, self.trees, stay
        )


@contextmanager
def ground(case: PlatformCase) -> Iterator[Ground]:
    """Open what a platform stands on."""
    with case.testbed.open(unique()) as testbed, case.substrate(testbed) as substrate:
        yield Ground(case, testbed, substrate)


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
def _fake_bench(name: str) -> Iterator[Bench]:
    with _open_fake(name) as testbed, open_fake_substrate(testbed, testbed.hosts) as substrate:
        here = Ground(FAKE_PLAIN, testbed, substrate)
        platform, database = here.platform("bench"), FakeDatabase()
        reservation = platform.reserve(database.layout(FAKE_SINGLE))
        stages = database.stages(FAKE_SINGLE, reservation)
        form(platform, stages, testbed.clock, DEADLINE)
        (client,) = testbed.group("client")
        yield Bench(client, database.target(FAKE_SINGLE, reservation), testbed)
        platform.down()


TESTBEDS = [pytest.param(FAKE_TESTBED, id="fake")]

PLATFORMS = [
    pytest.param(FAKE_PLAIN, id="fake-plain"),
    pytest.param(FAKE_LATE, id="fake-late-container"),
]

DATABASES = [
    pytest.param(DatabaseCase(FakeDatabase, FAKE_SINGLE), id="fake-single"),
    pytest.param(DatabaseCase(FakeDatabase, FAKE_SHARDED), id="fake-sharded"),
]

GENERATORS = [pytest.param(GeneratorCase(FakeGenerator, _fake_bench), id="fake")]

SAMPLERS = [pytest.param(SamplerCase(FakeSampler, FAKE_TESTBED), id="fake")]


def put(host: Host, directory: str, files: Mapping[str, str]) -> None:
    """Put a command's files where it wants them."""
    for name, text in files.items():
        host.put(f"{directory}/{name}", text.encode())
