"""A host that is a node, and pods beside it that act as hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dunnage.hosts.channel.host import ChannelHost


@dataclass(frozen=True, eq=False)
class PodHost(ChannelHost):
    """A pod of its own on a node."""

    leaving: Callable[[], None]

    def leave(self) -> None:
        """End it, and all that was started in it."""
        self.leaving()


Beside = Callable[[ChannelHost, str, Mapping[str, str]], PodHost]


@dataclass(frozen=True, eq=False)
class NodeHost(ChannelHost):
    """A node of a cluster."""

    making: Beside
    image: str
    """What its agent runs."""
    look_at_disks: str
    """As `HasDisks` has it."""

    def beside(self, namespace: str, labels: Mapping[str, str]) -> PodHost:
        """Make a pod on the same node, in a namespace that is there, with a network of its own.

        Raises UnavailableError where the cluster does not take it, or it does not run.
        """
        return self.making(self, namespace, labels)
