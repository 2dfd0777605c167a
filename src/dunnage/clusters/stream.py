"""A command in a container that is spoken to for as long as it lives, over the API.

Nothing here waits for what may come: whoever speaks to many things at once asks when there is
something to be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import httpx2

from dunnage.clusters.channels import STDERR, STDIN, STDOUT, Channels
from dunnage.clusters.execute import Place, switched


class PodStream:
    """One command's input and output."""

    def __init__(
        self, session: httpx2.Client, place: Place, argv: Sequence[str], *, timeout: float
    ) -> None:
        """Start it. `timeout` is for each thing that is sent as well.

        Raises HTTPStatusError when the cluster refuses it, and HTTPError when it is not there.
        """
        self._timeout = timeout
        self._open = ExitStack()
        self._channels = Channels(
            self._open.enter_context(switched(session, place, argv, stdin=True, timeout=timeout))
        )
        self._why = ""

    def fileno(self) -> int:
        """What is readable when there may be something to receive."""
        return self._channels.fileno()

    def send(self, data: bytes) -> None:
        """Give it input; raises EOFError, with the reason, when nobody takes it any more."""
        if self._channels.over:
            raise EOFError(self._reason())
        self._channels.say(STDIN, data)
        self._flush()

    def receive(self) -> bytes:
        """What it has written and nobody has received, without waiting for more.

        Raises EOFError, with the reason, once it has ended or the connection has.
        """
        if not self._channels.over:
            self._channels.hear()
        if not self._channels.over:
            self._flush()
        written = self._channels.taken(STDOUT)
        if self._channels.over and not written:
            raise EOFError(self._reason())
        return written

    def close(self) -> None:
        """End the connection; the command sees the end of its input."""
        self._open.close()

    def _flush(self) -> None:
        """Send all of it, and hear nothing meanwhile: nobody would notice what came."""
        while self._channels.flush():
            if not self._channels.wait(self._timeout, to_hear=False):
                raise EOFError(f"nothing could be sent for {self._timeout:g} s")
        if self._channels.broken:
            raise EOFError(self._channels.broken)

    def _reason(self) -> str:
        """Why it is over, as the cluster and the command tell."""
        if not self._why:
            status = self._channels.status() or {}
            said = self._channels.taken(STDERR).decode(errors="replace").strip()
            parts = (said, str(status.get("message", "")), self._channels.broken)
            self._why = "; ".join(filter(None, parts)) or "the connection ended"
        return self._why
