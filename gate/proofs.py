"""`docs/proofs.md`: what each long proof claims, and what was seen of it on this machine."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from gate.closing import duration
from gate.outcome import Outcome, State, Told
from gate.stages import PYTEST, Stage

PAGE = Path("docs/proofs.md")
_HEAD = """\
# Proofs

This page shows the latest result of each long proof that was run, failures included. `make proofs`
writes it, and nothing else does. With `ONLY` it replaces the rows of the proofs that it ran and
keeps the others.

| claim | held | what was seen | when (UTC), and how long | machine | command |
| --- | --- | --- | --- | --- | --- |
"""
_HELD = {State.PASSED: "yes", State.FAILED: "**no**"}


def named(mark: str = "") -> list[str]:
    """The names of all proofs, or of those that have one more mark."""
    argv = (*PYTEST, "-m", f"proof and {mark}" if mark else "proof", "--collect-only")
    said = subprocess.run(argv, capture_output=True, text=True, check=False).stdout
    return [line for line in said.splitlines() if "::" in line]


def unknown(only: Iterable[str], proofs: Iterable[str]) -> list[str]:
    """Those of `only` that name no proof, nor a module or test that has some."""
    every = list(proofs)
    return [name for name in only if not any(_is_of(proof, name) for proof in every)]


def needed(stages: Iterable[Stage], only: Sequence[str]) -> list[Stage]:
    """Those stages without which these proofs cannot be tried; all, if none are named."""
    return [
        stage
        for stage in stages
        if not (only and stage.only_for)
        or any(_is_of(proof, name) for proof in named(stage.only_for) for name in only)
    ]


def _is_of(proof: str, name: str) -> bool:
    """Whether a proof has a name, or is one of the module or test that has it."""
    return proof == name or proof.startswith((f"{name}::", f"{name}["))


class Rows:
    """Writes the row of each proof as soon as that has ended, so that none is lost."""

    def __init__(self, progress: Callable[[Told], None]) -> None:
        self._progress = progress
        self._written: set[str] = set()

    def __call__(self, told: Told) -> None:
        ended = [each for test, each in told.ended.items() if test not in self._written]
        if ended:
            write_rows(ended)
            self._written.update(each.test for each in ended)
        self._progress(told)

    def finish(self, outcomes: Sequence[Outcome], others: Iterable[str]) -> None:
        """Add what never ended, and drop the rows of all but the proofs tried and some others."""
        write_rows([each for each in outcomes if each.test not in self._written])
        kept = {command(test) for test in (*others, *(each.test for each in outcomes))}
        _write({named: line for named, line in _rows().items() if named in kept})


def write_rows(outcomes: Iterable[Outcome]) -> None:
    """Put the rows of tests that have just ended in the place of those that they had.

    A module that cannot be collected, or a stage, is no proof and has no row.
    """
    when, on = datetime.now(UTC), machine()
    proofs = [each for each in outcomes if "::" in each.test]
    _write(_rows() | {command(each.test): row(each, when, on) for each in proofs})


def _rows() -> dict[str, str]:
    """Command → row of the page as it is."""
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    rows = re.finditer(r"^\| .* \| (?P<named>`make proofs ONLY='.*'`) \|$", before, re.MULTILINE)
    return {row["named"]: row[0] for row in rows}


def _write(rows: dict[str, str]) -> None:
    text = _HEAD + "".join(f"{rows[named]}\n" for named in sorted(rows))
    PAGE.write_text(text, encoding="utf-8")


def command(test: str) -> str:
    """What tries one proof again, as it stands in the last cell of its row."""
    return f"`make proofs ONLY='{test}'`"


def row(outcome: Outcome, when: datetime, on: str) -> str:
    """One line of the table, of a test that ended on a machine at that time."""
    seen = "; ".join(outcome.seen)
    if outcome.state in (State.FAILED, State.SKIPPED):
        seen = "; ".join(each for each in (seen, reason(outcome)) if each)
    cells = (
        claim(outcome.test),
        _HELD.get(outcome.state, "not tested"),
        seen or "every assertion held",
        f"{when:%Y-%m-%d %H:%M}, {duration(outcome.seconds)}",
        on,
        command(outcome.test),
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
