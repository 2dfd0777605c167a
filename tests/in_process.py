"""The command line within this process."""

from __future__ import annotations

import signal
from contextlib import ExitStack

from dunnage.cli.main import main


def typed_here() -> None:
    """Run the command in `sys.argv`; raises SystemExit as it ends.

    The command is deaf to Ctrl-C, and to what else ends a study, at its end, as its process ends
    with it; these tests go on.
    """
    with ExitStack() as stack:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
            stack.callback(signal.signal, number, signal.getsignal(number))
        main()
