"""Secrets inside texts: logs, messages, command lines, a server's configuration, comments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice

from dunnage.secrets.names import MASK, NAME, SETTING, VARIABLE

_QUOTED = r""" "(?:\\.|[^"\\\n])*" | '(?:''|[^'\n])*' """
_NEXT = r""" [,&;] \s* ["']? [\w.-]+ ["']? \s* [:=] """
"""Where another setting begins on the same line."""
_WORD = rf""" (?: (?! {_NEXT} ) (?: [^\s"\\] | \\ (?!") ) )+ """
_CLOSING = "'\"`,;)}] \t\r"
"""What may stand behind a value and is no part of it."""

_DIRECTIVE = r"""
    (?: requirepass | masterauth | tls-(?:client-)?key-file-pass | auth-pass [ \t]+ [\w.-]+ )
"""
"""Settings of Redis: a blank is all that stands before the value."""


def _behind(key: str) -> tuple[str, str]:
    """Forms of a value behind a key: the rest of a line, and inside a mapping on one line."""
    whole = rf"""
        (?P<before> (?: ^ [ \t]* (?: -\ + )* | (?<=\#) [ \t]* ) ["']? {key} ["']? [ \t]* : [ \t]+ )
        (?P<value> {_QUOTED} | (?![\[{{\s]) (?: (?! ,\s+[\w"'-]+\s*: ) [^\n] )+ )
    """
    flow = rf"""
        (?P<before> (?<=[{{,]) [ \t]* ["']? {key} ["']? : [ \t]+ )
        (?P<value> {_QUOTED} | (?![\[{{\s]) [^,}}\]\n]+ )
    """
    return whole, flow


_KEY = rf"(?: {NAME} | (?-i: {VARIABLE} ) )"
_ANYWHERE = rf"""
    (?P<before> (?<![\w.-]) {_KEY} ["']? [ \t]* [:=] [ \t]* )
    (?P<value> {_QUOTED} | (?![\[{{]) {_WORD} )
"""
_AFTER_A_BLANK = rf"""
    (?P<before> (?<![\w.-]) (?: {_DIRECTIVE} | -{{1,2}} {NAME} (?= [ \t]+ [^-\s] ) ) [ \t]+ )
    (?P<value> {_QUOTED} | {_WORD} )
"""

_BEGINS = re.compile(
    rf"""(?ix)
    (?P<before> [ \t]* (?:-[ \t]+)* ) ["']? {_KEY} ["']? [ \t]* (?P<colon> : )
    (?: [ \t]+ (?![\[{{\#\s]) (?P<filled> [^\n]+ ) | [ \t]* (?:\#[^\n]*)? ) \r?\n
    """
)
"""A line of YAML that begins with a secret's name."""
_NESTED = re.compile(r"\s*(?:-\s|[\w\"'.-]+[ \t]*:(?:\s|$)|[\[{])")
"""What begins a mapping or a list."""

_ADDRESS = re.compile(
    r"""(?x)
    (?P<before> ://(?!\[) [^\s/:@"'<>]* : )
    (?: [^\s/"'<>]+ | (?! \d+ [/?\#,] ) [^\s"'<>]{1,500} ) @
    | (?P<scheme> :// ) [^\s/:@?\#"'<>]+ @
    """
)
"""The part of an address that holds a password; the last `@` before the path ends it. A name
without a password may be a token. What looks like a port is one."""
_PRIVATE_KEY = re.compile(
    r"(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)"
)
_SWITCH = re.compile(r"(?i)\b(?:on|off|nopass|resetpass|reset)\b")
_GRANTS = re.compile(r"(?i)\buser\b|(?<!\S)(?:[~%&]\S|[+-]@?\w|allkeys\b|allcommands\b)")
_ACCESS = re.compile(r"(?<!\S)(>)[^\s\"'`]+|(?<!\S)([#!])[0-9a-fA-F]{64}\b")
"""Passwords of a user of Redis: `user default on >PASSWORD ~* +@all`."""

_COMMENTS = re.compile(r"(?m)(?:^[ \t]*#[^\n]*(?:\n|\Z))+")
_MARK = re.compile(r"(?m)^[ \t]*#+")

_WORDS = ("pass", "secret", "key", "token", "auth", "pwd", "credential", "bearer", "://")
_GIVEN = re.compile(r"\s>\S")
"""Without one of these there is nothing to hide; most texts have none."""


@cache
def _forms(*, settings: bool) -> tuple[re.Pattern[str], ...]:
    """Where values of secrets stand, from the form that tells most to the least."""
    forms = (*_behind(_KEY), *(_behind(SETTING) if settings else ()), _ANYWHERE, _AFTER_A_BLANK)
    return tuple(re.compile(f"(?imx){form}") for form in forms)


def may_hold(text: str) -> bool:
    """Whether a text can hold a secret at all; most texts cannot."""
    return "\\" in text or _tells(text)


def _tells(text: str) -> bool:
    """Whether something stands in a text that a secret may stand beside.

    Every sample and log of a run is looked at: to seek each word by itself is ten times as fast as
    one expression for all.
    """
    folded = text.casefold()
    return any(word in folded for word in _WORDS) or (">" in text and bool(_GIVEN.search(text)))


def masked(text: str, *, settings: bool = False) -> str:
    """Return `text` with everything replaced that looks like a secret.

    That is the value of a setting under a secret's name (with `settings`, under the names of such
    settings too), also in a comment, and a password inside the address of a server
    (`redis://user:password@host`, `https://token@host`). Quotes around a value stay, so that YAML
    stays what it was.
    """
    if not _tells(text):
        return text
    forms = _forms(settings=settings)
    hidden = _lines_masked(_PRIVATE_KEY.sub(rf"\1 {MASK} \2", text), forms)
    return _COMMENTS.sub(lambda found: _uncommented(found[0], forms), hidden)


def told_of(place: object, text: str) -> str:
    """Return what is said of a place, such as a path.

    Where its name is that of a secret, the word behind it would be masked as its value, sooner or
    later: such a name stands in backticks.
    """
    key = f"{place}:"
    return f"`{place}`: {text}" if masked(f"{key} it") != f"{masked(key)} it" else f"{key} {text}"


def _lines_masked(text: str, forms: Sequence[re.Pattern[str]]) -> str:
    text = _shortened(text)
    for form in forms:
        text = form.sub(_mask, text)
    if ">" in text or "#" in text:
        text = "\n".join(map(_access_masked, text.split("\n")))
    return _ADDRESS.sub(rf"\g<before>\g<scheme>{MASK}@", text)


def _uncommented(comments: str, forms: Sequence[re.Pattern[str]]) -> str:
    """Mask lines of comments as what they would be without their marks."""
    bare = _MARK.sub("", comments)
    hidden = _lines_masked(bare, forms)
    first = _MARK.match(comments)
    if hidden == bare or first is None:
        return comments
    return re.sub(r"(?m)^(?!\Z)", first[0], hidden)


def _mask(match: re.Match[str]) -> str:
    value = match["value"]
    if value[0] in "\"'" and value[0] == value[-1] and len(value) > 1:
        return f"{match['before']}{value[0]}{MASK}{value[0]}"
    bare = value.rstrip(_CLOSING)
    return f"{match['before']}{MASK}{value[len(bare) :] if bare else ''}"


def _access_masked(line: str) -> str:
    if _ACCESS.search(line) and _SWITCH.search(line) and _GRANTS.search(line):
        return _ACCESS.sub(lambda found: f"{found[1] or found[2]}{MASK}", line)
    return line


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
        key = _BEGINS.match(line)
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
