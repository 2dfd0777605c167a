"""Running a command in a container over the API: its input, both outputs and a time that binds.

lightkube has this as well, but reads by a thread that may still read when its connection is closed:
then it takes bytes of the next connection. Of 200 commands in a row 3 were lost to that.
"""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from dunnage.clusters.channels import CLOSE, STDERR, STDIN, STDOUT, Channels
from dunnage.contracts.host import Completed
from dunnage.kubernetes_api import refusal_of

_PROTOCOL = "v5.channel.k8s.io"
"""Each message begins with the number of its channel; since version 5 one can be closed."""
_SWITCHED = 101
"""HTTP status of a connection that speaks another protocol from now on."""


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
        with switched(session, place, argv, stdin=bool(stdin), timeout=timeout) as connection:
            channels = Channels(connection)
            if stdin:
                channels.say(STDIN, stdin)
                channels.say(CLOSE, bytes([STDIN]))
            _talk(channels, ends)
    except httpx2.TimeoutException as error:
        raise TimeoutError from error
    return _completed(channels)


def _talk(channels: Channels, ends: float) -> None:
    """Send and hear at once until it is over: who is not heard may take no more input."""
    channels.hear()  # it may have come with the answer's head
    while not channels.over:
        channels.flush()
        left = ends - time.monotonic()
        if left <= 0 or not channels.wait(left):
            raise TimeoutError
        channels.hear()


def _completed(channels: Channels) -> Completed:
    status = channels.status()
    if status is None:
        why = channels.broken or "the connection ended before the command had"
        raise httpx2.ReadError(why)
    stdout, stderr = (channels.taken(each).decode(errors="replace") for each in (STDOUT, STDERR))
    return Completed(exit_code(status), stdout, stderr)


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


def _upgrade() -> Mapping[str, str]:
    return {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(secrets.token_bytes(16)).decode(),
        "Sec-WebSocket-Protocol": _PROTOCOL,
    }


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
