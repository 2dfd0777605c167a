"""What a stay is, and what all stays of a study share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dunnage.contracts.database import Database
from dunnage.contracts.generator import Generator
from dunnage.contracts.host import Host
from dunnage.contracts.platform import Platform
from dunnage.contracts.sampler import Sampler
from dunnage.contracts.software import SoftwareStore
from dunnage.contracts.substrate import Substrate
from dunnage.contracts.testbed import Testbed
from dunnage.model.calibration import Calibration
from dunnage.model.deployment import Deployment, Workload
from dunnage.model.layout import Reservation, Target
from dunnage.model.plan import StayPlan
from dunnage.model.study import Study
from dunnage.runner.restarts import RestartCount
from dunnage.runner.slowdown import Slowdown
from dunnage.runner.snapshots import KeptSnapshot
from dunnage.store.write import ResultWriter


@dataclass(frozen=True)
class Equipment:
    """What all stays of a study share; it outlives each of them."""

    study: Study
    testbed: Testbed
    substrates: Mapping[str, Substrate]
    """By family, such as `docker`."""
    trees: SoftwareStore
    generator: Generator
    sampler: Sampler
    writer: ResultWriter
    calibration: Calibration | None = None
    """What the baseline is capable of, where rates are shares of it."""


@dataclass
class Stay:
    """A living deployment. `filled` says what the database holds, so that it is loaded when due."""

    name: str
    plan: StayPlan
    deployment: Deployment
    equipment: Equipment
    database: Database
    platform: Platform
    reservation: Reservation
    target: Target
    endpoint: frozenset[str]
    """Every `address:port` that a connection may go to, names resolved where clients run."""
    substrate: Substrate | None
    clients: tuple[Host, ...]
    slowdown: Slowdown
    restarts: RestartCount
    """Begun before the stay."""
    filled: Workload | None = None
    spoiled: bool = False
    """A load broke off: nobody knows what the database holds."""
    conditioned: bool = False
    """It was driven for as long as the study asks for before a first run."""
    kept: KeptSnapshot | None = None
    """The snapshot that its members started with; None where records are put in."""
