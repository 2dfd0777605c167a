"""An agent that is played here, over streams that break."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dunnage.hosts.channel.channel import ChannelError, Stream
from dunnage.hosts.channel.frames import VERSION, Frames, framed

Told = dict[str, Any]

HELLO: Told = {"told": "hello", "version": VERSION, "processes": []}


class Pair:
    """Our end of a stream."""

    def __init__(self, near: socket.socket) -> None:
        self._near = near

    def fileno(self) -> int:
        return self._near.fileno()

    def send(self, data: bytes) -> None:
        self._near.sendall(data)

    def receive(self) -> bytes:
        data = self._near.recv(65536)
        if not data:
            raise EOFError("the stream ended")
        return data

    def close(self) -> None:
        self._near.close()


class Agent:
    """Answers by what is asked; None is no answer, and `cut` ends the stream."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {"hello": HELLO, "time": {"told": "time", "time": 1e9}}
        self.asked: list[Told] = []
        self.refused: ChannelError | None = None
        self.streams = 0
        self._far: socket.socket | None = None

    def open(self) -> Stream:
        if self.refused is not None:
            raise self.refused
        near, far = socket.socketpair()
        self.streams += 1
        self._far = far
        threading.Thread(target=self._serve, args=(far,), daemon=True).start()
        return Pair(near)

    def say(self, header: Told) -> None:
        """Say what nobody asked for."""
        assert self._far is not None
        self._far.sendall(framed({"id": 0, **header}))

    def cut(self) -> None:
        """Break the stream."""
        assert self._far is not None
        with suppress(OSError):
            self._far.shutdown(socket.SHUT_RDWR)

    def _serve(self, far: socket.socket) -> None:
        frames = Frames()
        with far:
            while data := far.recv(65536):
                for header, content in frames.take(data):
                    self.asked.append(header)
                    self._answer(far, header, content)

    def _answer(self, far: socket.socket, header: Told, content: bytes) -> None:
        answer = self.answers.get(header["ask"])
        told = answer(header, content) if callable(answer) else answer
        if told is None:
            return
        bytes_ = told.get("bytes", b"")
        with suppress(OSError):
            far.sendall(framed({**told, "bytes": len(bytes_), "id": header["id"]}, bytes_))


def once_more(agent: Agent, answer: Told) -> Callable[[Told, bytes], Told | None]:
    """An answer that the first stream does not live to give."""

    def answered(*_: object) -> Told | None:
        if agent.streams == 1:
            agent.cut()
            return None
        return answer

    return answered
