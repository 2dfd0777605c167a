"""A process in a namespace host."""

from __future__ import annotations

import signal
import subprocess

from dunnage.hosts.namespace.enter import Door, Entered


class NamespaceProcess:
    """A process that was started in one incarnation of a host, and dies with it."""

    def __init__(self, door: Door, entered: Entered) -> None:
        self._door = door
        self._entered = entered
        self.pid = entered.inner

    def poll(self) -> int | None:
        return self._judged(self._entered.outside.poll())

    def wait(self, timeout: float) -> int:
        try:
            code = self._judged(self._entered.outside.wait(timeout))
        except subprocess.TimeoutExpired:
            code = self._judged(None)
        if code is None:
            raise TimeoutError(f"process {self.pid} still runs after {timeout:g} s")
        return code

    def signal(self, name: str) -> None:
        self._entered.signal(signal.Signals[f"SIG{name}"])

    def _judged(self, code: int | None) -> int | None:
        """A power cut kills all processes, so only such an end is put down to the host."""
        if code in (None, -signal.SIGKILL) and not self._door.first.alive():
            raise self._door.lost()
        return code
