"""Which proofs a time has room for; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gate.known import Known
from gate.lanes import lane, scope
from gate.proofs.page import Row
from gate.stages import Machine, Stage, proving

NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Unit:
    """Proofs that are tried together, because something is made once for them; mostly one."""

    stage: Stage
    tests: Mapping[str, float]
    """Test → seconds that it is expected to take."""
    when: datetime
    """When the one that has waited longest was tried; `NEVER` where one of them never was."""
    lanes: Mapping[str, str] = field(default_factory=dict)
    """Test → its lane, where it has one."""


def units(proofs: Iterable[Known], rows: Mapping[str, Row]) -> list[Unit]:
    """The proofs, in their order, with how long they took: the longer of the two times in a row.

    One that nobody measured is expected to take as long as it may.
    """
    together: dict[tuple[str, str], list[Known]] = defaultdict(list)
    for each in proofs:
        together[proving(each.marks).name, each.made_for or each.test].append(each)
    return [
        Unit(
            proving(group[0].marks),
            {each.test: _seconds(each, rows.get(each.test)) for each in group},
            min(rows[each.test].last.when if each.test in rows else NEVER for each in group),
            {each.test: own for each in group if (own := lane(each.test, each.marks))},
        )
        for group in together.values()
    ]


def _seconds(proof: Known, row: Row | None) -> float:
    results = (row.last, row.before) if row else ()
    measured = [each.seconds for each in results if each and each.seconds is not None]
    return max(measured, default=proof.limit)


def portion(waiting: Iterable[Unit], seconds: float) -> list[Unit]:
    """Oldest first until the time is over, and none that does not fit into what is left of it."""
    chosen: list[Unit] = []
    for unit in sorted(waiting, key=lambda unit: unit.when):
        if takes([*chosen, unit]) <= seconds:
            chosen.append(unit)
    return chosen


def takes(chosen: Iterable[Unit]) -> float:
    """Seconds until all have run: stage after stage, each by its workers."""
    stages: dict[str, list[Unit]] = defaultdict(list)
    for unit in chosen:
        stages[unit.stage.name].append(unit)
    return sum(_busiest(group[0].stage, group) for group in stages.values())


def _busiest(stage: Stage, chosen: Sequence[Unit]) -> float:
    """Seconds of the worker that ends last, where each takes the longest load that is left."""
    loads: dict[str, float] = defaultdict(float)
    for unit in chosen:
        for test, seconds in unit.tests.items():
            loads[scope(test, unit.lanes.get(test, "")) if stage.together else test] += seconds
    workers = [0.0] * stage.workers
    for load in sorted(loads.values(), reverse=True):
        workers[workers.index(min(workers))] += load
    return max(workers)


def rounds(chosen: Sequence[Unit], *, one_by_one: bool) -> list[list[Unit]]:
    """What is carried out at once: a stage, in the order of the oldest of each.

    One by one, where the time is limited, is what has the machine to itself: so the time that is
    left is looked at before each.
    """
    found: dict[tuple[str, int], list[Unit]] = defaultdict(list)
    for number, unit in enumerate(chosen):
        alone = one_by_one and unit.stage.machine is Machine.ALONE
        found[unit.stage.name, number if alone else -1].append(unit)
    return list(found.values())
