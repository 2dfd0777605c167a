"""Where a text is not YAML: at the quote or bracket that opens, where a person would look.

A parser reports a quote that is never closed at the end of the file, or at the next quote, which it
takes for the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, StringMark, YAMLError
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.tokens import ScalarToken

from dunnage.errors import Problem
from dunnage.secrets.names import MASK
from dunnage.secrets.texts import masked

_QUOTED = re.compile(r"'[^'<]{4,}'")
"""A name that the reader repeats; shorter ones are signs."""


def misread(error: YAMLError, text: str) -> Problem:
    """Return one problem, with its line, for what a YAML reader raised about `text`."""
    if isinstance(error, ReaderError) and isinstance(error.character, int):
        line = text.count("\n", 0, error.position) + 1
        what = f"the character U+{error.character:04X} is not allowed in a study"
        return Problem(line, what, "save the file as plain UTF-8 text")
    if not isinstance(error, MarkedYAMLError):
        return Problem(0, f"this is not a YAML text file: {_one_line(error)}")
    opened, noticed = error.context_mark, error.problem_mark
    said = _one_line(error.problem or error.context or "it cannot be read")
    if "another document" in said and noticed is not None:
        what = "a second YAML document begins here, and a study is one"
        return Problem(noticed.line + 1, what, "remove this `---`, or make two files of it")
    if said.startswith(("but ", "second ")) and error.context:
        said = f"{_one_line(error.context)}, {said}"
    if opened is not None and "end of stream" in said and "quoted" in str(error.context):
        return Problem(opened.line + 1, "this is not YAML: this quote is never closed")
    if opened is not None and "stream end" in said and "flow" in str(error.context):
        return Problem(opened.line + 1, "this is not YAML: this bracket is never closed")
    if noticed is None:
        return Problem(opened.line + 1 if opened else 0, f"this is not YAML: {said}")
    line = noticed.line + 1
    if tab := _tab(text, noticed):
        return tab
    if _is_secret(text, noticed.line):
        said = _QUOTED.sub(f"'{MASK}'", said)
    if opened is not None and opened.line < noticed.line and "flow" in str(error.context):
        what = f"this is not YAML: the bracket that opens here runs to line {line}"
        return Problem(opened.line + 1, what, "close it where it should end")
    for begin in _long_quotes(text, noticed):
        what = f"this is not YAML: the quote that opens here runs to line {line}"
        return Problem(begin.line + 1, what, "close it where it should end")
    return Problem(line, f"this is not YAML: {said}")


def _tab(text: str, noticed: StringMark) -> Problem | None:
    """A tab where only spaces may be: nobody understands what a parser says of it.

    It stands where the parser stopped, or indents that line or the one before.
    """
    lines = text.split("\n")[: noticed.line + 1]
    for number, line in list(enumerate(lines, start=1))[-2:]:
        if "\t" in line[: len(line) - len(line.lstrip())]:
            return Problem(number, "tabs cannot indent in YAML: use spaces")
    if noticed.buffer is not None and noticed.buffer[noticed.pointer : noticed.pointer + 1] == "\t":
        return Problem(noticed.line + 1, "a tab is not allowed here: use spaces")
    return None


def _long_quotes(text: str, noticed: StringMark) -> Iterator[StringMark]:
    """Yield where a quote opens that runs over several lines and ends where the error is."""
    try:
        for token in YAML(typ="safe", pure=True).scan(text):
            ends = token.end_mark.line
            quoted = isinstance(token, ScalarToken) and not token.plain
            if quoted and token.start_mark.line < ends == noticed.line:
                yield token.start_mark
    except YAMLError:
        return


def _is_secret(text: str, number: int) -> bool:
    """Whether a secret is on a line, from 0, so that a message must not quote it."""
    line = "".join(text.split("\n")[number : number + 1])
    return masked(line, settings=True) != line


def _one_line(said: object) -> str:
    return " ".join(str(said).split("\n", maxsplit=1)[0].split())
