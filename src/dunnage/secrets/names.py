"""Which names are those of secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

MASK = "•••"
"""Stands in the place of every secret. Two secrets have the same mask: nothing of them is told."""

NAME = r"""
    (?: [\w.-]* (?: password | passwd | passphrase | requirepass | masterauth | [._-] pass )
    | (?: [\w.-]+ [._-] )? (?:
        secret
        | (?: access | api | encryption | private ) [._-]? key
        | (?: access | api | auth | bearer | refresh | session ) [._-]? token ) )
"""
"""A name that means a secret wherever it stands, in letters of any case."""
VARIABLE = r"""
    (?: (?! (?:OLD)? PWD (?![A-Z0-9_]) )
    (?= [A-Z0-9_]*
        (?: PASS (?: WORD | WD | PHRASE )? | PWD | SECRET | TOKEN | CREDENTIALS? | AUTH | KEY )
        (?: _ | (?![A-Z0-9_]) ) )
    [A-Z0-9_]+ )
"""
"""A variable of a process's environment, such as `AWS_SECRET_ACCESS_KEY`. Software that others put
into an image may be given any; `PWD` is but a directory."""
SETTING = r"(?: token | auth | bearer | pass | pwd | credentials? )"
"""A key of a setting that elsewhere, in logs and facts, is mostly something else."""
SETTINGS = frozenset({"settings", "facts", "network_options"})
"""Keys below which settings stand: in a study and what is made of it, and as they are read back."""

_OPTION = re.compile(rf"(?ix) -{{0,2}} {NAME}")
_VARIABLE = re.compile(rf"(?x) {VARIABLE}")
_SETTING = re.compile(rf"(?ix) (?: [\w-]+ \. )* {SETTING}")


@lru_cache(maxsize=4096)
def names_a_secret(name: str, *, setting: bool = False) -> bool:
    """Whether a name is that of a secret, in a configuration or an environment.

    `setting`: it is known to be the key of a setting.
    """
    return (
        is_option(name)
        or _VARIABLE.fullmatch(name) is not None
        or (setting and _SETTING.fullmatch(name) is not None)
    )


def is_option(word: str) -> bool:
    """Whether the word that follows on a command line is a secret."""
    return _OPTION.fullmatch(word) is not None


def hidden_at(path: Iterable[str | int], *, setting: bool = False) -> bool:
    """Whether what stands at a path of a document is a secret.

    `setting`: all of the document is settings.
    """
    for step in path:
        if isinstance(step, str) and names_a_secret(step, setting=setting):
            return True
        setting = setting or step in SETTINGS
    return False
