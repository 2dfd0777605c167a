"""Where two mappings differ, key by key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")


def unequal(
    a: Mapping[str, T], b: Mapping[str, T]
) -> Iterator[tuple[str, tuple[T | None, T | None]]]:
    """Every key, in order, whose values differ, with both; None where a side lacks the key."""
    for key in sorted(a.keys() | b.keys()):
        if a.get(key) != b.get(key):
            yield key, (a.get(key), b.get(key))


def leaves(tree: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    """Everything in a tree of mappings under its full key, such as `limits.cpus`.

    A mapping that is empty is a leaf.
    """
    for key, item in tree.items():
        if isinstance(item, Mapping) and item:
            yield from leaves(item, f"{above}{key}.")
        else:
            yield f"{above}{key}", item
