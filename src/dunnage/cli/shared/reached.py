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
    here = Path.cwd()
    below = activate.is_relative_to(here) and here != ours  # else a shell would search its PATH
    near = activate.relative_to(here) if below else activate
    return f". {shlex.quote(str(near))}"
