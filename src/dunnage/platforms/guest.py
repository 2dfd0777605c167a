"""What a container that acts as a host has from the host it stands on."""

from __future__ import annotations

from abc import ABC, abstractmethod

from dunnage.contracts.host import Host


class Guest:
    """The half of a host that is its landlord's: place, engine, files, control groups, clock."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.name, self.group, self.address = host.name, host.group, host.address
        self.engine, self.scratch = host.engine, host.scratch
        self.put, self.put_tree = host.put, host.put_tree
        self.control_group = host.control_group
        """A unit's group on the host; what runs inside lies in it or below."""
        self.freeze, self.thaw = host.freeze, host.thaw
        self.clock_offset = host.clock_offset

    @property
    def landlord(self) -> Host:
        """The host that it stands on."""
        return self._host


class Networked(Guest, ABC):
    """A guest with a network of its own."""

    @property
    @abstractmethod
    def pid(self) -> int:
        """A process of the landlord, as that sees it, that has this guest's network."""
