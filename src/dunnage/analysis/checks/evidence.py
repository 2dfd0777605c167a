"""What the gates look at, and what they accept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dunnage.analysis.schedule import BUSY, LIMITED, Schedule
from dunnage.analysis.schedule import schedule as scheduled
from dunnage.model.level import Search
from dunnage.model.load import LoadOrder
from dunnage.model.record import HostUsage, Measurement, Searched


@dataclass(frozen=True)
class Bounds:
    """What a run must keep to. Shares of one and seconds."""

    errors: float = 0.0
    """Errors over operations."""
    busy_open: float = BUSY
    """Busiest client thread under an open load: above it starts are late by queueing alone."""
    busy_closed: float = 0.98
    """Busiest client thread in a closed loop: with less than 2 % idle the throughput would be the
    client's own, and a cost of the platform would hide behind it."""
    limited: float = LIMITED
    """Share of the window of an open load for which a client may be at its limit: working without a
    pause, or kept from working by others."""
    slowdown: float = 0.01
    """Share of time by which a declared slowdown may have been missed."""
    swap: float = 0.0
    """Bytes."""
    steal: float = 0.05
    """Share of the machine's CPU time. Below this it is noise that balanced orders spread over all
    deployments alike, and intervals show it; above it another tenant decides what is measured."""
    other: float = 0.10
    """Share of the machine's CPU time that no host of the testbed used. On a quiet machine it is 1
    to 3.5 %, the kernel's work for the hosts outside their control groups, and up to 7 % where
    time is stolen; one busy process on two processors is 20 % and more."""
    missing: float = 0.05
    """Samples missing; one may always be, as a window rarely begins with a tick."""
    throttled: float = 0.0
    """Seconds, where no quota is asked for."""
    duration: float = 0.98
    """Measured over ordered time."""
    shortest: float = 1.0
    """Seconds that a run must measure, whatever ends it."""
    idle: float = 0.005
    """Processors that all members of a deployment may use while others have their turns."""
    control: float = 0.05
    """Processors that hosts may use which direct an orchestrator's nodes: they share the clients'
    cores, so what they use there is missing for the load. Runs above it count all the same where a
    deployment has them more often than the others, by more than chance."""
    clock: float = 0.05
    """Seconds by which a host's clock may have moved against ours: a quarter of a window of the
    time line, and far above what a time service slews in a minute (30 ms)."""
    room: float = 16 * 2.0**20
    """Bytes that must be left for a member's data. With less, the next file of its log may not fit,
    and what it does then is no part of what is measured."""


@dataclass(frozen=True)
class MemberState:
    """How one member was when a load had ended."""

    member: str
    host: str
    ended: str = ""
    """How it died; empty if it lives."""
    silent: str = ""
    """What came of asking whether it is ready, where it did not say so; empty where it did, and
    where it was not asked."""
    room: float | None = None
    """Bytes that are left for its data; None where that was not read."""


@dataclass(frozen=True)
class Evidence:
    """Everything that the gates look at, of one run."""

    measurement: Measurement
    usage: Sequence[HostUsage]
    order: LoadOrder
    others: frozenset[str] = field(default=frozenset(), kw_only=True)
    """Hosts among them that are other deployments', where those live meanwhile."""
    endpoint: frozenset[str]
    """Every `address:port` that a connection may go to, as numbers, not names."""
    parts: int
    """Engines that were started."""
    members: Sequence[MemberState]
    one_machine: bool = False
    """Whether all hosts are one machine, whose counters each of them reports."""
    slowdown: float = 0.0
    """Share of time in which the servers were to be held still."""
    paused: float | None = None
    """Share of time in which they were."""
    quota: bool = False
    """Whether a CPU quota is a factor of the deployment, so that throttling belongs to it."""
    clocks: Mapping[str, float] = field(default_factory=dict)
    """Seconds that each host's clock moved against ours while the run went on."""
    watched: float | None = None
    """Seconds that `usage` covers, where they are more than the measured ones: in turns."""
    idle: Sequence[float | None] | None = None
    """CPU seconds a second that each member used while others had their turns, None where that was
    not read; None where load does not come in turns."""
    foreign: Mapping[str, float] = field(default_factory=dict)
    """Name → processors that processes of no host kept busy, as far as they could be seen."""
    search: Search | None = None
    searched: Searched | None = None
    """A search, and what it found, where the measurement is the result of one."""

    @property
    def schedule(self) -> Schedule | None:
        """How an open load went; None in a closed loop and where the offered rate is not known."""
        if not self.order.level.open:
            return None
        return scheduled(self.measurement, self.order.connections, self.order.arrivals)

    @property
    def over_capacity(self) -> bool:
        """Whether the deployment could not keep up with an open load."""
        kept = self.schedule
        return kept is not None and kept.over_capacity
