"""What testbeds do alike whose hosts are reached by channels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from typing import Generic, TypeVar

from dunnage.contracts.host import Host
from dunnage.errors import HostLostError, RunError
from dunnage.hosts.channel.host import ChannelHost
from dunnage.hosts.channel.link import Link
from dunnage.hosts.machine_clock import MachineClock
from dunnage.hosts.machine_facts import machine_facts
from dunnage.model.agreement import agreed
from dunnage.model.value import Scalar

H = TypeVar("H", bound=ChannelHost)
"""One of its hosts."""


class ChannelTestbed(ABC, Generic[H]):
    """Hosts that have an agent each."""

    def __init__(self, *, one_machine: bool) -> None:
        self.one_machine = one_machine
        self.clock = MachineClock()
        self._links: dict[str, Link] = {}
        self._hosts: dict[str, H] = {}

    @abstractmethod
    def _again(self, name: str) -> Link:
        """Make a new agent on a host that was lost; raises UnavailableError."""

    @abstractmethod
    def _told(self) -> Mapping[str, Scalar]:
        """How the hosts were had."""

    @abstractmethod
    def _named(self, name: str) -> tuple[str, str]:
        """What one calls a host elsewhere, and the architecture of its machine."""

    @property
    def hosts(self) -> tuple[Host, ...]:
        return tuple(self._hosts.values())

    def group(self, name: str) -> tuple[Host, ...]:
        return tuple(host for host in self._hosts.values() if host.group == name)

    def lost(self) -> tuple[str, ...]:
        return tuple(name for name in self._hosts if not answers(self._links[name]))

    def restore(self, name: str) -> None:
        self._links[name].close()
        self._links[name] = self._again(name)

    def environment(self) -> Mapping[str, Scalar]:
        """How the hosts were had, and facts of their machines, as their kernels tell them."""
        return {**self._told(), **agreed({name: self._facts(name) for name in self._hosts})}

    def _facts(self, name: str) -> Mapping[str, Scalar]:
        host = self._hosts[name]

        def read(path: str) -> bytes | None:
            try:
                return host.get(path)
            except (FileNotFoundError, RunError):
                return None

        called, architecture = self._named(name)
        return {"node": called, **machine_facts(read, architecture)}


def end(link: Link) -> None:
    """Have an agent end, if it still can be asked to."""
    with suppress(HostLostError, RunError):  # it may end before it has said so
        link.ask("end")
    link.close()


def answers(link: Link) -> bool:
    """Whether a host's agent answers, by a stream that is opened again if it must be."""
    try:
        link.ask("time")
    except HostLostError:
        return False
    return True
