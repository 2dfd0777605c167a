"""Labs that `dunnage lab up` leaves standing, gone when a test is over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab_traces import Traces, clean_away

DUNNAGE = (sys.executable, "-m", "dunnage")


def said(*words: str, given: str = os.devnull) -> subprocess.CompletedProcess[str]:
    """What a verb of `dunnage lab` says to its end, when it reads a file from standard input."""
    with Path(given).open("rb") as stdin:
        return subprocess.run(
            [*DUNNAGE, "lab", *words], stdin=stdin, capture_output=True, text=True, timeout=120
        )


@contextmanager
def stands(*words: str) -> Iterator[dict[str, Any]]:
    """A lab that was left standing; gone afterwards, whatever happened."""
    up = said("up", *words, "--format", "json")
    assert up.returncode == 0, up.stderr
    lab: dict[str, Any] = json.loads(up.stdout)
    try:
        yield lab
    finally:
        down = said("down", "--lab", lab["lab"])
        clean_away(lab["lab"])
    assert down.returncode == 0, down.stderr
    assert lab["lab"] in down.stdout
    Traces(lab["lab"]).insist_gone()
