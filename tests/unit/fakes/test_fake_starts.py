"""Several generators of one load begin at one instant, each by the clock of its host."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import SimpleNamespace
from typing import cast

import pytest
from fleet import SPEC, Fleet

from dunnage.errors import RunError
from dunnage.generators.fake import FakeGenerator
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.choices import Arrivals, ClientPlace, Phase
from dunnage.model.deployment import Workload
from dunnage.model.level import Level
from dunnage.model.load import Command, LoadOrder
from dunnage.model.study import TestbedSpec
from dunnage.runner.drive import drive
from dunnage.runner.stay import Stay
from dunnage.substrates.fake import open_fake_substrate

AHEAD = {"client-2": 7.0, "client-3": -3.0}


class Slow(FakeGenerator):
    """One that needs four seconds to be connected."""

    connecting = 4.0


class Late(FakeGenerator):
    """One that was to begin a second before it is started."""

    connecting = -1.0


class Scene:
    """A fake database that is driven from three clients whose clocks differ."""

    def __init__(self, stack: ExitStack, generator: FakeGenerator, clients: int = 3) -> None:
        spec = TestbedSpec(kind="fake", hosts={"db": 3, "client": clients})
        self.testbed = stack.enter_context(
            open_fake(spec, name="starts", ahead=AHEAD if clients > 1 else None)
        )
        substrate = stack.enter_context(open_fake_substrate(self.testbed, self.testbed.hosts))
        self.fleet = Fleet(self.testbed, substrate, "plain", ClientPlace.HOST)
        self.fleet.form()
        self.stay = cast(
            "Stay",
            SimpleNamespace(
                clients=self.testbed.group("client"),
                platform=self.fleet.platform,
                equipment=SimpleNamespace(generator=generator, testbed=self.testbed),
            ),
        )

    def order(self, phase: Phase = Phase.RUN) -> LoadOrder:
        workload = Workload(name="A", core="A", phase=phase, records=1000)
        return LoadOrder(
            workload=workload,
            phase=phase,
            level=Level(threads=6),
            target=self.fleet.database.target(SPEC, self.fleet.reservation),
            connections=6,
            arrivals=Arrivals.CONSTANT,
            warmup=1.0 if phase is Phase.RUN else 0.0,
            duration=4.0 if phase is Phase.RUN else None,
            timeout=5.0,
            seed=1,
        )

    def lasts(self) -> float:
        """Seconds of the testbed's clock that a run takes."""
        before = self.testbed.clock.now()
        drive(self.stay, self.order(), "runs/r1")
        return self.testbed.clock.now() - before


def test_all_begin_at_one_instant_whatever_their_clocks_show() -> None:
    with ExitStack() as stack:
        scene = Scene(stack, Slow())
        drive(scene.stay, scene.order(Phase.LOAD), "loading")
        before = scene.testbed.clock.now()
        _, measurement = drive(scene.stay, scene.order(), "runs/r1")
        ours = [
            start - client.clock_offset()
            for start, client in zip(measurement.starts, scene.stay.clients, strict=True)
        ]
        assert ours == pytest.approx([before + 4.0] * 3, abs=1e-5)
        assert measurement.spread == pytest.approx(0.0, abs=1e-5)
        assert measurement.parts == 3


def test_each_plan_has_the_instant_by_the_clock_of_its_host() -> None:
    plans: list[Mapping[str, float]] = []

    class Watched(Slow):
        def commands(
            self, order: LoadOrder, engine: str, directories: Sequence[str]
        ) -> tuple[Command, ...]:
            found = super().commands(order, engine, directories)
            plans.extend(json.loads(command.files["plan.json"]) for command in found)
            return found

    with ExitStack() as stack:
        scene = Scene(stack, Watched())
        start = scene.testbed.clock.now() + 4.0
        drive(scene.stay, scene.order(Phase.LOAD), "loading")
        told = [plan["start"] - start for plan in plans]
        assert told == pytest.approx([0.0, 7.0, -3.0], abs=1e-5)


def test_what_is_connected_at_once_lasts_no_longer_with_several_clients() -> None:
    lasted = []
    for clients in (1, 3):
        with ExitStack() as stack:
            scene = Scene(stack, FakeGenerator(), clients)
            drive(scene.stay, scene.order(Phase.LOAD), "loading")
            lasted.append(scene.lasts())
    assert lasted[0] == pytest.approx(lasted[1], abs=1e-5)


def test_a_single_generator_begins_when_it_is_connected() -> None:
    with ExitStack() as stack:
        scene = Scene(stack, Slow(), clients=1)
        drive(scene.stay, scene.order(Phase.LOAD), "loading")
        before = scene.testbed.clock.now()
        _, measurement = drive(scene.stay, scene.order(), "runs/r1")
        assert measurement.starts == (before,)
        assert measurement.spread is None


def test_one_that_is_connected_too_late_ends_the_load() -> None:
    with ExitStack() as stack:
        scene = Scene(stack, Late())
        with pytest.raises(RunError, match="give a later `start`"):
            drive(scene.stay, scene.order(Phase.LOAD), "loading")
