"""A substrate in memory: one daemon a host, and an account of when it was awake."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from dunnage.contracts.docker import Daemon
from dunnage.contracts.host import Host, Process
from dunnage.contracts.testbed import Testbed
from dunnage.errors import HostLostError, StayError
from dunnage.model.record import Restart
from dunnage.model.value import Scalar

UNIT = "daemon"
RULES = 3
"""For packets, that each daemon has made."""


class FakeSubstrate:
    """Refuses to be used while it is frozen. `history` tells what was asked of it, in order."""

    def __init__(self, testbed: Testbed, hosts: tuple[Host, ...]) -> None:
        self._testbed = testbed
        self._hosts = {host.name: host for host in hosts}
        self._processes: dict[str, Process] = {}
        self._asleep: set[str] = set()
        self.history: list[str] = []

    def daemon(self, host: str) -> Daemon:
        """The daemon of a host; KeyError if there is none, StayError while it is frozen."""
        if host in self._asleep:
            raise StayError("its substrate is frozen", where=host)
        if host not in self._hosts:
            raise KeyError(host)
        return Daemon(host, f"fake://{host}")

    def units(self, host: str) -> tuple[str, ...]:
        return (UNIT,) if host in self._hosts else ()

    def rules(self, host: str) -> int | None:
        return RULES if host in self._hosts else None

    def wake(self) -> None:
        """Make it usable for a stay; a host that was restored gets its daemon anew."""
        lost = self._testbed.lost()
        for host in self._hosts.values():
            if host.name in lost:
                continue
            host.thaw(UNIT)
            if not self._lives(host.name):
                self._start(host)
        self._asleep.clear()
        self.history.append("wake")

    def freeze(self, hosts: Collection[str] | None = None) -> None:
        lost = self._testbed.lost()
        for host in self._hosts.values():
            if hosts is None or host.name in hosts:
                self._asleep.add(host.name)
                if host.name not in lost:
                    host.freeze(UNIT)
        self.history.append("freeze")

    def mend(self, host: str) -> None:
        """Start the daemon of a host that was restored, and leave it as asleep as the others."""
        there = self._hosts.get(host)
        if there is None:
            return
        self._start(there)
        if host in self._asleep:
            there.freeze(UNIT)
        self.history.append(f"mend {host}")

    def facts(self) -> Mapping[str, Scalar]:
        return {"daemon": "fake", "version": "1.0", "storage_driver": "memory"}

    def restarts(self) -> Mapping[str, tuple[Restart, ...]]:
        """Of its daemons, as each host has it written down."""
        return {name: tuple(_restarts(host)) for name, host in self._hosts.items()}

    def close(self) -> None:
        """Stop every daemon that can still be reached."""
        for process in self._processes.values():
            process.signal("KILL")

    def _start(self, host: Host) -> None:
        self._processes[host.name] = host.start(
            ("fake-daemon", "--restarts", _restarts_file(host)),
            unit=UNIT,
            log=f"{host.scratch}/daemon.log",
        )

    def _lives(self, host: str) -> bool:
        process = self._processes.get(host)
        try:
            return process is not None and process.poll() is None
        except HostLostError:
            return False


def _restarts_file(host: Host) -> str:
    """File with a line for each restart of a host's daemon."""
    return f"{host.scratch}/restarts.jsonl"


def _restarts(host: Host) -> Iterator[Restart]:
    try:
        told = host.get(_restarts_file(host)).decode()
    except FileNotFoundError:
        return
    yield from map(Restart.model_validate_json, told.splitlines())


@contextmanager
def open_fake_substrate(testbed: Testbed, hosts: tuple[Host, ...]) -> Iterator[FakeSubstrate]:
    """Start a daemon on each of `hosts`; they live until the `with` ends. It is awake at first."""
    substrate = FakeSubstrate(testbed, hosts)
    try:
        substrate.wake()
        yield substrate
    finally:
        substrate.close()
