"""`docs/proofs.md`: what each long proof claims, and what was seen of it on this machine.

A row is known by the test that its last cell names, for several tests may make the same claim.
"""

from __future__ import annotations

import os
import platform
import re
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gate.closing import duration
from gate.known import belongs
from gate.outcome import Outcome, State, Told

PAGE = Path("docs/proofs.md")
_HEAD = """\
# Proofs

This page shows the latest result of each long proof that was run, failures included, and the result
before it. `make proofs` writes it, and nothing else does. With `ONLY` or `MINUTES` it replaces the
rows of the proofs that it ran and keeps the others.

| claim | held | what was seen | when (UTC), how long, commit | before | machine | command |
| --- | --- | --- | --- | --- | --- | --- |
"""
_BORDER = "| --- |"
HELD = "yes"
NOT_TESTED = "not tested"
_FAILED = "**no**"
_SAID = {State.PASSED: HELD, State.FAILED: _FAILED}

_BETWEEN = re.compile(r"(?<!\\)\|")
_DATE = "%Y-%m-%d %H:%M"
_RESULT = re.compile(
    r"(?P<when>\d{4}-\d\d-\d\d \d\d:\d\d)"
    r"(?:, (?:(?P<minutes>\d+) min )?(?P<seconds>\d+) s)?"
    r"(?:, with (?P<commit>.+))?"
)
_COMMAND = re.compile(r"`make proofs ONLY='(?P<test>.+)'`")


class PageError(Exception):
    """The page is not as `make proofs` writes it."""


@dataclass(frozen=True)
class Result:
    """Whether a claim held, and when."""

    held: str
    """`yes`, `**no**` or `not tested`."""
    when: datetime
    """In UTC; the page tells the minute."""
    seconds: float | None = None
    """How long it took, where that was measured."""
    commit: str = ""
    """The code that was tried, as `gate.proofs.commits` names it; empty where nobody wrote it."""

    def __str__(self) -> str:
        took = "" if self.seconds is None else f", {duration(self.seconds)}"
        commit = f", with {self.commit}" if self.commit else ""
        return f"{self.when:{_DATE}}{took}{commit}"

    @property
    def tested(self) -> bool:
        return self.held != NOT_TESTED


@dataclass(frozen=True)
class Row:
    """What is known of one proof."""

    test: str
    seen: str
    last: Result
    machine: str
    before: Result | None = None
    """The result before the last that was tested."""

    def __str__(self) -> str:
        before = f"{self.before.held}, {self.before}" if self.before else ""
        of_row = (
            claim(self.test),
            self.last.held,
            self.seen,
            str(self.last),
            before,
            self.machine,
            command(self.test),
        )
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in of_row) + " |"


def read() -> dict[str, Row]:
    """Test → its row; raises PageError where a line is no row, or no table is there."""
    if not PAGE.exists():
        return {}
    head, border, table = PAGE.read_text(encoding="utf-8").partition(_BORDER)
    if not border:
        raise PageError(_bad(1))
    rows = {}
    for number, line in enumerate(table.splitlines()[1:], start=head.count("\n") + 2):
        row = _row(line)
        if row is None:
            raise PageError(_bad(number))
        rows[row.test] = row
    return rows


def _bad(line: int) -> str:
    changed = f"to see what was changed, type: git diff {PAGE}"
    return f"{PAGE}:{line} is not as `make proofs` writes it; {changed}"


def cells(line: str) -> list[str]:
    """The cells of a line of any table in Markdown."""
    return [cell.strip().replace("\\|", "|") for cell in _BETWEEN.split(line)[1:-1]]


def _row(line: str) -> Row | None:
    """A row, also one of before 29 November 2026: these tell neither a commit nor what was before.

    None for any other line.
    """
    of_row = cells(line)
    if len(of_row) not in (6, 7):
        return None
    _, held, seen, last, *before, machine, named = of_row
    result, test = _result(held, last), _COMMAND.fullmatch(named)
    if result is None or test is None:
        return None
    earlier = None
    if before and before[0]:
        earlier = _result(*before[0].split(", ", 1))
        if earlier is None:
            return None
    return Row(test["test"], seen, result, machine, earlier)


def _result(held: str, said: str = "") -> Result | None:
    found = _RESULT.fullmatch(said)
    if found is None or held not in (HELD, _FAILED, NOT_TESTED):
        return None
    try:
        when = datetime.strptime(found["when"], _DATE).replace(tzinfo=UTC)
    except ValueError:  # there is no such day
        return None
    seconds = None
    if found["seconds"]:
        seconds = 60.0 * int(found["minutes"] or 0) + int(found["seconds"])
    return Result(held, when, seconds, found["commit"] or "")


def write(rows: Mapping[str, Row]) -> None:
    """Make these the rows of the page."""
    text = _HEAD + "".join(f"{rows[test]}\n" for test in sorted(rows))
    PAGE.write_text(text, encoding="utf-8")


class Rows:
    """Writes the row of each proof as soon as that has ended, so that none is lost."""

    def __init__(self, commit: str) -> None:
        self._commit = commit
        self._written: set[str] = set()

    def __call__(self, told: Told) -> None:
        """Write what has ended since the last time."""
        self.finish(told.ended.values())

    def finish(self, outcomes: Iterable[Outcome]) -> None:
        """Write those that have no row yet, such as what never ended.

        A module that cannot be collected, or a stage, is no proof and has no row.
        """
        ended = [each for each in outcomes if each.test not in self._written and "::" in each.test]
        if not ended:
            return
        when, on, rows = datetime.now(UTC), machine(), read()
        for each in ended:
            rows[each.test] = row(each, when, on, self._commit, rows.get(each.test))
        write(rows)
        self._written.update(each.test for each in ended)


def row(
    outcome: Outcome, when: datetime, on: str, commit: str = "", earlier: Row | None = None
) -> Row:
    """The row of a test that ended on a machine at that time, in the place of an earlier one.

    What was not tested says nothing of the claim, so a result before it is kept.
    """
    seen = "; ".join(outcome.seen)
    if outcome.state in (State.FAILED, State.SKIPPED):
        seen = "; ".join(each for each in (seen, reason(outcome)) if each)
    held = _SAID.get(outcome.state, NOT_TESTED)
    result = Result(held, when, outcome.seconds or None, commit)
    before = None
    if earlier:
        before = earlier.last if earlier.last.tested else earlier.before
    return Row(outcome.test, " ".join(seen.split()) or "every assertion held", result, on, before)


def gone(rows: Iterable[str], tests: Collection[str], unseen: Sequence[str]) -> list[str]:
    """Those of the tests with rows that are none of these tests any more.

    Which tests there are in modules that are `unseen`, because they cannot be loaded, nobody knows.
    """
    missing = [test for test in rows if test not in tests]
    return [test for test in missing if not any(belongs(test, module) for module in unseen)]


def command(test: str) -> str:
    """What tries one proof again, as it stands in the last cell of its row."""
    return f"`make proofs ONLY='{test}'`"


def claim(test: str) -> str:
    """The sentence that a test's name is: `test_a_b[3]` is `a b (3)`."""
    name = test.rpartition("::")[2].removeprefix("test_")
    return re.sub(r"\[(.*)\]$", r" (\1)", name).replace("_", " ")


def reason(outcome: Outcome) -> str:
    """What a failed test said first, or why one was skipped."""
    said = re.findall(r"^E +(.+)$", outcome.why, re.MULTILINE)
    return " ".join(_anywhere(said[0] if said else outcome.why.partition("\n")[0]).split())


def _anywhere(text: str) -> str:
    """The same of a project that lies elsewhere: its own path and that for passing files are left
    out."""
    passing = rf"{re.escape(tempfile.gettempdir())}/pytest-of-[^/\s]+/pytest-\d+"
    return re.sub(passing, "…", text.replace(str(Path.cwd()), "."))


def machine() -> str:
    """Processor, cores, memory, kernel."""
    names = re.findall(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    processor = names[0] if names else platform.machine()
    return f"{os.cpu_count()} × {processor}, {memory:.0f} GiB, Linux {platform.release()}"
