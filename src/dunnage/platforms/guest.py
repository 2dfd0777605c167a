"""What a container that acts as a host has from the host it stands on."""

from __future__ import annotations

from pathlib import Path

from dunnage.contracts import Host


class Guest:
    """The half of a host that is its landlord's: place, engine, control groups, clock."""

    def __init__(self, host: Host) -> None:
        self._host = host

    @property
    def name(self) -> str:
        """The name of the host that it is on."""
        return self._host.name

    @property
    def group(self) -> str:
        """That host's group."""
        return self._host.group

    @property
    def address(self) -> str:
        """That host's address."""
        return self._host.address

    @property
    def engine(self) -> str:
        """Path of `dunnage-engine`, the same inside and outside."""
        return self._host.engine

    def put_tree(self, source: Path, path: str) -> None:
        """Make a local directory visible on its host."""
        self._host.put_tree(source, path)

    def control_group(self, unit: str) -> str:
        """The unit's group on the host; what runs inside lies in it or below."""
        return self._host.control_group(unit)

    def freeze(self, unit: str) -> None:
        """Hold every process of a unit still, inside too."""
        self._host.freeze(unit)

    def thaw(self, unit: str) -> None:
        """Let them go on, and what was frozen inside."""
        self._host.thaw(unit)

    def clock_offset(self) -> float:
        """It has its host's clock."""
        return self._host.clock_offset()
