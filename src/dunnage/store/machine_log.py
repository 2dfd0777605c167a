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
from dunnage.store.parse import lines_of
from dunnage.store.regular import opened_to_append, regular_bytes

V = TypeVar("V", bound=Value)


def this_machine() -> str:
    """Host name and kernel, which decide what is remembered together."""
    return f"{platform.node()}-{platform.release()}"


def remember(directory: Path, machine: str, value: Value) -> None:
    """Add a line; raises OSError where it cannot be written, or not without following a link."""
    directory.mkdir(parents=True, exist_ok=True)
    with opened_to_append(_file(directory, machine)) as lines:
        fcntl.flock(lines, fcntl.LOCK_EX)
        lines.write(f"{value.model_dump_json()}\n".encode())


def remembered(directory: Path, machine: str, kind: type[V]) -> list[V]:
    """All lines in the order in which they came; what cannot be read is left out."""
    try:
        text = regular_bytes(_file(directory, machine)).decode(errors="replace")
    except OSError:
        return []
    return list(lines_of(text, kind))


def _file(directory: Path, machine: str) -> Path:
    return directory / (re.sub(r"[^A-Za-z0-9_.-]+", "-", machine).strip("-.") + ".jsonl")
