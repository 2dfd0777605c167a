"""What a contract test needs to know of an implementation."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial

from dunnage.contracts.database import Database
from dunnage.contracts.generator import Generator
from dunnage.contracts.host import Host
from dunnage.contracts.platform import Platform
from dunnage.contracts.sampler import Sampler
from dunnage.contracts.software import SoftwareStore
from dunnage.contracts.substrate import Substrate
from dunnage.contracts.testbed import Testbed
from dunnage.model.choices import ClientPlace, Cores, Peers, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Software, Target
from dunnage.model.study import DatabaseSpec, Limits, TestbedSpec
from dunnage.runner.formation import form

HOSTS = TestbedSpec(kind="any", hosts={"db": 3, "client": 1}, cores=Cores.SHARED)
"""Nothing is measured on them, so what starts may take all the processors that there are."""
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
    theirs: bool = False
    """Whether its hosts are someone else's: nothing there is limited, held still or mounted."""


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
    seen: bool = True
    """Whether hosts see the processes of their members."""

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
    bench: Callable[[], AbstractContextManager[Bench]]


@dataclass(frozen=True)
class SamplerCase:
    """A sampler and a testbed whose hosts it can watch."""

    sampler: Callable[[], Sampler]
    testbed: TestbedCase


@dataclass(frozen=True)
class SubstrateCase:
    """A substrate and the testbed whose hosts it lives on."""

    testbed: TestbedCase
    open: Callable[[Testbed], AbstractContextManager[Substrate]]


@dataclass(frozen=True)
class SoftwareCase:
    """A store of software and something that it has."""

    store: Callable[[], SoftwareStore]
    software: Software


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


@contextmanager
def bench(case: PlatformCase) -> Iterator[Bench]:
    """A client's host beside a database that runs as the case says, for a generator to drive."""
    with ground(case) as here:
        platform, database = here.platform("bench"), case.database()
        try:
            reservation = platform.reserve(database.layout(case.spec))
            stages = partial(database.stages, case.spec)
            formed = form(platform, stages, reservation, here.testbed.clock, DEADLINE)
            (client,) = here.testbed.group("client")
            yield Bench(client, database.target(case.spec, formed.reservation), here.testbed)
        finally:
            platform.down()


def lose_and_mend(case: SubstrateCase, testbed: Testbed, substrate: Substrate, *names: str) -> None:
    """Cut the power of hosts, restore them, and have the substrate mended on each."""
    for host in testbed.hosts:
        if host.name in names:
            case.testbed.lose(testbed, host)
    assert set(testbed.lost()) == set(names)
    for name in testbed.lost():
        testbed.restore(name)
        substrate.mend(name)
    assert testbed.lost() == ()


def put(host: Host, directory: str, files: Mapping[str, str]) -> None:
    """Put a command's files where it wants them."""
    for name, text in files.items():
        host.put(f"{directory}/{name}", text.encode())
