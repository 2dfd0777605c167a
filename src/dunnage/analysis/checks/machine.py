"""Gates of the hosts and of the machine below them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dunnage.analysis.checks.evidence import Bounds, Evidence
from dunnage.analysis.checks.finding import (
    Finding,
    count,
    largest,
    not_known,
    reasons,
    seconds,
    share,
    text,
    up_to,
)
from dunnage.analysis.checks.load import NOT_ASKED
from dunnage.model.check import Reading, Status, Why
from dunnage.model.record import HostUsage


def swap(evidence: Evidence, bounds: Bounds) -> Finding:
    """Memory of a host on disk."""
    allowed = Reading(what="swap", value=bounds.swap, unit="B")
    most = largest({host.host: host.whole.swap for host in evidence.usage})
    if most is None:
        if {host.machine.swap_total for host in evidence.usage} == {0.0}:
            return Finding(Status.VALID, Why.NOT_ASKED, allowed=(allowed,))
        return not_known(evidence.usage, "swap", allowed)
    return up_to(allowed, Reading(what="swap", value=most[1], unit="B", where=most[0]))


def steal(evidence: Evidence, bounds: Bounds) -> Finding:
    """CPU time that the physical machine gave to others."""
    allowed = share("steal", bounds.steal)
    most = largest({host.host: host.machine.steal for host in evidence.usage})
    if most is None:
        return not_known(evidence.usage, "steal", allowed)
    return up_to(allowed, share("steal", most[1], most[0]), itself=False)


def other_load(evidence: Evidence, bounds: Bounds) -> Finding:
    """CPU time that no host of the testbed used."""
    allowed = share("others", bounds.other)
    machines = [tuple(evidence.usage)] if evidence.one_machine else [(h,) for h in evidence.usage]
    watched = evidence.watched or evidence.measurement.seconds
    shares = [_others(hosts, watched) for hosts in machines]
    known = [each for each in shares if each is not None]
    if not known or len(known) < len(shares):
        return not_known(evidence.usage, "cpu_total", allowed)
    return up_to(allowed, share("others", max(known)), itself=False)


def _others(hosts: Sequence[HostUsage], length: float) -> float | None:
    """Share of one machine's CPU time that none of its testbed hosts used."""
    machine = hosts[0].machine if hosts else None
    if machine is None or machine.busy is None or not machine.processors or length <= 0:
        return None
    own = [host.whole.cpu for host in hosts]
    if None in own:
        return None
    return machine.busy - sum(cpu for cpu in own if cpu) / (machine.processors * length)


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
        text("uncovered", host.absent.get("cpu", "no reason is known"), host.host)
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
    bound = seconds("throttled", bounds.throttled)
    allowed = () if evidence.quota else (bound,)
    if most is None:
        return not_known(evidence.usage, "throttled", *allowed)
    seen = seconds("throttled", most[1], *most[0])
    if evidence.quota:
        return Finding(Status.VALID, Why.QUOTA, (seen,))
    return up_to(bound, seen)


def clock(evidence: Evidence, bounds: Bounds) -> Finding:
    """Whether a host's clock was set while the run went on."""
    allowed = seconds("moved", bounds.clock)
    if not evidence.clocks:
        return Finding(Status.UNKNOWN, Why.NOT_KNOWN, allowed=(allowed,))
    name, moved = max(evidence.clocks.items(), key=lambda pair: abs(pair[1]))
    if kept_time(evidence.clocks, bounds):
        return up_to(allowed, seconds("moved", abs(moved)))
    set_ = seconds("back" if moved < 0 else "ahead", abs(moved), name)
    return Finding(Status.INVALID, Why.SET, (set_,), (allowed,))


def kept_time(clocks: Mapping[str, float], bounds: Bounds | None = None) -> bool:
    """Whether no host's clock was set while a run went on."""
    return all(abs(moved) <= (bounds or Bounds()).clock for moved in clocks.values())


def idle(evidence: Evidence, bounds: Bounds) -> Finding:
    """What a deployment used while others had their turns."""
    if evidence.idle is None:
        return NOT_ASKED
    allowed = share("idle", bounds.idle)
    known = [each for each in evidence.idle if each is not None]
    if len(known) < len(evidence.idle):
        return Finding(Status.UNKNOWN, Why.NOT_KNOWN, allowed=(allowed,))
    return up_to(allowed, share("idle", math.fsum(known)))
