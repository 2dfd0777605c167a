"""Masks YAML by its structure, so that no spelling of it hides a secret."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

from dunnage.secrets.names import MASK, SETTINGS, names_a_secret
from dunnage.secrets.texts import masked

_ANCHOR = re.compile(r"&\S+\s")
_COMMENT = re.compile(r"(?m)(?:^|(?<=\s))#[^\n]*")
_SHORTEST = 4
"""Letters of a secret that is looked for in comments: less may be a part of any word."""


def masked_yaml(text: str, *, settings: bool = False) -> str:
    """Return YAML with every value under a secret's name masked; else as `masked` does it.

    `settings`: all of it is settings, as in a server's configuration. Anchors stay, so that aliases
    still lead somewhere. A comment is masked like a setting, and where it repeats a secret.
    """
    try:
        node = YAML(typ="safe", pure=True).compose(text)
    except (YAMLError, ValueError, LookupError, RecursionError, AttributeError):
        node = None
    spans = {
        (each.start_mark.index, each.end_mark.index): str(each.value).strip()
        for each in _secrets(node, set(), setting=settings)
    }
    for start, end in sorted(spans, reverse=True):
        text = _replaced(text, start, end)
    known = sorted({each for each in spans.values() if len(each) >= _SHORTEST}, key=len)
    return _comments_masked(masked(text), known[::-1])


def _comments_masked(text: str, known: Sequence[str]) -> str:
    """What looks like a comment inside a text of the file is masked as well; it is no other."""

    def hide(comment: re.Match[str]) -> str:
        said = comment[0]
        for secret in known:
            said = said.replace(secret, MASK)
        return masked(said, settings=True)

    return _COMMENT.sub(hide, text)


def _replaced(text: str, start: int, end: int) -> str:
    old = text[start:end]
    anchor = _ANCHOR.match(old)
    kept = anchor[0].rstrip() + " " if anchor else ""
    return f"{text[:start]}{kept}{MASK}{old[len(old.rstrip()) :]}{text[end:]}"


def _secrets(
    node: Node | None,
    seen: set[tuple[int, bool, bool]],
    *,
    hidden: bool = False,
    setting: bool = False,
) -> Iterator[ScalarNode]:
    """The values of secrets; an alias may lead back to what holds it."""
    if node is None or (id(node), hidden, setting) in seen:
        return
    seen.add((id(node), hidden, setting))
    if isinstance(node, ScalarNode):
        if hidden and node.value:
            yield node
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            name = key.value if isinstance(key, ScalarNode) else ""
            secret = hidden or names_a_secret(name, setting=setting)
            yield from _secrets(value, seen, hidden=secret, setting=setting or name in SETTINGS)
    else:
        for item in node.value:
            yield from _secrets(item, seen, hidden=hidden, setting=setting)
