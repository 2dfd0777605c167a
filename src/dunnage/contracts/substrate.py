"""What must live before platforms: what the runner asks of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol, runtime_checkable

from dunnage.model.record import Restart
from dunnage.model.value import Scalar


class Substrate(Protocol):
    """What runs on the hosts for platforms, until the end of its `with`.

    One may stand on another, as a Swarm does on Docker's daemons: what is done to it is done to
    what it stands on as well. What it gives to platforms is told by `HasDaemons` and `HasSwarm`.
    """

    def units(self, host: str) -> tuple[str, ...]:
        """Its units on a host, for the sampler; none where nothing of ours runs."""

    def wake(self) -> None:
        """Make it usable for a stay; returns when it is. Raises UnavailableError when it does not
        become so."""

    def freeze(self, hosts: Collection[str] | None = None) -> None:
        """Keep it from using any CPU during the stay of another platform, on all its hosts or on
        some; `wake` ends it.
        """

    def mend(self, host: str) -> None:
        """Start its part again on a host that was lost and restored empty."""

    def facts(self) -> Mapping[str, Scalar]:
        """Versions, storage driver and network settings, from the daemons."""


@runtime_checkable
class TellsRestarts(Protocol):
    """A substrate whose programs are restarted when they end."""

    def restarts(self) -> Mapping[str, tuple[Restart, ...]]:
        """Host → all restarts there, in order, since its part of the substrate was made.

        Raises HostLostError and RunError where a host cannot tell.
        """


@runtime_checkable
class TellsRules(Protocol):
    """A substrate that makes rules for packets, which stay in force while it is frozen."""

    def rules(self, host: str) -> int | None:
        """How many rules for packets are in force in the network of a host, whoever made them.

        None where it has no part there, and where its tools do not tell it.
        """
