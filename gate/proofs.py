"""`docs/proofs.md`: what each long proof claims, and what was seen of it on this machine."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from gate.closing import duration
from gate.outcome import Outcome, State

PAGE = Path("docs/proofs.md")
_HEAD = """\
# Proofs

What `make proofs` saw: each claim in full length, failures included. `make test` shows the same
claims in short. This page is written by that command, and by nothing else; with `ONLY` it writes
the rows anew that it tried, and leaves the others.

| claim | held | what was seen | when (UTC), and how long | machine | command |
| --- | --- | --- | --- | --- | --- |
"""
_HELD = {State.PASSED: "yes", State.FLAKY: "not always", State.FAILED: "**no**"}


def write_proofs(outcomes: Iterable[Outcome], *, only: bool) -> None:
    """Write the page from the outcomes of the tests marked `proof`: anew, or `only` their rows."""
    before = PAGE.read_text(encoding="utf-8") if only and PAGE.exists() else ""
    rows = {_command(line): line for line in before.removeprefix(_HEAD).splitlines()}
    when, on = datetime.now(UTC), machine()
    rows |= {_command(line): line for line in (row(each, when, on) for each in outcomes)}
    lines = (f"{rows[command]}\n" for command in sorted(rows))
    PAGE.write_text(_HEAD + "".join(lines), encoding="utf-8")


def _command(line: str) -> str:
    return line.rstrip("| ").rpartition(" | ")[2]


def row(outcome: Outcome, when: datetime, on: str) -> str:
    """One line of the table, of a test that ended on a machine at about that time."""
    seen = "; ".join(outcome.seen)
    if outcome.state in (State.FAILED, State.SKIPPED):
        seen = "; ".join(each for each in (seen, reason(outcome)) if each)
    cells = (
        claim(outcome.test),
        _HELD.get(outcome.state, "not tested"),
        seen or "every assertion held",
        f"{when:%Y-%m-%d %H:%M}, {duration(outcome.seconds)}",
        on,
        f"`make proofs ONLY='{outcome.test}'`",
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def claim(test: str) -> str:
    """The sentence that a test's name is: `test_a_b[3]` is `a b (3)`."""
    name = test.rpartition("::")[2].removeprefix("test_")
    return re.sub(r"\[(.*)\]$", r" (\1)", name).replace("_", " ")


def reason(outcome: Outcome) -> str:
    """What a failed test said first, or why one was skipped."""
    said = re.findall(r"^E +(.+)$", outcome.why, re.MULTILINE)
    return " ".join((said[0] if said else outcome.why.partition("\n")[0]).split())


def machine() -> str:
    """Processor, cores, memory, kernel."""
    names = re.findall(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    processor = names[0] if names else platform.machine()
    return f"{os.cpu_count()} × {processor}, {memory:.0f} GiB, Linux {platform.release()}"
