"""A process that a host's agent started."""

from __future__ import annotations

from dataclasses import dataclass

from dunnage.hosts.channel.link import Link


@dataclass(frozen=True)
class ChannelProcess:
    """It dies with its agent; a stream that breaks does not matter to it."""

    link: Link
    number: int
    """By which the agent knows it."""
    pid: int

    def poll(self) -> int | None:
        return self.link.code(self.number)

    def wait(self, timeout: float) -> int:
        code = self.link.await_end(self.number, timeout)
        if code is None:
            raise TimeoutError(f"process {self.pid} still runs after {timeout:g} s")
        return code

    def signal(self, name: str) -> None:
        if self.poll() is None:
            self.link.ask("signal", process=self.number, name=name)
