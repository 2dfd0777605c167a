"""The command line within this process."""

from __future__ import annotations

import signal
from contextlib import ExitStack

from dunnage.cli.main import main


def typed_here() -> None:
    """Run the command in `sys.argv`; raises SystemExit as it ends.

    The command is deaf to Ctrl-C at its end, as its process ends with it; these tests go on.
    """
    with ExitStack() as stack:
        stack.callback(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        main()
