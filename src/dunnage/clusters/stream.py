"""A command in a container that is spoken to for as long as it lives, over the API.

Nothing here waits for what may come: whoever speaks to many things at once asks when there is
something to be read.
"""

from __future__ import annotations

import json
import select
import socket
import ssl
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import httpcore2
import httpx2
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Ping

from dunnage.clusters.execute import MOST, STATUS, STDERR, STDIN, STDOUT, Place, switched

_LATER = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""What a connection says that would have to wait."""


class PodStream:
    """One command's input and output."""

    def __init__(
        self, session: httpx2.Client, place: Place, argv: Sequence[str], *, timeout: float
    ) -> None:
        """Start it. `timeout` is for each thing that is sent as well.

        Raises HTTPStatusError when the cluster refuses it, and HTTPError when it is not there.
        """
        self._timeout = timeout
        self._frames = Connection(ConnectionType.CLIENT)
        self._channel: int | None = None
        self._told: dict[int, bytearray] = {}
        self._over = False
        self._open = ExitStack()
        self._upgraded: Any = self._open.enter_context(
            switched(session, place, argv, stdin=True, timeout=timeout)
        )
        self._socket: socket.socket = self._upgraded.get_extra_info("socket")
        self._early = True

    def fileno(self) -> int:
        """What is readable when there may be something to receive."""
        return self._socket.fileno()

    def send(self, data: bytes) -> None:
        """Give it input; raises EOFError, with the reason, when nobody takes it any more."""
        if self._over:
            raise EOFError(self._reason())
        for begin in range(0, len(data), MOST):
            part = bytes([STDIN]) + data[begin : begin + MOST]
            self._write(self._frames.send(BytesMessage(part)))

    def receive(self) -> bytes:
        """What it has written and nobody has received, without waiting for more.

        Raises EOFError, with the reason, once it has ended or the connection has.
        """
        if not self._over:
            if data := self._read():
                self._frames.receive_data(data)
            for event in self._frames.events():
                self._take(event)
        written = bytes(self._told.pop(STDOUT, b""))
        if self._over and not written:
            raise EOFError(self._reason())
        return written

    def close(self) -> None:
        """End the connection; the command sees the end of its input."""
        self._open.close()

    def _read(self) -> bytes:
        """All that has come. What came with the answer's head is not the socket's any more."""
        data = bytearray()
        try:
            if self._early:
                self._early = False
                data += self._upgraded.read(MOST, timeout=self._timeout)
                self._over = not data
            self._socket.setblocking(False)
            while not self._over:
                piece = self._socket.recv(MOST)
                self._over = not piece
                data += piece
        except _LATER:
            pass
        except (OSError, httpcore2.NetworkError, httpcore2.TimeoutException) as error:
            self._over = True
            self._told.setdefault(STDERR, bytearray()).extend(str(error).encode())
        return bytes(data)

    def _take(self, event: Event) -> None:
        if isinstance(event, Ping):
            self._write(self._frames.send(event.response()))
        elif isinstance(event, CloseConnection):
            self._over = True
        elif isinstance(event, BytesMessage) and event.data:
            message = bytes(event.data)
            if self._channel is None:
                self._channel, message = message[0], message[1:]
            self._told.setdefault(self._channel, bytearray()).extend(message)
            if event.message_finished:
                self._over = self._over or self._channel == STATUS
                self._channel = None

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            self._socket.setblocking(False)
            while view:
                try:
                    view = view[self._socket.send(view) :]
                except ssl.SSLWantReadError:
                    self._await(readable=True)
                except (BlockingIOError, ssl.SSLWantWriteError):
                    self._await(readable=False)
        except OSError as error:
            raise EOFError(str(error)) from error

    def _await(self, *, readable: bool) -> None:
        own = [self._socket]
        ready = select.select(own if readable else [], [] if readable else own, [], self._timeout)
        if not any(ready):
            raise TimeoutError(f"nothing could be sent for {self._timeout:g} s")

    def _reason(self) -> str:
        """Why it is over, as the cluster and the command tell."""
        told = _message(bytes(self._told.get(STATUS, b"")))
        said = self._told.get(STDERR, b"").decode(errors="replace").strip()
        return "; ".join(filter(None, (said, told))) or "the connection ended"


def _message(status: bytes) -> str:
    """What a status tells; nothing where the connection ended before it was whole."""
    try:
        return str(json.loads(status).get("message", ""))
    except ValueError:
        return ""
