"""Studies as they were once written, in today's grammar. Pure.

Results keep the study that they were made with, and are read for as long as there are any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dunnage.study.document import Data
from dunnage.study.grammar import Finding

_ONE_SUBSTRATE = frozenset({"kind", "contexts"})
"""Keys of the one specification that there was before there were families."""


def renewed(data: Data) -> Data:
    """The same study in today's grammar; what is none, or new already, comes back as it is."""
    if not isinstance(data, Mapping):
        return data
    substrate = data.get("substrate")
    if not isinstance(substrate, Mapping) or not _ONE_SUBSTRATE & substrate.keys():
        return data
    return {**data, "substrate": {_family(substrate): substrate}}


def _family(substrate: Mapping[str, Data]) -> str:
    return "fake" if substrate.get("kind") == "fake" else "docker"


def outdated(data: Data) -> Iterator[Finding]:
    """What a new study must write in another way by now."""
    if renewed(data) is not data:
        yield Finding(
            ("substrate",),
            "`substrate` has keys of its own for each family by now",
            "write for example `substrate: {docker: {kind: existing, contexts: …}}`",
        )
