"""What a machine's twins said over its studies: how often this instrument was wrong here.

A line of JSON for each result, in one file for each host and kernel. No answer depends on it, and
it may be removed at any time.
"""

from __future__ import annotations

import fcntl
import re
from pathlib import Path

from pydantic import ValidationError

from dunnage.model.analysis import Analysis
from dunnage.model.value import Value

HISTORY_VERSION = 1
"""1: first."""


class Said(Value):
    """What the twins of one result said."""

    version: int = HISTORY_VERSION
    result: str
    """Name of its directory; of several lines the last one counts."""
    study: str
    time: float
    """Unix time, in seconds."""
    metrics: int
    """Metrics for which the twins have intervals."""
    apart: tuple[str, ...]
    """Those in which an interval left out zero somewhere, which should happen to one in twenty."""


def said(analysis: Analysis, result: str, time: float) -> Said | None:
    """What the twins of an analysis said; None where they have no interval."""
    known = [found for found in analysis.twin if found.apart is not None]
    if not known:
        return None
    return Said(
        result=result,
        study=analysis.study,
        time=time,
        metrics=len({found.metric for found in known}),
        apart=tuple(sorted({found.metric for found in known if found.apart})),
    )


def remember(directory: Path, machine: str, found: Said) -> None:
    """Add a line to a machine's file; raises OSError where that cannot be written."""
    directory.mkdir(parents=True, exist_ok=True)
    with _file(directory, machine).open("a", encoding="utf-8") as lines:
        fcntl.flock(lines, fcntl.LOCK_EX)
        lines.write(found.model_dump_json() + "\n")


def remembered(directory: Path, machine: str) -> tuple[Said, ...]:
    """What is known of a machine, a line for each result; what cannot be read is left out."""
    try:
        text = _file(directory, machine).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    found: dict[str, Said] = {}
    for line in text.splitlines():
        try:
            one = Said.model_validate_json(line)
        except ValidationError:
            continue
        found.pop(one.result, None)
        found[one.result] = one
    return tuple(found.values())


def _file(directory: Path, machine: str) -> Path:
    return directory / (re.sub(r"[^A-Za-z0-9_.-]+", "-", machine).strip("-.") + ".jsonl")
