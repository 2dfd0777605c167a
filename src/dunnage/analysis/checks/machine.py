"""Gates of the hosts and of the machine below them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

from dunnage.analysis.checks.evidence import Bounds, Evidence
from dunnage.analysis.checks.finding import (
    Finding,
    as_far_as_seen,
    count,
    largest,
    not_known,
    reasons,
    seconds,
    share,
    size,
    text,
    unseen,
    up_to,
)
from dunnage.analysis.checks.load import NOT_ASKED
from dunnage.model.check import Reading, Status, Why
from dunnage.model.load import AGENT, NO_SERVERS, PODS
from dunnage.model.record import HostUsage, Usage
from dunnage.model.study import CONTROL_GROUP

PROCESSES, LEAST_PROCESS = 3, 0.01
"""Processes that are named where others were too busy, and the share that makes one worth it."""


def swap(evidence: Evidence, bounds: Bounds) -> Finding:
    """Memory of a host on disk."""
    swapped = partial(size, "swap")
    most = largest({host.host: host.whole.swap for host in evidence.usage})
    if most is None:
        if {host.machine.swap_total for host in evidence.usage} == {0.0}:
            return Finding(Status.VALID, Why.NOT_ASKED, allowed=(swapped(bounds.swap),))
        return not_known(evidence.usage, "swap", swapped(bounds.swap))
    return up_to(bounds.swap, most[1], swapped, most[0])


def steal(evidence: Evidence, bounds: Bounds) -> Finding:
    """CPU time that the physical machine gave to others."""
    stolen = partial(share, "steal")
    most = largest({host.host: host.machine.steal for host in evidence.usage})
    if most is None:
        return not_known(evidence.usage, "steal", stolen(bounds.steal))
    return up_to(bounds.steal, most[1], stolen, most[0], itself=False)


def other_load(evidence: Evidence, bounds: Bounds) -> Finding:
    """CPU time that no host of the testbed used.

    Where a member may run on their machine, but in no host, it may be what is busy there.
    """
    if evidence.one_machine and any(host.unseen for host in evidence.usage):
        return unseen(evidence.usage, share("others", bounds.other))
    return as_far_as_seen(_other_load)(evidence, bounds)


def _other_load(evidence: Evidence, bounds: Bounds) -> Finding:
    others = partial(share, "others")
    machines = [tuple(evidence.usage)] if evidence.one_machine else [(h,) for h in evidence.usage]
    watched = evidence.watched or evidence.measurement.seconds
    shares = [_others(hosts, watched) for hosts in machines]
    known = [each for each in shares if each is not None]
    if not known or len(known) < len(shares):
        return not_known(evidence.usage, "cpu_total", others(bounds.other))
    found = up_to(bounds.other, max(known), others, itself=False)
    if found.status is Status.VALID:
        return found
    return found._replace(seen=(*found.seen, *_busiest(evidence)))


def _busiest(evidence: Evidence) -> tuple[Reading, ...]:
    """The processes of no host that used most, as shares of the machine's CPU time."""
    processors = evidence.usage[0].machine.processors or math.inf
    shares = {name: used / processors for name, used in evidence.foreign.items()}
    ranked = sorted(shares.items(), key=lambda pair: -pair[1])[:PROCESSES]
    return tuple(share("process", part, name) for name, part in ranked if part >= LEAST_PROCESS)


def _others(hosts: Sequence[HostUsage], length: float) -> float | None:
    """Share of one machine's CPU time that none of its testbed hosts used, or strangers on them."""
    machine = hosts[0].machine if hosts else None
    if machine is None or machine.busy is None or not machine.processors or length <= 0:
        return None
    own = [host.whole.cpu for host in hosts]
    if None in own:
        return None
    ours = sum(cpu for cpu in own if cpu) - sum(map(_strangers, hosts))
    return machine.busy - ours / (machine.processors * length)


def _strangers(host: HostUsage) -> float:
    """CPU seconds of pods that are neither members nor ours; 0 where they are not told apart."""
    pods, agent = (host.units.get(name, Usage()).cpu for name in (PODS, AGENT))
    if pods is None or agent is None:
        return 0.0
    members = (used.cpu or 0.0 for name, used in host.units.items() if name not in NO_SERVERS)
    return max(0.0, pods - agent - sum(members))


def iowait(evidence: Evidence, _bounds: Bounds) -> Finding:
    """CPU time that waited for disks: shown because it explains, and never too much."""
    most = largest({host.host: host.machine.iowait for host in evidence.usage})
    if most is None:
        return Finding(Status.VALID, Why.NOT_KNOWN, reasons(evidence.usage, "iowait"))
    return Finding(Status.VALID, Why.MEASURED, (share("iowait", most[1], most[0]),))


def samples(evidence: Evidence, bounds: Bounds) -> Finding:
    """Whether every host was watched all the time."""
    allowed = (share("missing", bounds.missing),)
    if not evidence.usage:
        return Finding(Status.UNKNOWN, Why.NOTHING, allowed=allowed)
    short = [
        reading
        for host in evidence.usage
        if host.expected_samples - host.samples > max(1.0, bounds.missing * host.expected_samples)
        for reading in (
            count("samples", host.samples, host.host),
            count("expected", host.expected_samples, host.host),
        )
    ]
    uncovered = [
        text("uncovered", host.why("cpu") or "no reason is known", host.host)
        for host in evidence.usage
        if host.whole.cpu is None
    ]
    if short or uncovered:
        return Finding(Status.INVALID, Why.INCOMPLETE, (*short, *uncovered), allowed)
    most = max(
        (host.expected_samples - host.samples) / max(1.0, bounds.missing * host.expected_samples)
        for host in evidence.usage
    )
    seen = (
        count("samples", sum(host.samples for host in evidence.usage)),
        count("expected", sum(host.expected_samples for host in evidence.usage)),
    )
    return Finding(Status.VALID, Why.MEASURED, seen, allowed, max(0.0, most))


def throttled(evidence: Evidence, bounds: Bounds) -> Finding:
    """Time in which a CPU quota held processes back."""
    most = largest(
        {
            (host.host, unit or "all"): usage.throttled
            for host in evidence.usage
            if host.host not in evidence.others
            for unit, usage in (("", host.whole), *host.units.items())
        }
    )
    held_back = partial(seconds, "throttled")
    allowed = () if evidence.quota else (held_back(bounds.throttled),)
    if most is None:
        return not_known(evidence.usage, "throttled", *allowed)
    if evidence.quota:
        return Finding(Status.VALID, Why.QUOTA, (held_back(most[1], *most[0]),))
    return up_to(bounds.throttled, most[1], held_back, *most[0])


def clock(evidence: Evidence, bounds: Bounds) -> Finding:
    """Whether a host's clock was set while the run went on."""
    moved_by = partial(seconds, "moved")
    allowed = (moved_by(bounds.clock),)
    if not evidence.clocks:
        return Finding(Status.UNKNOWN, Why.NOT_KNOWN, allowed=allowed)
    name, moved = max(evidence.clocks.items(), key=lambda pair: abs(pair[1]))
    if kept_time(evidence.clocks, bounds):
        return up_to(bounds.clock, abs(moved), moved_by)
    set_ = seconds("back" if moved < 0 else "ahead", abs(moved), name)
    return Finding(Status.INVALID, Why.SET, (set_,), allowed)


def kept_time(clocks: Mapping[str, float], bounds: Bounds | None = None) -> bool:
    """Whether no host's clock was set while a run went on."""
    return all(abs(moved) <= (bounds or Bounds()).clock for moved in clocks.values())


def control(evidence: Evidence, bounds: Bounds) -> Finding:
    """What the hosts used that direct an orchestrator's nodes, on the cores of the clients.

    It is a gate for moments unlike the others, such as after a program has been restarted. A
    deployment whose runs exceed the bound more often than those of the others does so by itself: it
    costs this here. To leave its busiest runs out would spare it that cost, thin one side only, and
    keep runs just below the bound, which cost about as much. So they count then, and the answer
    tells it (`gather`), as it does of throughput that moves by itself.
    """
    hosts = [host for host in evidence.usage if host.group == CONTROL_GROUP]
    if not hosts:
        return NOT_ASKED
    length = evidence.watched or evidence.measurement.seconds
    busy = partial(share, "control")
    known = [host.whole.cpu for host in hosts if host.whole.cpu is not None]
    if len(known) < len(hosts) or length <= 0:
        return not_known(hosts, "cpu", busy(bounds.control))
    return up_to(bounds.control, math.fsum(known) / length, busy)


def idle(evidence: Evidence, bounds: Bounds) -> Finding:
    """What a deployment used while others had their turns."""
    if evidence.idle is None:
        return NOT_ASKED
    used_by_members = partial(share, "idle")
    known = [each for each in evidence.idle if each is not None]
    if len(known) < len(evidence.idle):
        allowed = (used_by_members(bounds.idle),)
        return Finding(Status.UNKNOWN, Why.NOT_KNOWN, allowed=allowed)
    return up_to(bounds.idle, math.fsum(known), used_by_members)
