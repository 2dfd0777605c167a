"""Running a program of this machine to its end."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run(
    argv: Sequence[str],
    seconds: float,
    *,
    within: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run in a directory and a session of its own; raises TimeoutExpired after `seconds`."""
    return subprocess.run(
        argv,
        cwd=within,
        env=at_home(os.environ if env is None else env),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        start_new_session=True,
    )


def at_home(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The same with the home directory that it means here: what a program keeps below it goes to
    one place, in whatever directory the program runs."""
    home = environment.get("HOME", "")
    return {**environment, "HOME": str(Path(home).absolute())} if home else environment


def last_words(done: subprocess.CompletedProcess[str]) -> str:
    """The last line in which a program complained; else how it ended."""
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
