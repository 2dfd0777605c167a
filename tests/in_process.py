"""The command line within this process."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
from contextlib import ExitStack
from unittest import mock

from dunnage.cli.main import main
from dunnage.cli.shared.terminal import err, out


def typed_here() -> None:
    """Run the command in `sys.argv`; raises SystemExit as it ends.

    The command is deaf to Ctrl-C, and to what else ends a study, at its end, as its process ends
    with it; these tests go on.
    """
    with ExitStack() as stack:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
            stack.callback(signal.signal, number, signal.getsignal(number))
        main()


def said_here(*words: object) -> tuple[int, str, str]:
    """Type a command; returns its exit code, its standard output and its standard error.

    It sees a wide terminal without colours, and none of what an earlier command left behind.
    """
    answer, messages = io.StringIO(), io.StringIO()
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(sys, "argv", ["dunnage", *map(str, words)]))
        stack.enter_context(mock.patch.dict("os.environ", {"COLUMNS": "200", "NO_COLOR": "1"}))
        stack.enter_context(mock.patch.object(out, "used", False))
        stack.enter_context(mock.patch.object(err, "commands", False))
        stack.enter_context(contextlib.redirect_stdout(answer))
        stack.enter_context(contextlib.redirect_stderr(messages))
        try:
            typed_here()
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int)
    return int(code), answer.getvalue(), messages.getvalue()
