"""How every text of a report is written."""

from __future__ import annotations

from pathlib import Path

from dunnage.errors import UnwrittenError


def write(path: Path, text: str) -> Path:
    """Write a file, and the directories that it lies in; raises UnwrittenError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise UnwrittenError(error, str(path)) from error
    return path
