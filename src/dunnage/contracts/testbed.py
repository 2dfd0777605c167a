"""Hosts as they are claimed: what the runner asks of all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dunnage.contracts.host import Clock, Host
from dunnage.model.value import Scalar


class Testbed(Protocol):
    """Hosts, claimed until the end of the `with` that opened them."""

    @property
    def hosts(self) -> tuple[Host, ...]:
        """All hosts, in the order of the study's groups."""

    @property
    def one_machine(self) -> bool:
        """Whether all hosts are one machine and see the same machine counters."""

    @property
    def clock(self) -> Clock: ...

    def group(self, name: str) -> tuple[Host, ...]: ...

    def lost(self) -> tuple[str, ...]:
        """Names of hosts that no longer answer."""

    def restore(self, name: str) -> None:
        """Bring a lost host back, empty."""

    def environment(self) -> Mapping[str, Scalar]:
        """Facts about the hardware, the kernel and how the hosts were made."""


@dataclass(frozen=True)
class OtherProcess:
    """A process of the machine that belongs to no host of the testbed."""

    name: str
    cpu: float
    """CPU seconds that it has used so far, with children that it has waited for."""


@runtime_checkable
class SeesOthers(Protocol):
    """A testbed that is one machine, and sees what else runs there."""

    def others(self) -> Mapping[tuple[int, int], OtherProcess]:
        """All processes that belong to no host. The key tells one from a later one of its id."""


@runtime_checkable
class HasNetworks(Protocol):
    """A testbed that is one machine, and whose hosts have network namespaces of their own."""

    def networks(self) -> Mapping[str, frozenset[int]]:
        """Host → numbers of its network namespaces, those of containers on it too, as
        `/proc/PID/ns/net` has them. `bridge` is what joins the hosts. No two share one.
        """


@runtime_checkable
class Outweighs(Protocol):
    """A testbed whose hosts can come before all else that runs on their machine."""

    def outweighing(self) -> AbstractContextManager[None]:
        """Have them come first, our own orchestration behind them, while the `with` lasts."""


@runtime_checkable
class Translates(Protocol):
    """A testbed that can give floating addresses to its hosts."""

    def translate(self, tools: Mapping[str, str]) -> None:
        """From now on a router stands before each host, and before each that is restored.

        `tools` are variables under which `iptables` runs. Raises UnavailableError when it refuses.
        """
