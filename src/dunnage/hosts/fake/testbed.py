"""A testbed in memory, on a virtual clock: the whole path can be walked in seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from dunnage.contracts.testbed import OtherProcess
from dunnage.hosts.fake.clock import VirtualClock
from dunnage.hosts.fake.host import FakeHost
from dunnage.hosts.fake.programs import PROGRAMS
from dunnage.hosts.fake.world import World
from dunnage.model.accounting import ACCOUNTING, Accounting
from dunnage.model.soft_interrupts import BRIDGE
from dunnage.model.study import TestbedSpec
from dunnage.model.value import Scalar

NETWORKS = 4026532000
"""Number of the first network namespace; the others follow."""


class FakeTestbed:
    """Hosts in memory. `world` injects faults: `lose`, `die`, `kill`, `fill`, `never_ready`,
    `ahead`, `disturb`."""

    one_machine = True

    def __init__(self, spec: TestbedSpec, name: str) -> None:
        self.clock = VirtualClock(time.time())
        self.world = World(self.clock)
        self.world.programs.update(PROGRAMS)
        for group, count in spec.hosts.items():
            for number in range(1, count + 1):
                # TEST-NET-1 (RFC 5737): addresses that can belong to nobody.
                address = f"192.0.2.{len(self.world.hosts) % 254 + 1}"
                host = FakeHost(f"{group}-{number}", group, address, name, self.world)
                self.world.hosts[host.name] = host

    @property
    def hosts(self) -> tuple[FakeHost, ...]:
        return tuple(self.world.hosts.values())

    def group(self, name: str) -> tuple[FakeHost, ...]:
        return tuple(host for host in self.hosts if host.group == name)

    def lost(self) -> tuple[str, ...]:
        return tuple(host.name for host in self.hosts if not host.powered)

    def restore(self, name: str) -> None:
        host = self.world.hosts[name]
        host.power_off()
        host.power_on()

    def others(self) -> Mapping[tuple[int, int], OtherProcess]:
        now = self.clock.now()
        return {
            (number, 0): OtherProcess(other.name, other.cpu(now))
            for number, other in enumerate(self.world.others)
        }

    def networks(self) -> Mapping[str, frozenset[int]]:
        names = (*(host.name for host in self.hosts), BRIDGE)
        found = {name: {number} for number, name in enumerate(names, NETWORKS)}
        for number, host in enumerate(self.world.further, NETWORKS + len(found)):
            found[host].add(number)
        return {
            name: frozenset() if name in self.world.unread else frozenset(own)
            for name, own in found.items()
        }

    def environment(self) -> Mapping[str, Scalar]:
        """Facts about hosts that are nowhere."""
        return {
            "testbed": "fake",
            "hosts": len(self.hosts),
            "processors": 4,
            "kernel": "fake",
            ACCOUNTING: Accounting.CONTAINED,
        }


@contextmanager
def open_fake(
    spec: TestbedSpec, *, name: str, ahead: Mapping[str, float] | None = None
) -> Iterator[FakeTestbed]:
    """Open a testbed in memory; `ahead` sets clocks of hosts ahead by so many seconds."""
    testbed = FakeTestbed(spec, name)
    for host, seconds in (ahead or {}).items():
        testbed.world.ahead(host, seconds)
    try:
        yield testbed
    finally:
        for fake in testbed.hosts:
            fake.power_off()
