"""One run: fill the database if due, watch every host, drive, measure, judge, record."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from dunnage.analysis.checks import Evidence, disturbed, judge, kept_time, status
from dunnage.analysis.values import values
from dunnage.analysis.windows import usage
from dunnage.errors import RunError
from dunnage.model.check import Status
from dunnage.model.choices import Phase
from dunnage.model.level import Level
from dunnage.model.load import WINDOW, LoadOrder
from dunnage.model.plan import BEFORE, RunPlan
from dunnage.model.record import Attempt, Record
from dunnage.model.study import CLIENT_GROUP
from dunnage.model.value import Scalar
from dunnage.runner.condition import condition
from dunnage.runner.fill import fill, settle
from dunnage.runner.in_turns import INTERVAL
from dunnage.runner.interrupt import Stop
from dunnage.runner.search import make_load
from dunnage.runner.stay import Stay
from dunnage.runner.watch import watching
from dunnage.wording.checks import failed

ATTEMPTS = 3
"""Measurements of one run at most: patience is for all runs of a study."""
AGAIN = "run measured again"
"""What the journal calls it, with the seconds of patience that it takes."""


class Patience:
    """Time that may still be spent on measuring again what was disturbed from outside."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    @classmethod
    def left(cls, seconds: float, events: Iterable[Mapping[str, Scalar]]) -> Patience:
        """What is left of so much, after what a journal tells of the earlier parts of a study."""
        spent = [event.get("seconds") for event in events if event.get("event") == AGAIN]
        return cls(seconds - math.fsum(each for each in spent if isinstance(each, int | float)))

    def spend(self, seconds: float) -> bool:
        """Whether there is time for another attempt of this length; it is taken then."""
        if seconds > self._left:
            return False
        self._left -= seconds
        return True


def carry_out(
    stay: Stay,
    plan: RunPlan,
    done: set[str],
    patience: Patience,
    stop: Stop,
    say: Callable[[str], None],
) -> Record:
    """Carry out one run as `until_undisturbed` says, and return its record."""
    found = until_undisturbed(
        lambda attempt: [measure(stay, plan, attempt)], [stay], done, patience, stop, say
    )
    return found[0]


def until_undisturbed(
    measured: Callable[[int], Sequence[Record]],
    stays: Sequence[Stay],
    done: set[str],
    patience: Patience,
    stop: Stop,
    say: Callable[[str], None],
) -> Sequence[Record]:
    """Measure what belongs together, and again while it was disturbed and there is patience.

    `measured` gives a record of each stay for an attempt, counted from 1. All are written before
    another attempt begins, and their runs are `done`: an attempt that fails costs nothing but
    itself, whatever it ends. A later one takes their place with all earlier ones named in it.
    Raises RunError when the generator failed, StayError when a member died, HostLostError when a
    host did.
    """
    writer = stays[0].equipment.writer
    records = measured(1)
    for record in records:
        writer.record(record)
        done.add(record.run)
    while (
        any(disturbed(record.checks) for record in records)
        and (attempt := len(records[0].earlier) + 2) <= ATTEMPTS
        and not stop.requested
        and patience.spend(took := records[0].ended - records[0].started)
    ):
        first = records[0]
        writer.journal(AGAIN, run=first.run, stay=first.stay, seconds=took)
        tried = [as_attempt(record) for record in records]
        reasons = failed(check for each in tried for check in each.checks)
        say(
            f"run `{first.run}` was disturbed and is measured again "
            f"(attempt {attempt} of {ATTEMPTS} at most): {reasons}"
        )
        try:
            again = measured(attempt)
        except RunError as error:
            for stay in stays:
                stay.spoiled = True
            say(f"run `{first.run}` could not be measured again: {error}")
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
        checks=tuple(check for check in record.checks if check.status is not Status.VALID),
    )


def measure(stay: Stay, plan: RunPlan, attempt: int) -> Record:
    """Make the load once, keep what it left, and judge it."""
    testbed, writer = stay.equipment.testbed, stay.equipment.writer
    fill(stay, plan)
    condition(stay, plan)
    data_size = settle(stay)
    started = testbed.clock.now()
    order = _order(stay, plan)
    before = {host.name: host.clock_offset() for host in testbed.hosts}
    with watching(stay.equipment, [stay]) as watch:
        made = make_load(stay, order, f"runs/{plan.id}")
    measurement = made.measurement
    stay.platform.running()
    clocks = {host.name: host.clock_offset() - before[host.name] for host in testbed.hosts}
    began = measurement.began - stay.clients[0].clock_offset()
    used = tuple(
        usage(seen, host.group, began, measurement.seconds, host.clock_offset())
        for host, seen in watch.samples()
    )
    # Where a clock was set, nobody knows which lines of the pause's record belong to the window.
    paused = stay.slowdown.paused(began, measurement.seconds) if kept_time(clocks) else None
    evidence = Evidence(
        measurement=measurement,
        usage=used,
        order=made.order,
        endpoint=frozenset(str(address) for address in stay.target.endpoint),
        parts=len(stay.clients),
        one_machine=testbed.one_machine,
        slowdown=stay.deployment.slowdown,
        paused=paused,
        quota=stay.deployment.limits.cpus is not None,
        search=order.level.search,
        searched=made.searched,
        clocks=clocks,
    )
    checks = judge(evidence)
    names = []
    for source, files in (*made.artefacts, *watch.artefacts()):
        for name, content in files.items():
            names.append(f"attempt-{attempt}.{source}.{name}")
            writer.artefact(plan.id, names[-1], content)
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
        usage=tuple(each for each in used if each.group in (stay.deployment.hosts, CLIENT_GROUP)),
        one_machine=testbed.one_machine,
        data_size=data_size,
        paused=paused,
        over_capacity=evidence.over_capacity,
        search=made.searched,
        artefacts=tuple(names),
    )


def _order(stay: Stay, plan: RunPlan) -> LoadOrder:
    load = stay.equipment.study.load
    loading = plan.workload.phase is Phase.LOAD
    duration, operations = load.duration, load.operations
    if plan.block == BEFORE:
        duration, operations = load.calibration.duration, None
    return LoadOrder(
        workload=plan.workload,
        phase=plan.workload.phase,
        level=_level(stay, plan),
        target=stay.target,
        connections=load.connections,
        arrivals=load.arrivals,
        warmup=0.0 if loading else load.warmup,
        duration=None if loading else duration,
        operations=None if loading else operations,
        timeout=load.timeout,
        seed=plan.seed,
        # What is compared with turns is measured as they are.
        interval=INTERVAL if load.turns is not None else WINDOW,
        latencies=load.turns is None,
    )


def _level(stay: Stay, plan: RunPlan) -> Level:
    """The planned level, with the rate that a share of the baseline's capacity is."""
    found = stay.equipment.calibration
    return found.made(plan.level, plan.workload.name) if found else plan.level
