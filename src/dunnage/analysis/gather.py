"""The records of a result, sorted by what they measured, with what counts and what does not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple

from dunnage.analysis.checks import CONTROL, against, status
from dunnage.analysis.checks.finding import count, share
from dunnage.analysis.frequency import Frequency, by_themselves, over_blocks, together
from dunnage.analysis.groups import grouped
from dunnage.analysis.order import Placed
from dunnage.analysis.runs import Runs, Setting, counts
from dunnage.analysis.steady import Moved, Usual, flatness, unsteady
from dunnage.analysis.values import absent, sampler_cpu, values
from dunnage.model.analysis import RunSummary
from dunnage.model.check import CheckResult, Reading, Status, Why
from dunnage.model.choices import Phase
from dunnage.model.damage import Damage
from dunnage.model.parity import Cause, Difference
from dunnage.model.plan import Plan, RunPlan
from dunnage.model.record import Record
from dunnage.model.remarks import Managed, Moving

STEADY = "steady"
"""The gate that a study judges, and not a run by itself."""
FILES = "files"
"""The gate that a whole result passes without notice."""


class Place(NamedTuple):
    """Where a stay stands in its block, from 0, and the deployment of the stay right before it."""

    place: int
    after: str


@dataclass(frozen=True)
class Gathered(Runs):
    """All planned runs that have a record, with their records."""

    records: Mapping[str, Record]
    """Run id → record, in the order of the plan."""
    settings: tuple[Setting, ...]
    planned: int
    places: Mapping[tuple[int, str], Place]
    """Block and deployment → the planned place there and what comes before."""
    at_once: bool
    """Whether all of a block were driven in turns: places are hosts then, and no order."""
    unsteady: frozenset[str]
    """Runs that the study's other runs made invalid: they moved by more."""
    moving: tuple[Moving, ...]
    """Deployments whose throughput moves by itself: their runs are none of these."""
    managed: tuple[Managed, ...]
    """Deployments whose manager is busy by itself: `control` leaves out no run of these."""

    def placed(self, setting: Setting, metric: str) -> list[Placed]:
        """Values of all valid runs of a setting with their places in the study."""
        return [
            Placed(
                run.position,
                run.block,
                run.deployment,
                run.values[metric],
                *self.places[run.block, run.deployment],
            )
            for run in self.runs
            if run.status == Status.VALID
            and (run.workload, run.level) == setting
            and counts(run, metric)
        ]

    @property
    def excused(self) -> int:
        """Runs that the gate `control` would leave out, and that count."""
        busy = {each.deployment for each in self.managed}
        return sum(_over(record) for record in self.records.values() if record.deployment in busy)

    def disturbed(self) -> dict[str, int]:
        """Gate → attempts that it spoilt and that were made again."""
        # Deployments that are driven in turns have their attempts together.
        spoilt = {
            (attempt.started, attempt.ended, check.check)
            for record in self.records.values()
            for attempt in record.earlier
            for check in attempt.checks
        }
        return dict(sorted(Counter(gate for _, _, gate in spoilt).items()))

    def valid_records(self, deployment: str, setting: Setting) -> tuple[Record, ...]:
        """Records of a deployment's valid runs of a setting."""
        return tuple(self.records[run.run] for run in self.valid(deployment, setting))

    def cells(self, setting: Setting, metric: str) -> dict[tuple[int, str], list[float]]:
        """(block, deployment) → log values of its valid runs, where they are all of one stay.

        Those that `lost` the metric at this setting have none.
        """
        found = [
            run
            for run in self.runs
            if run.status == Status.VALID
            and (run.workload, run.level) == setting
            and run.values.get(metric, 0.0) > 0
            and not self.lost(run.deployment, setting, metric)
        ]
        return {
            cell: [math.log(run.values[metric]) for run in runs]
            for cell, runs in grouped(found, lambda run: (run.block, run.deployment)).items()
            if len({run.stay for run in runs}) == 1
        }


def gather(
    plan: Plan,
    records: Sequence[Record],
    broken: Mapping[str, tuple[Difference, ...]],
    damages: Sequence[Damage] = (),
) -> Gathered:
    """Put the records into the order of the plan; what was not planned is left out.

    `broken` maps a stay to what parity found there. With an undeclared difference its runs are
    invalid, because they measured something else; with what could not be compared they are unknown.
    So are runs with damaged files: whatever their records hold is left out.
    """
    by_run = {record.run: record for record in records}
    damaged = grouped(damages, lambda damage: damage.run)
    planned = list(plan.runs())
    known = {
        run.id: by_run[run.id] for run in planned if run.id in by_run and run.id not in damaged
    }
    busy = over_blocks(known.values(), _over)
    platforms = {each.name: each.platform for each in plan.deployments}
    managed = by_themselves(busy, platforms)
    runs = [
        _damaged(run, damaged[run.id])
        if run.id in damaged
        else _summary(known[run.id], broken.get(known[run.id].stay, ()), managed)
        for run in planned
        if run.id in known or run.id in damaged
    ]
    beyond = _beyond(runs)
    moves = over_blocks(_judged(runs), lambda run: run.run in beyond)
    own = by_themselves(moves, platforms)
    moved = {
        run.run: beyond[run.run] for run in runs if run.run in beyond and run.deployment not in own
    }
    return Gathered(
        runs=tuple(_steadied(runs, moved)),
        records=known,
        settings=settings(plan),
        planned=len(planned),
        places=_places(plan),
        at_once=any(stay.hosts is not None for block in plan.blocks for stay in block.stays),
        unsteady=frozenset(moved),
        moving=tuple(_own(deployment, moves, own) for deployment in own),
        managed=tuple(_managed(name, busy, managed, known.values()) for name in managed),
    )


def _places(plan: Plan) -> dict[tuple[int, str], Place]:
    found: dict[tuple[int, str], Place] = {}
    before = ""
    for block in plan.blocks:
        for place, stay in enumerate(block.stays):
            found[block.index, stay.deployment] = Place(place, before)
            # Where load comes in turns all of a block live at once: none comes after another.
            before = stay.deployment if stay.hosts is None else ""
    return found


def _damaged(run: RunPlan, damages: Sequence[Damage]) -> RunSummary:
    """A run with damaged files, as it was planned."""
    seen = [
        Reading(what="file", value=PurePath(damage.file).name, where=damage.flaw.value)
        for damage in damages
    ]
    return RunSummary(
        run=run.id,
        stay="",
        block=run.block,
        deployment=run.deployment,
        workload=run.workload.name,
        level=run.level.name,
        position=run.position,
        status=Status.UNKNOWN,
        values={},
        checks=(
            CheckResult(check=FILES, status=Status.UNKNOWN, why=Why.DAMAGED, seen=tuple(seen)),
        ),
    )


def _summary(record: Record, broken: Sequence[Difference], managed: Collection[str]) -> RunSummary:
    checks = record.checks
    if record.deployment in managed:
        checks = tuple(check for check in checks if not _too_busy(check))
    own = record.status if len(checks) == len(record.checks) else status(checks)
    return RunSummary(
        run=record.run,
        stay=record.stay,
        block=record.block,
        deployment=record.deployment,
        workload=record.workload.name,
        level=record.level.name,
        position=record.position,
        status=_status(own, broken),
        values=values(record),
        absent=absent(record),
        checks=against(checks),
        differences=tuple(broken),
        paused=record.paused,
        over_capacity=record.over_capacity,
        sampler_cpu=sampler_cpu(record.usage),
        trend=_trend(record),
    )


def _judged(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Valid runs of which is known by how much they moved."""
    return [run for run in runs if run.status == Status.VALID and run.trend is not None]


def _beyond(runs: Sequence[RunSummary]) -> dict[str, Usual]:
    """Runs that moved by more than the study's runs of their setting do."""
    found: dict[str, Usual] = {}
    for alike in grouped(_judged(runs), lambda run: (run.workload, run.level)).values():
        found |= unsteady([Moved(run.run, run.deployment, run.trend or 0.0) for run in alike])
    return found


def _own(deployment: str, moves: Mapping[str, Frequency], own: Collection[str]) -> Moving:
    others = together(moves, own)
    return Moving(
        deployment=deployment,
        moved=moves[deployment].times,
        blocks=moves[deployment].blocks,
        elsewhere=others.times,
        others=others.blocks,
    )


def _too_busy(check: CheckResult) -> bool:
    """Whether hosts that direct others used too much."""
    return check.check == CONTROL and check.status is Status.INVALID


def _over(record: Record) -> bool:
    """Whether hosts that direct others used too much in a run."""
    return any(map(_too_busy, record.checks))


def _managed(
    deployment: str,
    busy: Mapping[str, Frequency],
    managed: Collection[str],
    records: Iterable[Record],
) -> Managed:
    others = together(busy, managed)
    used = [
        reading.value
        for each in records
        if each.deployment == deployment
        for check in filter(_too_busy, each.checks)
        for reading in check.seen
        if isinstance(reading.value, float)
    ]
    return Managed(
        deployment=deployment,
        over=busy[deployment].times,
        blocks=busy[deployment].blocks,
        elsewhere=others.times,
        others=others.blocks,
        most=max(used, default=None),
    )


def _steadied(runs: Sequence[RunSummary], moved: Mapping[str, Usual]) -> Iterator[RunSummary]:
    for run in runs:
        known = moved.get(run.run)
        if known is None or run.trend is None:
            yield run
            continue
        check = CheckResult(
            check=STEADY,
            status=Status.INVALID,
            why=Why.MOVED,
            seen=(share("trend", run.trend),),
            allowed=(
                share("most", math.expm1(known.most)),
                count("runs", known.runs),
                share("spread", known.spread),
            ),
        )
        update = {"status": Status.INVALID.value, "checks": (*run.checks, check)}
        yield run.model_copy(update=update)


def _trend(record: Record) -> float | None:
    """By how much throughput moved while it was measured; a load phase need not be steady."""
    if record.measurement is None or record.workload.phase is Phase.LOAD:
        return None
    found = flatness(record.measurement.windows)
    return found.change if found is not None and math.isfinite(found.change) else None


def _status(own: Status, broken: Sequence[Difference]) -> Status:
    if any(found.cause is Cause.UNDECLARED for found in broken):
        return Status.INVALID
    return Status.UNKNOWN if broken and own is Status.VALID else own


def settings(plan: Plan) -> tuple[Setting, ...]:
    """By workload, then from light to heavy load, whatever order the seed gave the runs."""
    levels = {Setting(run.workload.name, run.level.name): run.level for run in plan.runs()}
    return tuple(sorted(levels, key=lambda each: (each[0], levels[each].weight, each[1])))
