"""Where the `dunnage` command begins and ends: Ctrl-C is heard while it loads, and while it leaves.

Loading takes half a second. Python's own way to hear Ctrl-C, an exception wherever it stands, would
show which module was being loaded, and may be caught there. While Python itself ends, nobody could
catch it.
"""

import os

_INTERRUPTED = 130
"""As `dunnage.errors.ExitCode` has it, which is not loaded yet."""


def _end(_number: int = 0, _frame: object = None) -> None:
    """Nothing has begun, or all is over, so there is nothing to be ended but this process."""
    try:
        os.write(2, b"dunnage: interrupted\n")
    finally:  # standard error may be closed
        os._exit(_INTERRUPTED)


try:
    import signal
except KeyboardInterrupt:
    _end()


def main() -> None:
    """Load the command line and run it; the process is to end then."""
    before = signal.getsignal(signal.SIGINT)
    deaf = before is not signal.default_int_handler  # from its start, as in the background

    def hear(handler: object) -> None:
        if not deaf:
            signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]
        for number in (signal.SIGTERM, signal.SIGQUIT):
            if signal.getsignal(number) in (signal.default_int_handler, _end):  # a study is ending
                signal.signal(number, handler)  # type: ignore[arg-type]

    hear(_end)
    try:
        from dunnage.cli.command_line import main as carried_out

        carried_out(begun=lambda: hear(before), over=lambda: hear(_end))
    finally:
        hear(signal.SIG_IGN)
