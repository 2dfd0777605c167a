"""Running a command in a container over the API: its input, both outputs and a time that binds.

lightkube has this as well, but reads by a thread that may still read when its connection is closed:
then it takes bytes of the next connection. Of 200 commands in a row 3 were lost to that.
"""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpcore2
import httpx2
from lightkube import ApiError
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection

from dunnage.contracts.host import Completed

_PROTOCOL = "v5.channel.k8s.io"
"""Each message begins with the number of its channel; since version 5 one can be closed."""
STDIN, STDOUT, STDERR, STATUS, CLOSE = 0, 1, 2, 3, 255
_SWITCHED = 101
"""HTTP status of a connection that speaks another protocol from now on."""
MOST = 65536
"""Bytes that are read, or sent as one message, at once."""


@dataclass(frozen=True)
class Place:
    """A container in which commands are run."""

    namespace: str
    pod: str
    container: str


def execute(
    session: httpx2.Client, place: Place, argv: Sequence[str], *, stdin: bytes, timeout: float
) -> Completed:
    """Run a command to its end; raises TimeoutError after `timeout` seconds.

    Raises HTTPStatusError when the cluster refuses it, CannotRunError when the container cannot run
    it, and HTTPError when the connection is lost.
    """
    ends = time.monotonic() + timeout
    try:
        with switched(session, place, argv, stdin=bool(stdin), timeout=timeout) as stream:
            conversation = _Conversation(stream, ends)
            for begin in range(0, len(stdin), MOST):
                conversation.send(bytes([STDIN]) + stdin[begin : begin + MOST])
            if stdin:
                conversation.send(bytes([CLOSE, STDIN]))
            return conversation.heard()
    except httpx2.TimeoutException as error:
        raise TimeoutError from error


@contextmanager
def switched(
    session: httpx2.Client, place: Place, argv: Sequence[str], *, stdin: bool, timeout: float
) -> Iterator[Any]:
    """A connection whose messages are of the channels of a command.

    Raises HTTPStatusError when the cluster refuses it, and HTTPError when it is not there.
    """
    channels = [("stdin", str(stdin).lower()), ("stdout", "true"), ("stderr", "true")]
    asked: list[tuple[str, str | int | float | bool | None]]
    asked = [("container", place.container), *channels, *(("command", word) for word in argv)]
    url = f"/api/v1/namespaces/{place.namespace}/pods/{place.pod}/exec"
    with session.stream("GET", url, params=asked, headers=_upgrade(), timeout=timeout) as answer:
        if answer.status_code != _SWITCHED:
            answer.read()
            raise refusal_of(answer)
        yield answer.extensions["network_stream"]


def refusal_of(answer: httpx2.Response) -> httpx2.HTTPStatusError:
    """What the cluster says in an answer. Not every answer of a server that starts is an object."""
    if answer.headers.get("Content-Type") == "application/json":
        return ApiError(request=answer.request, response=answer)
    said = f"HTTP status {answer.status_code}: {answer.text.strip()}"
    return httpx2.HTTPStatusError(said, request=answer.request, response=answer)


def _upgrade() -> Mapping[str, str]:
    return {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(secrets.token_bytes(16)).decode(),
        "Sec-WebSocket-Protocol": _PROTOCOL,
    }


class _Conversation:
    """Messages over a connection that has been switched."""

    def __init__(self, stream: Any, ends: float) -> None:
        self._stream = stream
        self._ends = ends
        self._frames = Connection(ConnectionType.CLIENT)
        self._outputs: dict[int, bytearray] = {}

    def send(self, message: bytes) -> None:
        """Send one message."""
        with _spoken():
            self._stream.write(self._frames.send(BytesMessage(message)), timeout=self._left())

    def heard(self) -> Completed:
        """Read until the command has ended."""
        channel: int | None = None
        while True:
            data = self._read()
            self._frames.receive_data(data or None)
            for event in self._frames.events():
                if isinstance(event, CloseConnection):
                    return self._completed()
                if not isinstance(event, BytesMessage) or not event.data:
                    continue
                message = bytes(event.data)
                if channel is None:
                    channel, message = message[0], message[1:]
                self._outputs.setdefault(channel, bytearray()).extend(message)
                if event.message_finished:
                    if channel == STATUS:
                        return self._completed()
                    channel = None
            if not data:
                return self._completed()

    def _read(self) -> bytes:
        with _spoken():
            return bytes(self._stream.read(MOST, timeout=self._left()))

    def _left(self) -> float:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _completed(self) -> Completed:
        status = self._outputs.get(STATUS)
        if status is None:
            raise httpx2.ReadError("the connection ended before the command had")
        stdout, stderr = (
            self._outputs.get(each, bytearray()).decode(errors="replace")
            for each in (STDOUT, STDERR)
        )
        return Completed(exit_code(json.loads(status)), stdout, stderr)


@contextmanager
def _spoken() -> Iterator[None]:
    """Say what a bare connection raises in the words of the session."""
    try:
        yield
    except httpcore2.TimeoutException as error:
        raise TimeoutError from error
    except httpcore2.NetworkError as error:
        raise httpx2.NetworkError(str(error)) from error


def exit_code(status: Mapping[str, Any]) -> int:
    """The exit code that a status tells of; raises CannotRunError for a command that never ran."""
    if status.get("status") == "Success":
        return 0
    for cause in (status.get("details") or {}).get("causes") or ():
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    raise CannotRunError(str(status.get("message") or status))


class CannotRunError(Exception):
    """What the container cannot run; the text is why."""
