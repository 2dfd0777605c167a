"""What is said over a connection that an API server has switched to the channels of a command.

Nothing here waits but `wait`: whoever speaks to many things at once asks when there is something to
be heard.
"""

from __future__ import annotations

import json
import select
import socket
import ssl
from collections.abc import Mapping
from typing import Any

import httpcore2
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Ping

STDIN, STDOUT, STDERR, STATUS, CLOSE = 0, 1, 2, 3, 255
"""Each message begins with the number of its channel; by the last one another can be closed."""
MOST = 65536
"""Bytes that are read, or sent as one message, at once."""
_READS = 16
"""Reads of one hearing at most: whoever hears without an end must see that time is over."""
_LATER = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""What a connection says that would have to wait."""


class Channels:
    """One command's channels."""

    def __init__(self, switched: Any) -> None:
        """`switched` is the connection, as `httpcore2` hands it over."""
        self._switched = switched
        self._socket: socket.socket = switched.get_extra_info("socket")
        self._socket.setblocking(False)
        self._frames = Connection(ConnectionType.CLIENT)
        self._channel: int | None = None
        self._told: dict[int, bytearray] = {}
        self._unsent = bytearray()
        self._sends_when_readable = False
        self.over = False
        """Whether nothing comes any more: the command has ended, or the connection has."""
        self.broken = ""
        """What broke the connection; empty where nothing did."""

    def fileno(self) -> int:
        """What is readable when there may be something to hear."""
        return self._socket.fileno()

    def say(self, channel: int, data: bytes) -> None:
        """Have this sent by `flush`, where it is not over."""
        for begin in range(0, len(data), MOST):
            message = bytes([channel]) + data[begin : begin + MOST]
            self._unsent += self._frames.send(BytesMessage(message))

    def flush(self) -> bool:
        """Send what can be sent without waiting; returns whether something is left."""
        try:
            while self._unsent:
                self._sends_when_readable = False
                del self._unsent[: self._socket.send(self._unsent)]
        except ssl.SSLWantReadError:
            self._sends_when_readable = True
        except _LATER:
            pass
        except OSError as error:  # it may have said before why it hears no more
            self._unsent.clear()
            self.broken = str(error)
        return bool(self._unsent)

    def hear(self) -> None:
        """Take in all that has come: of that, what came with the answer's head is no more the
        socket's."""
        try:
            for _ in range(_READS):
                if not self.over:
                    self._take(bytes(self._switched.read(MOST, timeout=0)))
        except httpcore2.NetworkError as error:
            if not isinstance(error.__cause__, _LATER):
                self.over = True
                self.broken = str(error)

    def wait(self, seconds: float, *, to_hear: bool = True) -> bool:
        """Wait until more can be sent, where something is left, or `to_hear` until there may be
        something to hear; returns whether that is so within these seconds."""
        sends = bool(self._unsent)
        reading = to_hear or (sends and self._sends_when_readable)
        writing = sends and not self._sends_when_readable
        asked = (select.POLLIN if reading else 0) | (select.POLLOUT if writing else 0)
        ready = select.poll()
        ready.register(self._socket, asked)
        return bool(ready.poll(1000 * seconds))

    def taken(self, channel: int) -> bytes:
        """What was heard of a channel and not taken yet."""
        return bytes(self._told.pop(channel, b""))

    def status(self) -> Mapping[str, Any] | None:
        """How the command ended; None where the connection ended before that was told in full."""
        try:
            told = json.loads(self._told.get(STATUS, b""))
        except ValueError:
            return None
        return told if isinstance(told, dict) else None

    def _take(self, data: bytes) -> None:
        if not data:
            self.over = True
            return
        self._frames.receive_data(data)
        for event in self._frames.events():
            self._heard(event)

    def _heard(self, event: Event) -> None:
        if isinstance(event, Ping) and not self.over:
            self._unsent += self._frames.send(event.response())
        elif isinstance(event, CloseConnection):
            self.over = True
            self.broken = (
                self.broken or event.reason or ""
            )  # of wsproto, where what came is no frame
        elif isinstance(event, BytesMessage):
            message = bytes(event.data)
            if message and self._channel is None:
                self._channel, message = message[0], message[1:]
            if self._channel is not None:
                self._told.setdefault(self._channel, bytearray()).extend(message)
            if event.message_finished:
                self.over = self.over or self._channel == STATUS
                self._channel = None
