"""The software of the fake database: built into every fake host, so nothing is obtained."""

from __future__ import annotations

from pathlib import Path

from dunnage.contracts.software import Tree
from dunnage.errors import UnavailableError
from dunnage.model.layout import Software

VERSIONS = ("1.0",)


class FakeTrees:
    """Trees that exist by name only."""

    def tree(self, software: Software) -> Tree:
        """The fake database's tree. Raises UnavailableError for any other software."""
        if software.name != "fake" or software.version not in VERSIONS:
            raise UnavailableError(
                f"fake hosts have no `{software.name}` {software.version}", hint="dunnage doctor"
            )
        prefix = f"/opt/dunnage/fake-{software.version}"
        return Tree(
            software=software,
            source=Path(prefix),
            prefix=prefix,
            archive=Path(f"{prefix}.tar"),
            tag=f"dunnage/fake:{software.version}",
            facts={"source": "built in", "version": software.version},
        )
