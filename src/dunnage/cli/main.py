"""Where the `dunnage` command begins: who ends it while it is still loading is heard, too.

Loading takes half a second. Python's own way to hear Ctrl-C, an exception wherever it stands, would
show which module was being loaded, and may be caught there.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

_INTERRUPTED = 130
"""As `dunnage.errors.ExitCode` has it, which is not loaded yet."""


def main() -> None:
    """Load the command line and run it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # else it was started to be deaf, as in the background
        signal.signal(signal.SIGINT, _end)

    def loaded() -> None:
        signal.signal(signal.SIGINT, before)

    try:
        from dunnage.cli.command_line import main as carried_out

        carried_out(loaded)
    finally:
        loaded()


def _end(_number: int, _frame: FrameType | None) -> None:
    """Nothing has begun, so there is nothing to be ended but this process."""
    os.write(2, b"dunnage: interrupted\n")
    os._exit(_INTERRUPTED)
