"""What is remembered of a machine from result to result: lines of JSON for each host and kernel.

It lies in the cache. No answer depends on it, and it may be removed at any time.
"""

from __future__ import annotations

import fcntl
import platform
import re
from pathlib import Path
from typing import TypeVar

from dunnage.model.value import Value
from dunnage.store.read import lines_of

V = TypeVar("V", bound=Value)


def this_machine() -> str:
    """Host name and kernel, which decide what is remembered together."""
    return f"{platform.node()}-{platform.release()}"


def remember(directory: Path, machine: str, value: Value) -> None:
    """Add a line; raises OSError where it cannot be written."""
    directory.mkdir(parents=True, exist_ok=True)
    with _file(directory, machine).open("a", encoding="utf-8") as lines:
        fcntl.flock(lines, fcntl.LOCK_EX)
        lines.write(value.model_dump_json() + "\n")


def remembered(directory: Path, machine: str, kind: type[V]) -> list[V]:
    """All lines in the order in which they came; what cannot be read is left out."""
    try:
        text = _file(directory, machine).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return list(lines_of(text, kind))


def _file(directory: Path, machine: str) -> Path:
    return directory / (re.sub(r"[^A-Za-z0-9_.-]+", "-", machine).strip("-.") + ".jsonl")
