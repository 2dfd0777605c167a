"""Secrets are masked before anything is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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

_SECRET_NAME = re.compile(rf"(?ix) -{{0,2}} {_NAME}")


def masked(text: str) -> str:
    """Return `text` with the values of settings that look like secrets replaced.

    Quotes around a value stay, so that YAML stays what it was.
    """
    return _SECRET.sub(_mask, text)


def masked_data(data: Any) -> Any:
    """Return what a JSON document holds with everything masked that looks like a secret.

    That is every value under a secret's name, the word after it in a list of arguments, and
    whatever `masked` finds inside texts, such as a configuration file.
    """
    if isinstance(data, str):
        return masked(data)
    if isinstance(data, Mapping):
        return {
            key: _hidden(value) if _SECRET_NAME.fullmatch(key) else masked_data(value)
            for key, value in data.items()
        }
    if isinstance(data, Sequence):
        before = [None, *data]
        return [
            MASK
            if isinstance(name, str) and isinstance(each, str) and _SECRET_NAME.fullmatch(name)
            else masked_data(each)
            for name, each in zip(before, data, strict=False)
        ]
    return data


def _hidden(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _hidden(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_hidden(value) for value in data]
    return None if data is None else MASK


def _mask(match: re.Match[str]) -> str:
    value = match["value"]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{match['before']}{quote}{MASK}{quote}"
