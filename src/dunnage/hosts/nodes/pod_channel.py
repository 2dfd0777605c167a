"""A channel into a container, by the cluster's API."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import httpx2

from dunnage.clusters.execute import CannotRunError, Place, execute
from dunnage.clusters.stream import PodStream
from dunnage.contracts.host import Completed
from dunnage.hosts.channel.channel import ChannelError, GoneError
from dunnage.kubernetes_api import GONE, Refused, explanation, status_of

_OPENED = 30.0
"""Seconds within which a stream is there, and within which it takes what is sent."""
_ENDED = "completed pod"
"""What an API server says of a pod whose containers have ended for good."""


class PodChannel:
    """Commands in one container."""

    def __init__(self, session: httpx2.Client, place: Place) -> None:
        self._session = session
        self._place = place

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float) -> Completed:
        try:
            return execute(self._session, self._place, argv, stdin=stdin, timeout=timeout)
        except CannotRunError as error:
            raise ChannelError(str(error)) from error
        except TimeoutError as error:
            late = f"`{shlex.join(argv)}` did not end within {timeout:g} s"
            raise ChannelError(late) from error
        except Refused as refusal:
            raise _broken(refusal) from refusal

    def open(self, argv: Sequence[str]) -> PodStream:
        try:
            return PodStream(self._session, self._place, argv, timeout=_OPENED)
        except Refused as refusal:
            raise _broken(refusal) from refusal


def _broken(refusal: BaseException) -> ChannelError:
    said = explanation(refusal)
    gone = status_of(refusal) == GONE or _ENDED in said
    return GoneError(said) if gone else ChannelError(said)
