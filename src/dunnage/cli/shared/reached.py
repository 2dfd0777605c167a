"""Whether commands can be typed as we tell them: a shell may not know the `dunnage` that ran."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from dunnage.cli.shared.terminal import err, say


def tell_activation() -> None:
    """Say what to type first, if commands were told that this user's shell does not find.

    So it is after `make`, which needs no activated environment.
    """
    if err.commands and (first := _activation()):
        say("before these commands, type in this shell: ", (first, "bold"))


def _activation() -> str:
    """What makes a shell know the `dunnage` that runs here; empty where it does, or nothing can."""
    ours = Path(sys.prefix) / "bin"
    found = shutil.which("dunnage")
    if found is not None and Path(found).resolve().parent == ours.resolve():
        return ""
    activate = ours / "activate"
    if not activate.is_file():
        return ""
    return f". {shlex.quote(str(_near(activate)))}"


def _near(path: Path) -> Path:
    """The same path as short as it can be typed here."""
    try:
        here = Path.cwd()
    except OSError:  # the directory in which one still stands was removed
        return path
    below = path.is_relative_to(here) and here != path.parent  # else a shell would search its PATH
    return path.relative_to(here) if below else path
