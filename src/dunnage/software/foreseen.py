"""Trees before they are made: those in the cache as they are, of the others what is known."""

from __future__ import annotations

from pathlib import Path

from dunnage.contracts.software import Tree
from dunnage.errors import UnavailableError
from dunnage.model.layout import ENGINE_TREE, Software
from dunnage.software.cache import Cache
from dunnage.software.engine import engine_known
from dunnage.software.trees import PREFIX, cached

HASH = "HASH"
"""Stands for what a tree is named by, which is known when it was made."""


class ForeseenTrees:
    """A SoftwareStore that makes nothing."""

    def __init__(self, cache: Cache | None = None) -> None:
        self._cache = cache or Cache()

    def tree(self, software: Software) -> Tree:
        """Its prefix and its image's name, with `HASH` where the tree was not made yet."""
        if software == ENGINE_TREE:
            return self._engine()
        known = cached(self._cache, software)
        return known or _named(software, f"{software.name}-{software.version}-{HASH}")

    def _engine(self) -> Tree:
        try:
            return _named(ENGINE_TREE, engine_known())
        except UnavailableError:
            return _named(ENGINE_TREE, f"engine-{HASH}")


def _named(software: Software, name: str) -> Tree:
    """A tree that is nowhere yet."""
    kind, _, rest = name.partition("-")
    prefix = f"{PREFIX}/{name}"
    nowhere = Path(prefix)
    return Tree(software, nowhere, prefix, nowhere, f"dunnage/{kind}:{rest}", {})
