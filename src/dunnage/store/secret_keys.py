"""Masks a study by its structure, so that no spelling of YAML hides a secret."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

from dunnage.store.secrets import MASK, masked, names_a_secret

_MORE = frozenset({"token", "access_token", "auth", "bearer", "pwd", "credential", "credentials"})
"""Keys of settings that elsewhere, in logs and facts, are mostly something else."""
_ANCHOR = re.compile(r"&\S+\s")


def masked_study(text: str) -> str:
    """Return a study with every value under a secret's name masked; else as `masked` does it.

    Anchors stay, so that aliases still lead somewhere. Comments are texts: what they say in words
    is not known to be a secret.
    """
    try:
        node = YAML(typ="safe", pure=True).compose(text)
    except (YAMLError, ValueError, LookupError, RecursionError, AttributeError):
        node = None
    for value in sorted(set(_secrets(node, set())), reverse=True):
        text = _replaced(text, *value)
    return masked(text)


def _replaced(text: str, start: int, end: int) -> str:
    old = text[start:end]
    anchor = _ANCHOR.match(old)
    kept = anchor[0].rstrip() + " " if anchor else ""
    return f"{text[:start]}{kept}{MASK}{old[len(old.rstrip()) :]}{text[end:]}"


Span = tuple[int, int]
"""Places of the first letter and of the one behind the last."""


def _secrets(
    node: Node | None, seen: set[tuple[int, bool]], *, hidden: bool = False
) -> Iterator[Span]:
    """Where the values of secrets are; an alias may lead back to what holds it."""
    if node is None or (id(node), hidden) in seen:
        return
    seen.add((id(node), hidden))
    if isinstance(node, ScalarNode):
        if hidden and node.value:
            yield node.start_mark.index, node.end_mark.index
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            name = key.value if isinstance(key, ScalarNode) else ""
            secret = hidden or names_a_secret(name) or name.lower() in _MORE
            yield from _secrets(value, seen, hidden=secret)
    else:
        for item in node.value:
            yield from _secrets(item, seen, hidden=hidden)
