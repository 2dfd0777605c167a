"""Secrets are masked before anything is written."""

from __future__ import annotations

import re

MASK = "•••"

_SECRET = re.compile(
    r"""(?ix)
    (?P<before>
        (?<![\w-]) (?: [\w-]* (?: password | passwd | passphrase ) | requirepass | masterauth
            | (?: [\w-]+ [_-] )? (?: secret | api_?key | private_?key | auth_?token ) )
        ["']? (?: \s* [:=] \s* | [ \t]+ )
    )
    (?P<value> "[^"\n]*" | '[^'\n]*' | [^\s,}\]"'\\]+ )
    """
)
"""A setting that looks like a secret, in YAML, JSON, `key=value` or a server's configuration."""


def masked(text: str) -> str:
    """Return `text` with the values of settings that look like secrets replaced.

    Quotes around a value stay, so that JSON and YAML stay what they were.
    """
    return _SECRET.sub(_mask, text)


def _mask(match: re.Match[str]) -> str:
    value = match["value"]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{match['before']}{quote}{MASK}{quote}"
