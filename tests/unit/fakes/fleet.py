"""A formed fake database on fake hosts, and a load to drive it with."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from dunnage.databases.fake import FakeDatabase
from dunnage.generators.fake import FakeGenerator
from dunnage.hosts.fake.testbed import FakeTestbed, open_fake
from dunnage.model.choices import Arrivals, ClientPlace, Peers, Phase, Storage
from dunnage.model.deployment import Deployment, Workload
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder
from dunnage.model.record import Measurement
from dunnage.model.study import DatabaseSpec, Limits, TestbedSpec
from dunnage.platforms.fake import FakePlatform
from dunnage.runner.formation import form
from dunnage.software.fake import FakeTrees
from dunnage.substrates.fake import FakeSubstrate, open_fake_substrate

SPEC = DatabaseSpec(kind="fake", topology="sharded", members=2, replication=2)


def platform_on(
    testbed: FakeTestbed, substrate: FakeSubstrate, network: str, client: ClientPlace
) -> FakePlatform:
    """A platform for one stay."""
    deployment = Deployment(
        name=network,
        title=network,
        platform="fake",
        network=network,
        endpoint="host-port",
        storage=Storage.BIND,
        peers=Peers.ENDPOINT,
        client=client,
        hosts="db",
        limits=Limits(),
        slowdown=0.0,
        database=SPEC,
    )
    return FakePlatform(deployment, testbed.group("db"), substrate, FakeTrees(), "s1")


class Fleet:
    """One testbed with one stay after the other on it."""

    def __init__(
        self, testbed: FakeTestbed, substrate: FakeSubstrate, network: str, client: ClientPlace
    ) -> None:
        self.testbed = testbed
        self.substrate = substrate
        self.database = FakeDatabase()
        self.client = client
        self.stay(network)

    def stay(self, network: str) -> None:
        """Begin a stay on a network."""
        self.platform = platform_on(self.testbed, self.substrate, network, self.client)
        self.reservation = self.platform.reserve(self.database.layout(SPEC))

    def form(self, deadline: float = 10.0) -> None:
        """Bring the database up."""
        stages = partial(self.database.stages, SPEC)
        formed = form(self.platform, stages, self.reservation, self.testbed.clock, deadline)
        self.reservation = formed.reservation

    def load(
        self,
        phase: Phase = Phase.RUN,
        seed: int = 1,
        level: Level | None = None,
        arrivals: Arrivals = Arrivals.CONSTANT,
    ) -> Measurement:
        """Make one load and read what came of it."""
        workload = Workload(name="A", core="A", phase=phase, records=1000)
        order = LoadOrder(
            workload=workload,
            phase=phase,
            level=level or Level(threads=32),
            target=self.database.target(SPEC, self.reservation),
            connections=64,
            arrivals=arrivals,
            warmup=1.0,
            duration=4.0 if phase is Phase.RUN else None,
            operations=None,
            timeout=5.0,
            seed=seed,
        )
        (host,) = self.testbed.group("client")
        client = self.platform.client(host)
        (command,) = FakeGenerator().commands(order, client.engine, ["/load"])
        for name, text in command.files.items():
            client.put(f"{command.directory}/{name}", text.encode())
        process = client.start(command.argv, unit="generator", log="/load/log")
        assert process.wait(60.0) == 0, client.get("/load/log")
        return FakeGenerator().parse([{"result.json": client.get("/load/result.json")}])


class Fleets:
    """Opens fleets that are closed when the test ends."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def open(
        self,
        network: str = "plain",
        client: ClientPlace = ClientPlace.HOST,
        ahead: dict[str, float] | None = None,
    ) -> Fleet:
        spec = TestbedSpec(kind="fake")
        testbed = self._stack.enter_context(open_fake(spec, name="fleet", ahead=ahead))
        substrate = self._stack.enter_context(open_fake_substrate(testbed, testbed.hosts))
        return Fleet(testbed, substrate, network, client)
