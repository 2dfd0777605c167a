"""What a host must be reached by, so that an agent can be brought there and spoken to.

A Kubernetes' `exec` is one; a connection by `ssh` could be another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dunnage.contracts.host import Completed


class ChannelError(Exception):
    """The way is broken, or its other end does not answer; it may be back soon. The text is why."""


class GoneError(ChannelError):
    """The other end is gone for good."""


class Stream(Protocol):
    """A command's input and output, for as long as it lives. Only one thread uses it."""

    def fileno(self) -> int:
        """A descriptor that is readable when there may be something to receive."""

    def send(self, data: bytes) -> None:
        """Give it input; raises EOFError when nobody takes it any more."""

    def receive(self) -> bytes:
        """What has come, without waiting for more; it may be nothing.

        Raises EOFError with the reason once nothing will come any more.
        """

    def close(self) -> None:
        """End it: the command sees the end of its input."""


class Channel(Protocol):
    """A way to one machine. It keeps nothing alive: what is started by it may live on."""

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float) -> Completed:
        """Run a command to its end; raises ChannelError, also when `timeout` seconds are over."""

    def open(self, argv: Sequence[str]) -> Stream:
        """Start a command that is spoken to; raises ChannelError."""
