"""Trees where members run images by name: nothing is made but the engine's own."""

from __future__ import annotations

from dunnage.contracts.software import Tree
from dunnage.software.cache import Cache
from dunnage.software.engine import engine_tree
from dunnage.software.foreseen import ForeseenTrees
from dunnage.software.trees import PREFIX


class NamedImages(ForeseenTrees):
    """A SoftwareStore for someone else's nodes, which pull what members run."""

    def __init__(self, cache: Cache | None = None) -> None:
        super().__init__(cache)
        self._own = cache or Cache()

    def _engine(self) -> Tree:
        return engine_tree(self._own, PREFIX)
