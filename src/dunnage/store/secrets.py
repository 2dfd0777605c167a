"""Secrets are masked before any text is written; only histogram logs are kept byte for byte."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

MASK = "•••"

_NAME = r"""
    (?: [\w.-]* (?: password | passwd | passphrase | requirepass | masterauth )
    | (?: [\w.-]+ [._-] )? (?: secret | api[_-]?key | private[_-]?key | auth[_-]?token ) )
"""
_QUOTED = r""" "(?:\\.|[^"\\\n])*" | '(?:''|[^'\n])*' """
_SECRET = re.compile(
    rf"""(?ixm)
    (?P<before>
        (?: ^ [ \t]* (?:-\ +)? ["']? {_NAME} ["']? [ \t]* : [ \t]+ (?P<whole>)
        | (?<![\w.-]) {_NAME} ["']? [ \t]* [:=] [ \t]*
        | (?: ^ [ \t]* (?: requirepass | masterauth ) | (?:^|(?<=\s)) -{{1,2}} {_NAME} ) [ \t]+
        )
    )
    (?P<value>
        {_QUOTED}
        | (?![\[{{]) (?(whole) (?:(?!,\s+[\w"'-]+\s*:)[^\n])+? (?= [,\]}}\s]* $ )
        | [^\s,}}\]"'\\]+ )
    )
    """
)
"""A setting that looks like a secret, in YAML, `key=value` or a server's configuration.

A value alone on its line (`whole`) may hold spaces and commas; elsewhere it ends at the first.
"""

_KEY = re.compile(
    rf"""(?ix)
    (?P<before> [ \t]* (?:-[ \t]+)* ) ["']? {_NAME} ["']? [ \t]* (?P<colon> : )
    (?: [ \t]+ (?![\[{{\#\s]) (?P<filled> [^\n]+ ) | [ \t]* (?:\#[^\n]*)? ) \r?\n
    """
)
"""A line of YAML that begins with a secret's name."""

_NESTED = re.compile(r"\s*(?:-\s|[\w\"'.-]+[ \t]*:(?:\s|$)|[\[{])")
"""What begins a mapping or a list."""

_ADDRESS = re.compile(
    r"(?P<before>://[^\s/:@\"'<>]*:)[^\s/\"'<>]+@|(?P<scheme>://)[^\s/:@?#\"'<>]+@"
)
"""The part of an address that holds a password; the last `@` before the path ends it. A name
without a password may be a token."""

_ANY = re.compile(r"(?i)pass|masterauth|secret|key|token|://")
"""Without one of these there is nothing to hide; most texts have none."""

_SECRET_NAME = re.compile(rf"(?ix) -{{0,2}} {_NAME}")

_SECRET_VARIABLE = re.compile(
    r"""(?x)
    (?! (?:OLD)? PWD $ )
    [A-Z0-9_]*
    (?: PASS (?: WORD | WD | PHRASE )? | PWD | SECRET | TOKEN | CREDENTIALS? | AUTH | KEY )
    (?: _ [A-Z0-9_]* )?
    """
)
"""A variable of a process's environment, such as `AWS_SECRET_ACCESS_KEY`. Software that others put
into an image may be given any; `PWD` is but a directory."""


def masked(text: str) -> str:
    """Return `text` with the values of settings that look like secrets replaced.

    Quotes around a value stay, so that YAML stays what it was. A password inside the address of a
    server (`redis://user:password@host`, `https://token@host`) is one, too.
    """
    if _ANY.search(text) is None:
        return text
    return _ADDRESS.sub(rf"\g<before>\g<scheme>{MASK}@", _SECRET.sub(_mask, _shortened(text)))


def _shortened(text: str) -> str:
    """Put a secret that goes on below its key, as YAML allows in many ways, on its key's line.

    What is indented deeper than a key belongs to it. What is a mapping or a list there has secrets
    of its own.
    """
    lines = text.splitlines(keepends=True)
    shortened: list[str] = []
    over = 0
    for number, line in enumerate(lines, start=1):
        if number <= over:
            continue
        key = _KEY.match(line)
        if key is not None:
            below = _below(lines, number, len(key["before"]))
            if below and not (key["filled"] is None and _NESTED.match(lines[number])):
                over = number + below
                line = f"{line[: key.end('colon')]} {MASK}\n"
        shortened.append(line)
    return "".join(shortened)


def _below(lines: Sequence[str], after: int, column: int) -> int:
    """How many of the lines after some are indented deeper than a column, empty ones included."""
    deeper = 0
    for number, line in enumerate(islice(lines, after, None), start=1):
        content = line.lstrip(" \t")
        if content.strip() and len(line) - len(content) <= column:
            break
        if content.strip():
            deeper = number
    return deeper


def masked_data(data: Any, *, hide: bool = False) -> Any:
    """Return what a JSON document holds with everything masked that looks like a secret.

    That is every value under a secret's name, the word after it in a list of arguments, and
    whatever `masked` finds inside texts, such as a configuration file. `hide` masks every value.
    """
    if isinstance(data, Mapping):
        return {
            key: masked_data(value, hide=hide or names_a_secret(key)) for key, value in data.items()
        }
    if isinstance(data, list | tuple):
        return [
            masked_data(word, hide=hide or (isinstance(word, str) and _is_option(name)))
            for name, word in zip([None, *data], data, strict=False)
        ]
    if hide:
        return None if data is None else MASK
    return masked(data) if isinstance(data, str) else data


def names_a_secret(key: str) -> bool:
    """Whether a key is that of a secret, in a configuration or an environment."""
    return _is_option(key) or _SECRET_VARIABLE.fullmatch(key) is not None


def _is_option(name: object) -> bool:
    return isinstance(name, str) and _SECRET_NAME.fullmatch(name) is not None


def _mask(match: re.Match[str]) -> str:
    value = match["value"]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{match['before']}{quote}{MASK}{quote}"
