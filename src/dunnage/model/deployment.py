"""A deployment and a workload as a plan holds them: nothing is left to a default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import ConfigDict

from dunnage.model.choices import ClientPlace, Peers, Phase, Storage
from dunnage.model.study import DatabaseSpec, Limits
from dunnage.model.value import Option, Value

QUOTA_PERIOD = 10_000
"""Period of a CPU quota in microseconds, the same natively and in containers. The kernel's default
of 100 ms would stop a throttled server for so long that the quota, not the platform, made its high
percentiles."""

PAUSE_PERIOD = 0.1
"""Seconds from one stop of a slowdown to the next. A stop costs more than its length, and that must
stay small beside it: with a period of 10 ms the throughput lost was 8.5 % where 5 % of the time was
declared."""


class PartNames(Value):
    """What the parts of a deployment are called; empty where an older Dunnage made the plan."""

    model_config = ConfigDict(extra="ignore")  # before version 5 of plans, guesses of time too

    platform: str = ""
    """`Docker`; empty if sentences do not mention it."""
    network: str = ""
    """`with a bridge network`."""
    database: str = ""
    """`Redis`."""


class Guess(Value):
    """About how long things take that no earlier result of the machine tells."""

    up: float = 0.0
    """Seconds to bring a deployment up and down; of a database's guess, its own part of them."""
    settling: float = 1.0
    """Seconds around every run: settling, samplers, reading back what they saw."""
    loading: float = 20_000.0
    """Records loaded per second."""


class Deployment(Value):
    """One variant under study, resolved: nothing is left to a default."""

    name: str
    title: str
    """Canonical name from the endpoint grammar, such as `HostDockerBridgeHostPort`."""
    twin_of: str | None = None
    platform: str
    network: str
    network_options: Mapping[str, Option] = {}
    endpoint: str
    storage: Storage
    peers: Peers
    client: ClientPlace
    hosts: str
    limits: Limits
    slowdown: float
    loss: float = 0.0
    database: DatabaseSpec
    parts: PartNames = PartNames()
    guess: Guess = Guess()
    """`study.matrix.named` fills in both where an older Dunnage made the plan."""

    @property
    def original(self) -> str:
        """The deployment that a twin is of; its own name where it is none."""
        return self.twin_of or self.name


class Workload(Value):
    """One workload, resolved."""

    name: str
    core: Literal["A", "B", "C", "D", "E", "F"]
    phase: Phase
    records: int
