"""Running a command in a container: its input, both outputs and a time that binds."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

from docker import APIClient
from docker.errors import APIError

from dunnage.contracts.host import Completed
from dunnage.docker_api import explanation
from dunnage.errors import RunError

NOT_RUN = 125
"""Exit code, as the docker command has it, for what the container could not run."""
_HEADER = struct.Struct(">BxxxL")
"""Stream and length before each piece: Docker's API, "attach to a container", stream format."""
_STDOUT, _STDERR = 1, 2


def execute(
    api: APIClient, container: str, argv: Sequence[str], *, stdin: str, timeout: float, where: str
) -> Completed:
    """Run `argv` in a container to its end; raises RunError after `timeout` seconds.

    A container that does not run gives the exit code `NOT_RUN`.
    """
    try:
        command = api.exec_create(container, list(argv), stdin=bool(stdin), user="0:0")["Id"]
        stream = api.exec_start(command, socket=True)
    except APIError as refusal:
        return Completed(NOT_RUN, "", explanation(refusal))
    try:
        stdout, stderr = converse(stream, stdin, timeout)
    except TimeoutError as error:
        raise RunError(
            f"`{' '.join(argv)}` did not end within {timeout:g} s", where=where
        ) from error
    finally:
        stream.close()
    try:
        code = api.exec_inspect(command)["ExitCode"]
    except APIError as refusal:  # the container ended meanwhile, and its commands went with it
        return Completed(NOT_RUN, stdout, stderr + explanation(refusal))
    return Completed(NOT_RUN if code is None else int(code), stdout, stderr)


def converse(stream: Any, stdin: str, timeout: float) -> tuple[str, str]:
    """Send `stdin` and read both outputs until they end; raises TimeoutError after `timeout`."""
    ends = time.monotonic() + timeout
    connection: socket.socket = getattr(stream, "_sock", stream)
    connection.settimeout(max(ends - time.monotonic(), 0.001))
    if stdin:
        connection.sendall(stdin.encode())
        connection.shutdown(socket.SHUT_WR)
    outputs = {_STDOUT: bytearray(), _STDERR: bytearray()}
    while header := _receive(connection, _HEADER.size, ends):
        channel, length = _HEADER.unpack(header)
        outputs[channel] += _receive(connection, length, ends)
    stdout, stderr = (outputs[each].decode(errors="replace") for each in (_STDOUT, _STDERR))
    return stdout, stderr


def _receive(connection: socket.socket, count: int, ends: float) -> bytes:
    """Exactly `count` bytes; fewer only where the stream ended."""
    received = bytearray()
    while len(received) < count:
        left = ends - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        piece = connection.recv(count - len(received))
        if not piece:
            return b""
        received += piece
    return bytes(received)
