"""Tries proofs: all, those that are named, or as many as a time has room for, oldest first."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gate.closing import duration
from gate.known import Known, belongs
from gate.outcome import Told
from gate.proofs import commits, page
from gate.proofs.portion import NEVER, Unit, portion, rounds, takes, units
from gate.stages import COLLECTION, PREPARATIONS, PROOFS, Stage
from gate.tier import Tier

AT_ONCE = 10
"""Proofs for which there was no time that are named; the others are counted."""


def prove(only: Sequence[str], minutes: float) -> int:
    """Try proofs and write their rows; 1 when something failed, 2 when `only` names none, else 0.

    `only` names proofs, or modules and tests that have some; where it is empty, all are meant.
    `minutes` may be infinite; what has to be built first takes its part of them. Raises PageError.
    """
    until = time.monotonic() + minutes * 60
    page.read()  # what nobody can read is said now, and not after hours
    tier = Tier()
    found = tier.carry_out(COLLECTION, len(PROOFS))
    if not found.known:
        return tier.close()
    if strange := unknown(only, found.known):
        names = [each.test for each in found.known]
        print("\n".join(["The proofs:", *names]))
        print(f"dunnage: no proof is named: {', '.join(strange)}")
        return 2
    for test in forgotten(found):
        print(f"{page.PAGE}: the row of a proof that is no more is dropped: {test}", flush=True)
    asked = [each for each in found.known if not only or _is_named(each, only)]
    waiting = units(asked, page.read())
    before = needed(PREPARATIONS, asked)
    for place, stage in enumerate(before):
        to_come = len(before) - place + len(_planned(waiting, until))
        tier.carry_out(stage, len(tier.carried) + to_come)
    if left := _tried(tier, waiting, until):
        print("\n".join(["", *not_begun(left, minutes)]), flush=True)
    return tier.close()


def unknown(only: Iterable[str], proofs: Sequence[Known]) -> list[str]:
    """Those of `only` that name no proof, nor a module or test that has some."""
    return [name for name in only if not any(belongs(each.test, name) for each in proofs)]


def needed(stages: Iterable[Stage], proofs: Iterable[Known]) -> list[Stage]:
    """Those stages without which these proofs cannot be tried."""
    marks = {mark for each in proofs for mark in each.marks}
    return [stage for stage in stages if not stage.only_for or stage.only_for in marks]


def forgotten(found: Told) -> list[str]:
    """Drop the rows of proofs that are no more, and return whose rows these were."""
    rows = page.read()
    gone = page.gone(rows, {each.test for each in found.known}, list(found.ended))
    if gone:
        page.write({test: row for test, row in rows.items() if test not in gone})
    return gone


def _is_named(proof: Known, only: Iterable[str]) -> bool:
    return any(belongs(proof.test, name) for name in only)


def _planned(waiting: Iterable[Unit], until: float) -> list[list[Unit]]:
    """What is carried out from now to that moment, as far as one can know."""
    return rounds(portion(waiting, until - time.monotonic()), one_by_one=until < math.inf)


def _tried(tier: Tier, waiting: Sequence[Unit], until: float) -> list[Unit]:
    """Carry out what fits, and choose again after each round; returns what was not begun."""
    left, commit = list(waiting), commits.here()
    times: Counter[str] = Counter()
    while planned := _planned(left, until):
        now, stage = planned[0], planned[0][0].stage
        times[stage.name] += 1
        number = f" {times[stage.name]}" if times[stage.name] > 1 else ""
        tests = tuple(test for unit in now for test in unit.tests)
        rows = page.Rows(commit)
        tier.carry_out(
            replace(stage, name=f"{stage.name}{number}", tests=tests),
            len(tier.carried) + len(planned),
            rows,
        )
        rows.finish(tier.carried[-1].outcomes)
        left = [unit for unit in left if unit not in now]
    return left


def not_begun(left: Sequence[Unit], minutes: float) -> list[str]:
    """What is said of proofs for which there was no time in so many minutes."""
    oldest = sorted(left, key=lambda unit: unit.when)
    count = sum(len(unit.tests) for unit in left)
    lines = [f"Not begun, for they do not fit into what is left of {minutes:g} min ({count}):"]
    lines += [f"  {_told(unit)}" for unit in oldest[:AT_ONCE]]
    if len(oldest) > AT_ONCE:
        lines.append(f"  and {sum(len(unit.tests) for unit in oldest[AT_ONCE:])} more")
    lines.append(f"Go on with: make proofs MINUTES={minutes:g}")
    if any(takes([unit]) > minutes * 60 for unit in left):
        lines.append("What needs more than all of it: make proofs ONLY='TEST'")
    return lines


def _told(unit: Unit) -> str:
    first, *others = unit.tests
    more = f" and {len(others)} that go with it" if others else ""
    when = "never tried" if unit.when == NEVER else f"{unit.when:%Y-%m-%d %H:%M}"
    seconds = takes([unit])
    need = f"about {duration(seconds)}" if seconds < math.inf else "without a limit"
    return f"{when}, {need}: {first}{more}"
