"""What a directory of exported files is of."""

from __future__ import annotations

from dunnage.model.value import Value

EXPORTED_VERSION = 1
"""1: first."""


class Exported(Value):
    """The result whose export a directory holds."""

    version: int = EXPORTED_VERSION
    study: str
    result: str
    """Name of the result's directory."""
    sha256: str
    """Of the result's plan and of the first line of its journal, which has the time: no two results
    share it, and none loses it by being moved or by growing."""
    files: tuple[str, ...]
    """Paths inside the directory that were written."""
