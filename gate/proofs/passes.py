"""Which proofs held twice with the present code, and which lack a pass."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gate.carry import Carried, carry_out
from gate.closing import duration
from gate.known import Known
from gate.outcome import State, Told
from gate.proofs import commits, page
from gate.proofs.page import HELD, Result, Row
from gate.proofs.portion import takes, units
from gate.stages import COLLECTION
from gate.tier import LOGS, prepare


def whole(since: str) -> int:
    """Print which proofs lack a first or a second pass since a commit; 0 when none does, else 1.

    2 when there is no such commit. Raises PageError.
    """
    rows, code = page.read(), commits.since(since)
    if not code:
        print(f"dunnage: git knows no such commit here: {since}; type: git log --oneline")
        return 2
    found, collection = _collected()
    unread = [each.test for each in collection.outcomes if each.state is State.FAILED]
    for test in unread:
        print(f"Not collected: {test}; log: {collection.log}")
    print("\n".join(lacking(found.known, rows, since, code)))
    if gone := page.gone(rows, {each.test for each in found.known}, list(found.ended)):
        print("\n".join(["", "No proofs any more; `make proofs` drops their rows:", *gone]))
    twice = all(passes(rows.get(each.test), code) == 2 for each in found.known)
    return 0 if twice and not unread else 1


def _collected() -> tuple[Told, Carried]:
    """What pytest found, and how that went."""
    prepare()
    found = Told()

    def look(told: Told) -> None:
        nonlocal found
        found = told

    carried = carry_out(COLLECTION, LOGS, look)
    return found, carried


def lacking(
    proofs: Sequence[Known], rows: Mapping[str, Row], since: str, code: Sequence[str]
) -> list[str]:
    """How many proofs held how often since a commit, and those that lack a pass, each with why.

    `code` has the full names of the commits that count.
    """
    held: dict[int, list[Known]] = {0: [], 1: [], 2: []}
    for each in proofs:
        held[passes(rows.get(each.test), code)].append(each)
    none, once, twice = held.values()
    lines = [
        f"Since {since}, {len(twice)} of {len(proofs)} proofs held twice, {len(once)} once, "
        f"and {len(none)} not yet."
    ]
    if none:
        lines += ["", f"They lack both passes{_time(none, rows)}:"]
        lines += [f"  {each.test}: {_why(rows.get(each.test))}" for each in none]
    if once:
        lines += ["", f"They lack the second pass{_time(once, rows)}:"]
        lines += [f"  {each.test}" for each in once]
    return [*lines, "", "Go on with: make proofs MINUTES=150"] if none or once else lines


def passes(row: Row | None, code: Sequence[str]) -> int:
    """How many of the last two results held with this code, from the last one backwards.

    A result that is `not tested` says nothing for or against a claim.
    """
    number = 0
    for each in (row.last, row.before) if row else ():
        if each is None or not each.tested:
            continue
        if each.held != HELD or not _is_of(each, code):
            break
        number += 1
    return number


def _is_of(result: Result, code: Sequence[str]) -> bool:
    return bool(result.commit) and any(each.startswith(result.commit) for each in code)


def _time(proofs: Sequence[Known], rows: Mapping[str, Row]) -> str:
    """How long it takes to try them; what was never measured counts with its limit."""
    seconds = takes(units(proofs, rows))
    return f" (about {duration(seconds)} by last times and limits)" if seconds < math.inf else ""


def _why(row: Row | None) -> str:
    """What is known of a proof that has not held with the present code."""
    if row is None:
        return "never tried"
    if row.last.held == HELD:
        return f"held {row.last}" + ("" if row.last.commit else ", with an unknown commit")
    said = "did not hold" if row.last.tested else page.NOT_TESTED
    return f"{said} {row.last}: {row.seen}"
