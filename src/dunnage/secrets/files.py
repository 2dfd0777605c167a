"""Masks what is written: a document by its structure, a file by what its name says that it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dunnage.secrets.names import MASK, SETTINGS, is_option, names_a_secret
from dunnage.secrets.texts import masked, may_hold
from dunnage.secrets.yaml_texts import masked_yaml

_YAML, _JSON, _LINES = frozenset({"yaml", "yml"}), "json", "jsonl"
"""How the names of files end whose structure is known."""


def masked_file(name: str, text: str, *, settings: bool = False) -> str:
    """Return the text of a file of this name without its secrets.

    `settings`: it is the configuration of a server.
    """
    ending = _ending(name)
    if not may_hold(text):
        return text
    if ending in _YAML:
        return masked_yaml(text, settings=settings)
    if ending == _JSON:
        return _json_masked(text, settings=settings, indent=1)
    if ending == _LINES:
        return "\n".join(_json_masked(line, settings=settings) for line in text.split("\n"))
    return masked(text)


def masked_data(data: Any, *, hide: bool = False, setting: bool = False) -> Any:
    """Return what a JSON document holds with everything masked that looks like a secret.

    That is every value under a secret's name, the word after it in a list of arguments, the value
    of a variable in a list of them, what is secret in a text under a file's name, such as a
    server's configuration, and what `masked` finds in other texts. `hide` masks every value;
    `setting`: the keys are those of settings.
    """
    if isinstance(data, Mapping):
        return {key: _under(key, value, hide=hide, setting=setting) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [
            _item(before, word, hide=hide, setting=setting)
            for before, word in zip([None, *data], data, strict=False)
        ]
    if hide:
        return None if data is None else MASK
    return masked(data) if isinstance(data, str) else data


def _ending(name: str) -> str:
    return name.rpartition(".")[2].lower()


def _under(key: Any, value: Any, *, hide: bool, setting: bool) -> Any:
    name = key if isinstance(key, str) else ""
    secret = hide or names_a_secret(name, setting=setting)
    if isinstance(value, str) and not secret and _ending(name) in (*_YAML, _JSON, _LINES):
        return masked_file(name, value, settings=True)
    return masked_data(value, hide=secret, setting=setting or name in SETTINGS)


def _item(before: Any, word: Any, *, hide: bool, setting: bool) -> Any:
    """An item of a list, which may be a word of a command line or a variable with its value."""
    if isinstance(word, str) and not hide:
        name, equals, value = word.partition("=")
        if equals and value and "\n" not in name and names_a_secret(name):
            return f"{name}={MASK}"
    after = isinstance(before, str) and is_option(before)
    return masked_data(word, hide=hide or after, setting=setting)


def _json_masked(text: str, *, settings: bool, indent: int | None = None) -> str:
    """A document without secrets stays byte for byte what it is."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return masked(text)
    hidden = masked_data(data, setting=settings)
    if hidden == data:
        return text
    end = "\n" if text.endswith("\n") else ""
    return json.dumps(hidden, indent=indent, ensure_ascii=False) + end
