"""The instrument judges its own run: valid, invalid or unknown, gate by gate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dunnage.analysis.schedule import BUSY, KEPT, Schedule, measured
from dunnage.analysis.schedule import schedule as scheduled
from dunnage.analysis.steady import MINIMUM_WINDOWS, flatness, speed_change
from dunnage.analysis.values import answered, failed
from dunnage.model.load import LoadOrder
from dunnage.model.record import (
    CheckResult,
    Ending,
    HostUsage,
    Measurement,
    Searched,
    Status,
)
from dunnage.model.study import Phase, Search
from dunnage.units import duration, percent, size


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
    slowdown: float = 0.01
    """Share of time by which a declared slowdown may have been missed."""
    swap: float = 0.0
    """Bytes."""
    steal: float = 0.05
    """Share of the machine's CPU time. Below this it is noise that balanced orders spread over all
    deployments alike, and intervals show it; above it another tenant decides what is measured."""
    other: float = 0.10
    """Share of the machine's CPU time used by nobody on the testbed. On a quiet machine it is 1 to
    3.5 %, the kernel's work for the hosts outside their control groups, and up to 7 % where time
    is stolen; one busy process on two processors is 20 % and more."""
    missing: float = 0.05
    """Samples missing; one may always be, as a window seldom begins with a tick."""
    throttled: float = 0.0
    """Seconds, where no quota is asked for."""
    duration: float = 0.98
    """Measured over ordered time."""
    shortest: float = 1.0
    """Seconds that a run must measure, whatever ends it."""
    idle: float = 0.005
    """Processors that all members of a deployment may use while others have their turns."""
    clock: float = 0.05
    """Seconds by which a host's clock may have moved against ours: a quarter of a window of the
    time line, and far above what a time service slews in a minute (30 ms)."""


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


CLOCK = "clock"
"""The gate that every other one leans on: without it nobody knows which samples belong to a run."""


class Finding(NamedTuple):
    """What one gate found."""

    status: Status
    seen: str
    bound: str
    """What would have been accepted."""
    used: float | None = None
    """How much of the bound was used: from 1 on the gate fires. None where that is no number."""


Gate = Callable[[Evidence, Bounds], Finding]


def judge(evidence: Evidence, bounds: Bounds | None = None) -> tuple[CheckResult, ...]:
    """Pass a run through every gate. A gate that crashes is unknown and says with what."""
    results = []
    for name, gate in GATES.items():
        try:
            found = gate(evidence, bounds or Bounds())
        except Exception as error:
            found = Finding(Status.UNKNOWN, f"the check failed: {error!r}", "a check that ends")
        results.append(CheckResult(check=name, **found._asdict()))
    return tuple(results)


def status(checks: Iterable[CheckResult]) -> Status:
    """One invalid gate makes a run invalid; else one unknown gate, or none at all, unknown."""
    found = {check.status for check in checks}
    if Status.INVALID in found:
        return Status.INVALID
    return Status.VALID if found == {Status.VALID} else Status.UNKNOWN


def _passes(good: bool) -> Status:
    return Status.VALID if good else Status.INVALID


def _used(seen: float, bound: float) -> float | None:
    """Share of a bound; None where nothing at all is accepted and something was there."""
    if bound > 0:
        return max(0.0, seen / bound)
    return 0.0 if seen <= 0 else None


def _errors(evidence: Evidence, bounds: Bounds) -> Finding:
    kinds = failed(evidence.measurement)
    errors = sum(kinds.values())
    total = errors + answered(evidence.measurement)
    bound = f"at most {percent(bounds.errors)} of operations"
    if not total:
        return Finding(Status.INVALID, "no operation was answered", bound)
    named = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()) if count)
    seen = f"{errors} of {total} operations" + (f" ({named})" if named else "")
    if evidence.over_capacity and errors:
        # A backlog that could not be worked off after the end is the overload itself.
        errors = sum(window.errors for window in measured(evidence.measurement.windows))
        seen += f", {errors} of them before the end of the window: over capacity"
    return Finding(
        _passes(errors / total <= bounds.errors), seen, bound, _used(errors / total, bounds.errors)
    )


def _client(evidence: Evidence, bounds: Bounds) -> Finding:
    limit = bounds.busy_open if evidence.order.level.open else bounds.busy_closed
    busy = evidence.measurement.client_busy
    seen = f"busiest client thread {percent(busy)} of one processor"
    return Finding(_passes(busy < limit), seen, f"below {percent(limit)}", _used(busy, limit))


def _schedule(evidence: Evidence, _bounds: Bounds) -> Finding:
    if not evidence.order.level.open:
        return Finding(Status.VALID, "closed loop: there is no schedule", "none in a closed loop")
    bound = (
        f"at least {percent(KEPT)} of the offered rate and no growing backlog, or else "
        "the deployment's limit and not the client's"
    )
    kept = evidence.schedule
    if kept is None:
        return Finding(Status.UNKNOWN, "the offered rate is not known", bound)
    flow = kept.flow
    seen = f"{percent(flow.achieved)} of {flow.offered:g} op/s"
    seen += f", lag at the end {duration(flow.lag)}"
    if kept.over:
        who = "the client could not keep the schedule" if kept.client else "over capacity"
        seen += f", growing by {duration(max(flow.slope, 0.0))} a second: {who}"
    return Finding(_passes(not (kept.over and kept.client)), seen, bound)


def _search(evidence: Evidence, _bounds: Bounds) -> Finding:
    if evidence.search is None or evidence.searched is None:
        return Finding(Status.VALID, "no search", "none at a set level")
    probes, rate = evidence.searched.probes, evidence.searched.rate
    bound = f"at most {percent(evidence.search.precision)} below a rate that is too high"
    if rate is None:
        return Finding(Status.INVALID, f"none of {len(probes)} probes was sustained", bound)
    seen = f"{len(probes)} probes; {rate:g} op/s was sustained"
    above = [probe for probe in probes if probe.rate > rate and not probe.sustained]
    if not above:
        return Finding(Status.INVALID, f"{seen}, and no higher rate was refused", bound)
    nearest = min(probe.rate for probe in above)
    seen += f", {nearest:g} op/s was not"
    if all(probe.client for probe in above if probe.rate == nearest):
        return Finding(Status.INVALID, f"{seen}, but for the client's limit", bound)
    return Finding(_passes(evidence.searched.ended is Ending.FOUND), seen, bound)


def _steady(evidence: Evidence, _bounds: Bounds) -> Finding:
    """Whether answers came all the time; by how much a run may move its study's others tell."""
    if evidence.order.phase is Phase.LOAD:
        return Finding(Status.VALID, "load phase: the database grows", "none in a load phase")
    bound = "no window without an answer; how it moved is judged beside the study's other runs"
    found = flatness(evidence.measurement.windows)
    if found is None:
        short = f"fewer than {MINIMUM_WINDOWS} windows of ten operations: too short to tell"
        return Finding(Status.UNKNOWN, short, bound)
    speed = speed_change(evidence.usage)
    by_speed = f", its hosts' own speed {percent(speed, sign=True)}" if speed else ""
    seen = f"{percent(found.change, sign=True)} over {found.windows} windows{by_speed}"
    return Finding(_passes(not found.empty), f"{seen}, {found.empty} empty", bound)


def _swap(evidence: Evidence, bounds: Bounds) -> Finding:
    largest = _largest({host.host: host.whole.swap for host in evidence.usage})
    bound = f"at most {size(bounds.swap)}"
    if largest is None:
        if {host.machine.swap_total for host in evidence.usage} == {0.0}:
            return Finding(Status.VALID, "the machine has no swap", bound)
        return Finding(Status.UNKNOWN, _why(evidence.usage, "swap"), bound)
    seen, used = f"{size(largest[1])} on {largest[0]}", _used(largest[1], bounds.swap)
    return Finding(_passes(largest[1] <= bounds.swap), seen, bound, used)


def _steal(evidence: Evidence, bounds: Bounds) -> Finding:
    largest = _largest({host.host: host.machine.steal for host in evidence.usage})
    bound = f"below {percent(bounds.steal)} of CPU time"
    if largest is None:
        return Finding(Status.UNKNOWN, _why(evidence.usage, "steal"), bound)
    seen = f"{percent(largest[1])} seen by {largest[0]}"
    used = _used(largest[1], bounds.steal)
    return Finding(_passes(largest[1] < bounds.steal), seen, bound, used)


def _other(evidence: Evidence, bounds: Bounds) -> Finding:
    bound = f"below {percent(bounds.other)} of the machine's CPU time"
    machines = [tuple(evidence.usage)] if evidence.one_machine else [(h,) for h in evidence.usage]
    seconds = evidence.watched or evidence.measurement.seconds
    shares = [_others(hosts, seconds) for hosts in machines]
    known = [share for share in shares if share is not None]
    if not known or len(known) < len(shares):
        return Finding(Status.UNKNOWN, _why(evidence.usage, "cpu_total"), bound)
    seen, used = f"{percent(max(known))} used by others", _used(max(known), bounds.other)
    return Finding(_passes(max(known) < bounds.other), seen, bound, used)


def _others(hosts: Sequence[HostUsage], seconds: float) -> float | None:
    """Share of one machine's CPU time that none of its testbed hosts used."""
    machine = hosts[0].machine if hosts else None
    if machine is None or machine.busy is None or not machine.processors or seconds <= 0:
        return None
    own = [host.whole.cpu for host in hosts]
    if None in own:
        return None
    return machine.busy - sum(cpu for cpu in own if cpu) / (machine.processors * seconds)


def _iowait(evidence: Evidence, _bounds: Bounds) -> Finding:
    largest = _largest({host.host: host.machine.iowait for host in evidence.usage})
    bound = "none: shown because it explains"
    if largest is None:
        return Finding(Status.VALID, _why(evidence.usage, "iowait"), bound)
    return Finding(Status.VALID, f"{percent(largest[1])} of CPU time seen by {largest[0]}", bound)


def _samples(evidence: Evidence, bounds: Bounds) -> Finding:
    bound = f"at most {percent(bounds.missing)} or one missing, the window covered, on every host"
    if not evidence.usage:
        return Finding(Status.UNKNOWN, "no host was watched", bound)
    short = [
        f"{host.host} {host.samples} of {host.expected_samples}"
        for host in evidence.usage
        if host.expected_samples - host.samples > max(1.0, bounds.missing * host.expected_samples)
    ]
    uncovered = [
        f"{host.host}: {host.absent.get('cpu', 'no CPU counter')}"
        for host in evidence.usage
        if host.whole.cpu is None
    ]
    if short or uncovered:
        return Finding(Status.INVALID, "; ".join(short + uncovered), bound)
    most = max(
        (host.expected_samples - host.samples) / max(1.0, bounds.missing * host.expected_samples)
        for host in evidence.usage
    )
    taken = sum(host.samples for host in evidence.usage)
    expected = sum(host.expected_samples for host in evidence.usage)
    return Finding(Status.VALID, f"{taken} samples, {expected} expected", bound, max(0.0, most))


def _connections(evidence: Evidence, _bounds: Bounds) -> Finding:
    bound = "only addresses of the endpoint: " + ", ".join(sorted(evidence.endpoint))
    remotes = frozenset(evidence.measurement.remotes)
    if not remotes:
        return Finding(Status.UNKNOWN, "the generator did not tell where it connected to", bound)
    outside = sorted(remotes - evidence.endpoint)
    if outside:
        return Finding(
            Status.INVALID, "connections left the endpoint: " + ", ".join(outside), bound
        )
    return Finding(Status.VALID, ", ".join(sorted(remotes)), bound)


def _throttled(evidence: Evidence, bounds: Bounds) -> Finding:
    known = {
        f"{unit or 'all'} on {host.host}": used.throttled
        for host in evidence.usage
        if host.host not in evidence.others
        for unit, used in (("", host.whole), *host.units.items())
    }
    largest = _largest(known)
    bound = "a quota is under study" if evidence.quota else f"at most {duration(bounds.throttled)}"
    if largest is None:
        return Finding(Status.UNKNOWN, _why(evidence.usage, "throttled"), bound)
    held = evidence.quota or largest[1] <= bounds.throttled
    used = None if evidence.quota else _used(largest[1], bounds.throttled)
    return Finding(_passes(held), f"{duration(largest[1])}, {largest[0]}", bound, used)


def _slowdown(evidence: Evidence, bounds: Bounds) -> Finding:
    if evidence.slowdown == 0 and evidence.paused is None:
        return Finding(Status.VALID, "none is declared", "none is declared")
    bound = f"{percent(evidence.slowdown)} of the time, give or take {percent(bounds.slowdown)}"
    if evidence.paused is None:
        return Finding(Status.UNKNOWN, "it was not read back", bound)
    missed = abs(evidence.paused - evidence.slowdown)
    seen = f"{percent(evidence.paused)} of the time"
    return Finding(_passes(missed <= bounds.slowdown), seen, bound, _used(missed, bounds.slowdown))


def _parts(evidence: Evidence, _bounds: Bounds) -> Finding:
    found = evidence.measurement.parts
    return Finding(
        _passes(found == evidence.parts), f"{found} engines", f"{evidence.parts} engines"
    )


def _duration(evidence: Evidence, bounds: Bounds) -> Finding:
    ordered = (evidence.order.duration or 0.0) * bounds.duration
    wanted = max(bounds.shortest, ordered)
    seconds = evidence.measurement.seconds
    used = _used(wanted, seconds)
    return Finding(
        _passes(seconds >= wanted), duration(seconds), f"at least {duration(wanted)}", used
    )


def _clock(evidence: Evidence, bounds: Bounds) -> Finding:
    bound = f"no host's clock set by more than {duration(bounds.clock)}"
    if not evidence.clocks:
        return Finding(Status.UNKNOWN, "no clock was read", bound)
    name, moved = max(evidence.clocks.items(), key=lambda pair: abs(pair[1]))
    if kept_time(evidence.clocks, bounds):
        used = _used(abs(moved), bounds.clock)
        return Finding(Status.VALID, f"moved by {duration(abs(moved))} at most", bound, used)
    way = "back" if moved < 0 else "ahead"
    return Finding(
        Status.INVALID, f"the clock of {name} was set {way} by {duration(abs(moved))}", bound
    )


def _idle(evidence: Evidence, bounds: Bounds) -> Finding:
    if evidence.idle is None:
        return Finding(Status.VALID, "no others lived meanwhile", "none where nobody has turns")
    bound = f"at most {percent(bounds.idle)} of one processor in the others' turns"
    known = [each for each in evidence.idle if each is not None]
    if len(known) < len(evidence.idle):
        return Finding(Status.UNKNOWN, "no two readings lie in one turn of another's", bound)
    used = math.fsum(known)
    seen = f"{percent(used)} of one processor"
    return Finding(_passes(used <= bounds.idle), seen, bound, _used(used, bounds.idle))


def _largest(known: dict[str, float | None]) -> tuple[str, float] | None:
    found = [(where, value) for where, value in known.items() if value is not None]
    return max(found, key=lambda pair: pair[1], default=None)


def _why(usage: Sequence[HostUsage], counter: str) -> str:
    for host in usage:
        for name in (counter, f"machine.{counter}"):
            if name in host.absent:
                return f"not known: {host.absent[name]}"
    return "not known: no host reported it"


GATES: dict[str, Gate] = {
    "errors": _errors,
    "client": _client,
    "schedule": _schedule,
    "search": _search,
    "steady": _steady,
    "swap": _swap,
    "steal": _steal,
    "other load": _other,
    "iowait": _iowait,
    "samples": _samples,
    "connections": _connections,
    "throttled": _throttled,
    "slowdown": _slowdown,
    "parts": _parts,
    "duration": _duration,
    "idle": _idle,
    CLOCK: _clock,
}
"""Every gate by the name that reports show."""

DISTURBANCES = frozenset({"steal", "other load", CLOCK})
"""Gates that fail for reasons outside the testbed. Only these let a run be measured again: any
other gate looks at what the deployment itself did, and would select by outcome."""


def kept_time(clocks: Mapping[str, float], bounds: Bounds | None = None) -> bool:
    """Whether no host's clock was set while a run went on."""
    return all(abs(moved) <= (bounds or Bounds()).clock for moved in clocks.values())


def disturbed(checks: Iterable[CheckResult]) -> bool:
    """Whether a run was disturbed from outside.

    Whatever other gates found besides may only follow from that, and to ask for them, too, would
    select by outcome: a run is made again for what the machine suffered, and for nothing else.
    """
    return any(check.status is Status.INVALID and check.check in DISTURBANCES for check in checks)
