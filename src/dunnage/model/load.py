"""Orders to a generator and a sampler, and the command that they return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.layout import Target
from dunnage.model.level import Level

SETTLING = 0.05
"""Seconds at the start of a turn that do not count: caches and queues still change over."""

TURN_CONTROL = 0.005
"""Seconds for each part of the negative control after a turn."""

WINDOW = 0.2
"""Seconds of a window of a time line, where nothing asks for shorter ones."""

STEADY_WINDOWS, STEADY_OPERATIONS = 6, 10
"""Windows by which a run is judged to be steady, two a third: fewer say nothing of a trend. And the
operations that each must hold on average, or an empty one is no news."""


@dataclass(frozen=True)
class LoadOrder:
    """One load to make. Times in seconds.

    `duration` or `operations` ends it; with neither, the load phase ends when all records are in.
    """

    workload: Workload
    phase: Phase
    level: Level
    target: Target
    connections: int
    arrivals: Arrivals
    timeout: float
    seed: int
    warmup: float = 0.0
    duration: float | None = None
    operations: int | None = None
    interval: float = WINDOW
    """Length of one window of the time line."""
    latencies: bool = True
    """Whether they are recorded; not for load in turns."""
    until_told: bool = False
    """TERM ends the load and keeps its results; it ends after `duration` at the latest."""
    starts: tuple[float, ...] = ()
    """Unix time at which each part begins, warm-up included, by the clock of its host. Empty: each
    as soon as it is connected."""


@dataclass(frozen=True)
class Command:
    """Something to run on a host: put `files`, run `argv`, then collect `artefacts`.

    All paths in `files`, `artefacts` and `begun` are names inside `directory`.
    """

    argv: tuple[str, ...]
    directory: str
    files: Mapping[str, str] = field(default_factory=dict)
    artefacts: tuple[str, ...] = ()
    begun: str = ""
    """Name of a file that exists once the load has begun; empty if there is none."""


SAMPLER = "sampler"
OWN_UNITS = (SAMPLER, "generator", "pause", "turns", "command")
"""Units of a host that we run ourselves while it is measured."""
AGENT, PODS = "agent", "pods"
"""Units of hosts: what acts for us on one that is someone else's, and all pods of a node, ours and
others'."""
NO_SERVERS = frozenset({*OWN_UNITS, AGENT, PODS})
"""Units that are neither members nor daemons."""


@dataclass(frozen=True)
class WatchOrder:
    """One host to watch at `rate` hertz.

    `units` maps the name of a unit (a member, `daemon`, `generator`, `sampler`) to its control
    group as the host names it; the empty name is the whole host.
    """

    host: str
    address: str
    """The host's own; the interface that has it is the uplink."""
    units: Mapping[str, str]
    rate: float


@dataclass(frozen=True)
class Sample:
    """One reading of counters. All values are cumulative except memory, which is as it stood."""

    time: float
    """Unix seconds by the host's clock."""
    units: Mapping[str, Mapping[str, float]]
    machine: Mapping[str, float]


@dataclass(frozen=True)
class Samples:
    """All samples of one host."""

    host: str
    interval: float
    samples: tuple[Sample, ...]
    own_cpu: tuple[float, ...]
    """CPU seconds used by the sampler so far, at each sample."""
    absent: Mapping[str, str]
    """Counter → why it could not be read or attributed here."""
