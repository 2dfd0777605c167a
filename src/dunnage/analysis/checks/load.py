"""Gates of the load: errors, the generator itself, its schedule, a search, a steady database."""

from __future__ import annotations

from functools import partial

from dunnage.analysis.checks.evidence import Bounds, Evidence
from dunnage.analysis.checks.finding import (
    Finding,
    count,
    passes,
    seconds,
    share,
    text,
    up_to,
    used,
)
from dunnage.analysis.schedule import KEPT, measured
from dunnage.analysis.steady import flatness, speed_change
from dunnage.analysis.values import answered, failed
from dunnage.model.check import Reading, Status, Why
from dunnage.model.choices import Phase
from dunnage.model.load import STEADY_WINDOWS
from dunnage.model.record import Ending

NOT_ASKED = Finding(Status.VALID, Why.NOT_ASKED)


def errors(evidence: Evidence, bounds: Bounds) -> Finding:
    """Operations that failed; a backlog that is left over capacity is no fault."""
    kinds = failed(evidence.measurement)
    number = sum(kinds.values())
    total = number + answered(evidence.measurement)
    allowed = (share("errors", bounds.errors),)
    if not total:
        return Finding(Status.INVALID, Why.NOTHING, allowed=allowed)
    seen = [count("errors", number), count("operations", total)]
    seen += [count("kind", n, kind) for kind, n in sorted(kinds.items()) if n]
    why = Why.MEASURED
    if evidence.over_capacity and number:
        # A backlog that could not be worked off after the end is the overload itself.
        number = sum(window.errors for window in measured(evidence.measurement.windows))
        seen.append(count("in window", number))
        why = Why.OVER_CAPACITY
    part = number / total
    return Finding(
        passes(part <= bounds.errors), why, tuple(seen), allowed, used(part, bounds.errors)
    )


def client(evidence: Evidence, bounds: Bounds) -> Finding:
    """The busiest thread of the load generator, and for how long it was at its limit.

    The latter is judged in an open load only: a closed loop that is far from its limit works for
    many a moment without a pause, as answers come in groups.
    """
    limit = bounds.busy_open if evidence.order.level.open else bounds.busy_closed
    busy, limited = evidence.measurement.client_busy, evidence.measurement.client_limited
    average = up_to(limit, busy, partial(share, "busy"), itself=False)
    if limited is None or not evidence.order.level.open:
        return average
    moments = up_to(bounds.limited, limited, partial(share, "limited"))
    both = (average, moments)
    return Finding(
        passes(all(each.status is Status.VALID for each in both)),
        Why.MEASURED,
        tuple(reading for each in both for reading in each.seen),
        tuple(reading for each in both for reading in each.allowed),
        max(each.used or 0.0 for each in both),
    )


def schedule(evidence: Evidence, _bounds: Bounds) -> Finding:
    """Whether an open load started its operations when it should have."""
    if not evidence.order.level.open:
        return NOT_ASKED
    allowed = (share("achieved", KEPT),)
    kept = evidence.schedule
    if kept is None:
        return Finding(Status.UNKNOWN, Why.NOT_KNOWN, allowed=allowed)
    flow = kept.flow
    seen: tuple[Reading, ...] = (
        share("achieved", flow.achieved),
        Reading(what="offered", value=flow.offered, unit="op/s"),
        seconds("lag", flow.lag),
    )
    why = Why.MEASURED
    if kept.over:
        seen = (*seen, seconds("growth", max(flow.slope, 0.0)))
        why = Why.CLIENT_LATE if kept.client else Why.OVER_CAPACITY
    return Finding(passes(not (kept.over and kept.client)), why, seen, allowed)


def search(evidence: Evidence, _bounds: Bounds) -> Finding:
    """Whether a search for saturation found what it was looking for."""
    if evidence.search is None or evidence.searched is None:
        return NOT_ASKED
    probes, rate = evidence.searched.probes, evidence.searched.rate
    allowed = (share("precision", evidence.search.precision),)
    seen: tuple[Reading, ...] = (count("probes", len(probes)),)
    if rate is None:
        return Finding(Status.INVALID, Why.NOTHING, seen, allowed)
    seen = (*seen, Reading(what="sustained", value=rate, unit="op/s"))
    above = [probe for probe in probes if probe.rate > rate and not probe.sustained]
    if not above:
        return Finding(Status.INVALID, Why.NONE_REFUSED, seen, allowed)
    nearest = min(probe.rate for probe in above)
    seen = (*seen, Reading(what="refused", value=nearest, unit="op/s"))
    if all(probe.client for probe in above if probe.rate == nearest):
        return Finding(Status.INVALID, Why.CLIENT_LIMIT, seen, allowed)
    found = evidence.searched.ended is Ending.FOUND
    return Finding(passes(found), Why.MEASURED, seen, allowed)


def steady(evidence: Evidence, _bounds: Bounds) -> Finding:
    """Whether answers came all the time; by how much a run may move its study's others tell."""
    if evidence.order.phase is Phase.LOAD:
        return NOT_ASKED
    found = flatness(evidence.measurement.windows)
    if found is None:
        return Finding(Status.UNKNOWN, Why.TOO_SHORT, allowed=(count("windows", STEADY_WINDOWS),))
    seen: tuple[Reading, ...] = (
        share("change", found.change),
        count("windows", found.windows),
        count("empty", found.empty),
    )
    if speed := speed_change(evidence.usage):
        seen = (*seen, share("speed", speed))
    return Finding(passes(not found.empty), Why.MEASURED, seen, (count("empty", 0),))


def connections(evidence: Evidence, _bounds: Bounds) -> Finding:
    """Whether clients connected to the endpoint under study, and to nothing else."""
    allowed = tuple(text("address", each) for each in sorted(evidence.endpoint))
    remotes = frozenset(evidence.measurement.remotes)
    if not remotes:
        return Finding(Status.UNKNOWN, Why.NOT_KNOWN, allowed=allowed)
    outside = remotes - evidence.endpoint
    seen = tuple(text("address", each) for each in sorted(outside or remotes))
    why = Why.OUTSIDE if outside else Why.MEASURED
    return Finding(passes(not outside), why, seen, allowed)


def parts(evidence: Evidence, _bounds: Bounds) -> Finding:
    """Whether every load generator that was started took part."""
    found, started = evidence.measurement.parts, evidence.parts
    seen, allowed = (count("engines", found),), (count("engines", started),)
    return Finding(passes(found == started), Why.MEASURED, seen, allowed)


def length(evidence: Evidence, bounds: Bounds) -> Finding:
    """Whether the run measured for as long as was asked for."""
    wanted = max(bounds.shortest, (evidence.order.duration or 0.0) * bounds.duration)
    took = evidence.measurement.seconds
    seen, allowed = (seconds("measured", took),), (seconds("measured", wanted),)
    return Finding(passes(took >= wanted), Why.MEASURED, seen, allowed, used(wanted, took))


def slowdown(evidence: Evidence, bounds: Bounds) -> Finding:
    """Whether servers were held still for the declared share of the time."""
    if evidence.slowdown == 0 and evidence.paused is None:
        return NOT_ASKED
    allowed = (share("paused", evidence.slowdown), share("miss", bounds.slowdown))
    if evidence.paused is None:
        return Finding(Status.UNKNOWN, Why.NOT_KNOWN, allowed=allowed)
    missed = abs(evidence.paused - evidence.slowdown)
    seen = (share("paused", evidence.paused),)
    part = used(missed, bounds.slowdown)
    return Finding(passes(missed <= bounds.slowdown), Why.MEASURED, seen, allowed, part)
