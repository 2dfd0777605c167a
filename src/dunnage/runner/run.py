"""One run: fill the database if due, watch every host, drive, measure, judge, record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dunnage.analysis.checks import Evidence, against, disturbed, judge, kept_time, status
from dunnage.analysis.values import failed as errors_of
from dunnage.analysis.values import values
from dunnage.errors import RunError
from dunnage.model.choices import Phase
from dunnage.model.load import WINDOW, LoadOrder
from dunnage.model.plan import BEFORE, RunPlan
from dunnage.model.record import Attempt, Record
from dunnage.model.study import NO_MEMBERS
from dunnage.runner.condition import condition
from dunnage.runner.drive import keep_artefacts, order_for
from dunnage.runner.fill import fill, settle
from dunnage.runner.in_turns import INTERVAL
from dunnage.runner.members import insist_whole, states
from dunnage.runner.search import make_load
from dunnage.runner.stay import Stay
from dunnage.runner.watch import watching
from dunnage.runner.work import Work
from dunnage.store.events import AGAIN
from dunnage.wording.checks import failed

ATTEMPTS = 3
"""Measurements of one run at most: patience is for all runs of a study."""


def carry_out(stay: Stay, plan: RunPlan, work: Work) -> Record:
    """Carry out one run as `until_undisturbed` says, and return its record."""
    (record,) = until_undisturbed(lambda attempt: [measure(stay, plan, attempt)], [stay], work)
    return record


def until_undisturbed(
    measured: Callable[[int], Sequence[Record]], stays: Sequence[Stay], work: Work
) -> Sequence[Record]:
    """Measure what belongs together, and again while it was disturbed and there is patience.

    `measured` gives a record of each stay for an attempt, counted from 1. All are written before
    another attempt begins, and their runs are `done`: an attempt that fails costs nothing but
    itself, whatever it ends. A later one takes their place with all earlier ones named in it.
    Raises RunError when the generator failed, StayError when a member died, HostLostError when a
    host did.
    """
    writer = work.equipment.writer
    records = measured(1)
    for record in records:
        writer.record(record)
        work.done.add(record.run)
    while (
        any(disturbed(record.checks) for record in records)
        and (attempt := len(records[0].earlier) + 2) <= ATTEMPTS
        and not work.stop.requested
        and work.patience.spend(took := records[0].ended - records[0].started)
    ):
        first = records[0]
        writer.journal(AGAIN, run=first.run, stay=first.stay, seconds=took)
        tried = [as_attempt(record) for record in records]
        reasons = failed(check for each in tried for check in each.checks)
        work.watcher.say(
            f"run `{first.run}` was disturbed and is measured again "
            f"(attempt {attempt} of {ATTEMPTS} at most): {reasons}"
        )
        try:
            again = measured(attempt)
        except RunError as error:
            for stay in stays:
                stay.spoiled = True
            work.watcher.say(f"run `{first.run}` could not be measured again: {error}")
            return records
        records = [
            record.model_copy(update={"earlier": (*before.earlier, this)})
            for record, before, this in zip(again, records, tried, strict=True)
        ]
        for record in records:
            writer.record(record)
    return records


def as_attempt(record: Record) -> Attempt:
    return Attempt(
        started=record.started,
        ended=record.ended,
        throughput=values(record).get("throughput", 0.0),
        checks=against(record.checks),
    )


def measure(stay: Stay, plan: RunPlan, attempt: int) -> Record:
    """Make the load once, keep what it left, and judge it."""
    testbed = stay.equipment.testbed
    insist_whole(stay)  # what became of a member in the run before ends the stay here
    fill(stay, plan)
    condition(stay, plan)
    at_rest = settle(stay)
    started = testbed.clock.now()
    order = _order(stay, plan)
    before = {host.name: host.clock_offset() for host in testbed.hosts}
    with watching(stay.equipment, [stay]) as watch:
        made = make_load(stay, order, f"runs/{plan.id}")
    measurement = made.measurement
    members = states(stay, failed=any(errors_of(measurement).values()))
    clocks = {host.name: host.clock_offset() - before[host.name] for host in testbed.hosts}
    began = measurement.began - stay.clients[0].clock_offset()
    used = tuple(
        watch.used(host, seen, began, measurement.seconds) for host, seen in watch.samples()
    )
    # Where a clock was set, nobody knows which lines of the pause's record belong to the window.
    paused = stay.slowdown.paused(began, measurement.seconds) if kept_time(clocks) else None
    evidence = Evidence(
        measurement=measurement,
        usage=used,
        order=made.order,
        endpoint=stay.endpoint,
        parts=len(stay.clients),
        members=members,
        one_machine=testbed.one_machine,
        slowdown=stay.deployment.slowdown,
        paused=paused,
        quota=stay.deployment.limits.cpus is not None,
        search=order.level.search,
        searched=made.searched,
        clocks=clocks,
        foreign=watch.foreign,
    )
    checks = judge(evidence)
    raw = keep_artefacts(stay, plan, attempt, (*made.artefacts, *watch.artefacts()))
    return Record(
        run=plan.id,
        stay=stay.name,
        block=plan.block,
        deployment=plan.deployment,
        workload=plan.workload,
        level=order.level,
        repeat=plan.repeat,
        position=plan.position,
        started=started,
        ended=testbed.clock.now(),
        status=status(checks),
        checks=checks,
        measurement=measurement,
        usage=tuple(h for h in used if h.group in (stay.deployment.hosts, *NO_MEMBERS)),
        one_machine=testbed.one_machine,
        data_size=at_rest.data_size,
        settled=at_rest.seconds,
        paused=paused,
        over_capacity=evidence.over_capacity,
        search=made.searched,
        restarts=stay.restarts.so_far(),
        soft_interrupts=watch.soft_interrupts(began, measurement.seconds, used),
        artefacts=raw,
    )


def _order(stay: Stay, plan: RunPlan) -> LoadOrder:
    load, calibration = stay.equipment.study.load, stay.equipment.calibration
    # The planned level, with the rate that a share of the baseline's capacity is.
    level = calibration.made(plan.level, plan.workload.name) if calibration else plan.level
    # What is compared with turns is measured as they are.
    interval = INTERVAL if load.turns is not None else WINDOW
    order = replace(
        order_for(stay, plan), level=level, interval=interval, latencies=load.turns is None
    )
    if plan.workload.phase is Phase.LOAD:
        return replace(order, phase=Phase.LOAD)
    duration, operations = load.duration, load.operations
    if plan.block == BEFORE:
        duration, operations = load.calibration.duration, None
    return replace(order, warmup=load.warmup, duration=duration, operations=operations)
