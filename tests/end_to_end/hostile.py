"""What nobody should be able to do by a name or a text, and the command line to try it on."""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from unittest import mock

from dunnage.cli.shared.terminal import out as data
from in_process import typed_here

HOSTILE = (
    "$(touch owned)",
    "`touch owned`",
    "; touch owned",
    "| tee owned",
    "../../owned",
    "/etc/owned",
    "..",
    "-rf",
    "<script>alert(1)</script>",
    "\\input{/etc/passwd}",
    "%s%n{0.__class__}",
    "\x1b[2J\x1b]0;owned\x07",
    "\x9b2J",
    "\u202egnp.exe",
    "a\nb",
    "a\r\x08b",
    "[red]x[/red]",
    "x" * 5000,
    "",
    "nul\x00",
)


@dataclass(frozen=True)
class Shown:
    """Exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def harmless(self) -> bool:
        """Nothing in it steers a terminal or pretends to be a line of ours."""
        letters = set(self.out + self.err) - {"\n"}
        return all(letter.isprintable() for letter in letters)


def dunnage(*words: object) -> Shown:
    """Type a command into this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(sys, "argv", ["dunnage", *map(str, words)]))
        stack.enter_context(mock.patch.dict("os.environ", {"COLUMNS": "200", "NO_COLOR": "1"}))
        stack.enter_context(mock.patch.object(data, "used", False))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        try:
            typed_here()
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int)
    return Shown(int(code), out.getvalue(), err.getvalue())
