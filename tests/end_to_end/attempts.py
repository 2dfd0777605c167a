"""Hostile attempts at the command line: what is typed over which files, and what must be said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from hostile_reads import READS
from hostile_runs import RUNS
from spoilt_files import CONTENTS
from spoilt_numbers import NUMBERS
from spoilt_parts import PARTS
from tried import changed, study


class Attempt(NamedTuple):
    """What somebody tries, and what must come of it."""

    arrange: Callable[[Path], None]
    """Prepares the directory in which the command is typed."""
    words: Sequence[str]
    code: int
    says: str
    """Must be part of what is shown."""


def attempts() -> dict[str, Attempt]:
    """Every attempt, by its name."""
    plan = ("plan", "study.yaml")
    found = {
        name: Attempt(study(changed((old, new))), plan, 2, says)
        for name, old, new, says in (*NUMBERS, *PARTS)
    }
    found |= {f"file: {name}": Attempt(study(text), plan, 2, says) for name, text, says in CONTENTS}
    for name, arrange, line, code, says in (*RUNS, *READS):
        words = ["" if word == "''" else word for word in line.split()]
        found[f"typed: {name}"] = Attempt(arrange, words, code, says)
    return found
