"""Questions to a host's agent, over a stream that is opened again when it breaks."""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dunnage.errors import HostLostError, RunError
from dunnage.hosts.channel.channel import ChannelError, GoneError, Stream
from dunnage.hosts.channel.frames import VERSION, Frames, Message, framed

BEAT = 15.0
"""Seconds after which the time is asked for: the agent shall know that we live, what lies between
shall not take the stream for dead, and an answer shows that it is not."""
SILENCE = 90.0
"""Seconds after which an agent ends that nobody asks for anything."""
PATIENCE = 45.0
"""Seconds for which a stream that broke is tried to be opened again: less than agents have."""
_AGAIN = 0.5
"""Seconds between two tries."""
_ANSWER = 30.0
"""Seconds for an answer, beyond what the question itself takes."""
_REPEATABLE = frozenset({"put", "get", "remove", "signal", "time"})
"""Questions that may be asked twice: they are asked again by the next stream."""


@dataclass
class _Asked:
    """A question, and its answer once it has come."""

    header: Mapping[str, Any]
    content: bytes
    answer: Message | None = None
    broken: bool = False


@dataclass
class _State:
    """What is shared with the thread that has the stream."""

    queue: deque[int] = field(default_factory=deque)
    asked: dict[int, _Asked] = field(default_factory=dict)
    codes: dict[int, int] = field(default_factory=dict)
    """Processes that have ended."""
    started: set[int] = field(default_factory=set)
    """Processes that whoever asked for them was told of."""
    strays: list[int] = field(default_factory=list)
    """Others that live: whoever asked for them was told that the stream broke."""
    number: int = 0
    lost: str = ""
    """Why the host is lost; empty while it is not."""
    closed: bool = False


class Link:
    """A conversation with the agent of one host, which many threads may have at once.

    One thread of its own has the stream. It waits for either side without looking, so that a host
    that is measured is left alone.
    """

    def __init__(self, host: str, open_stream: Callable[[], Stream]) -> None:
        """Open the first stream; raises ChannelError. `host` is whom errors are about."""
        self._host = host
        self._open = open_stream
        self._state = _State()
        self._changed = threading.Condition()
        begun = self._begun()
        self._wake, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        self._thread = threading.Thread(target=self._carry, args=begun, daemon=True)
        self._thread.start()

    def ask(self, what: str, content: bytes = b"", *, takes: float = 0.0, **more: Any) -> Message:
        """Ask, and wait for the answer; the question may take `takes` seconds by itself.

        Raises HostLostError, and RunError where the stream broke meanwhile and the question cannot
        be repeated, or where the agent says that it failed.
        """
        with self._changed:
            self._insist()
            self._state.number += 1
            number = self._state.number
            asked = _Asked({"id": number, "ask": what, **more}, content)
            self._state.asked[number] = asked
            self._state.queue.append(number)
            self._rouse()
            ends = time.monotonic() + takes + _ANSWER + PATIENCE
            try:
                while asked.answer is None and not asked.broken:
                    self._insist()
                    if not self._changed.wait(ends - time.monotonic()):
                        raise HostLostError("its agent does not answer", where=self._host)
            finally:
                self._state.asked.pop(number, None)
        if asked.answer is None:
            raise RunError("the connection to its agent broke meanwhile", where=self._host)
        header, _ = asked.answer
        if header["told"] == "failed":
            raise RunError(f"its agent could not {what}: {header['why']}", where=self._host)
        return asked.answer

    def code(self, process: int) -> int | None:
        """Exit code of a process that was started, None while it lives. Raises HostLostError."""
        with self._changed:
            return self._code(process)

    def await_end(self, process: int, timeout: float) -> int | None:
        """The same, as soon as it has ended or `timeout` seconds are over. Nothing is asked."""
        ends = time.monotonic() + timeout
        with self._changed:
            while (code := self._code(process)) is None:
                left = ends - time.monotonic()
                if left <= 0:
                    return None
                self._changed.wait(left)
            return code

    @property
    def lost(self) -> str:
        """Why the host is lost; empty while it is not."""
        with self._changed:
            return self._state.lost

    def close(self) -> None:
        """Ask nothing any more. The agent goes on for a while, and then ends by itself."""
        with self._changed:
            if self._state.closed:
                return
            self._state.closed = True
            self._rouse()
        self._thread.join()
        for descriptor in (self._wake, self._waker):
            os.close(descriptor)

    def _insist(self) -> None:
        if self._state.lost or self._state.closed:
            why = self._state.lost or "its testbed was closed"
            raise HostLostError(f"the host no longer answers: {why}", where=self._host)

    def _code(self, process: int) -> int | None:
        if process not in self._state.codes:
            self._insist()
        return self._state.codes.get(process)

    def _rouse(self) -> None:
        with suppress(BlockingIOError):  # it has been told often enough
            os.write(self._waker, b"!")

    def _carry(self, stream: Stream, frames: Frames) -> None:
        """Have one stream after the other, until closed or lost."""
        try:
            self._carry_on(stream, frames)
        except Exception as error:  # whoever waits for an answer must not wait for ever
            self._lose(f"{type(error).__name__}: {error}")

    def _carry_on(self, stream: Stream, frames: Frames) -> None:
        while not self._state.closed:
            try:
                self._speak(stream, frames)
            except (EOFError, OSError):
                self._broken()
            finally:
                stream.close()
            if self._state.closed:
                return
            try:
                stream, frames = self._reopened()
            except ChannelError as error:
                self._lose(str(error))
                return
        stream.close()

    def _speak(self, stream: Stream, frames: Frames) -> None:
        """Carry questions and answers until closed; raises EOFError when the stream breaks."""
        unheard = unsaid = 0.0
        while not self._state.closed:
            for header, content in self._due():
                stream.send(framed(header, content))
            begun = time.monotonic()
            both: list[Stream | int] = [stream, self._wake]
            ready, _, _ = select.select(both, [], [], BEAT)
            waited = time.monotonic() - begun
            unheard, unsaid = unheard + waited, unsaid + waited
            if stream in ready:
                unheard = 0.0
                for message in frames.take(stream.receive()):
                    self._take(message)
            if self._wake in ready:
                os.read(self._wake, 4096)
            if unheard > 3 * BEAT:
                raise EOFError("nothing comes any more")
            if not ready or unsaid > BEAT:  # what is asked meanwhile may take long by itself
                unsaid = 0.0
                stream.send(framed({"id": 0, "ask": "time"}))

    def _due(self) -> list[tuple[Mapping[str, Any], bytes]]:
        with self._changed:
            numbers = list(self._state.queue)
            self._state.queue.clear()
            asked = (self._state.asked.get(number) for number in numbers)
            kill = {"id": 0, "ask": "signal", "name": "KILL"}
            strays = [({**kill, "process": each}, b"") for each in self._state.strays]
            self._state.strays = []
            return [*strays, *((each.header, each.content) for each in asked if each is not None)]

    def _take(self, message: Message) -> None:
        header, _ = message
        with self._changed:
            if header["told"] == "ended":
                self._state.codes[header["process"]] = header["code"]
            elif header["told"] == "hello":
                self._greeted(header)
            elif (asked := self._state.asked.get(header["id"])) is not None:
                asked.answer = message
                if header["told"] == "started":
                    self._state.started.add(header["process"])
            self._changed.notify_all()

    def _greeted(self, header: Mapping[str, Any]) -> None:
        living = {each["process"] for each in header["processes"] if each["code"] is None}
        self._state.strays = sorted(living - self._state.started)
        for known in header["processes"]:
            if known["code"] is not None:
                self._state.codes[known["process"]] = known["code"]

    def _begun(self) -> tuple[Stream, Frames]:
        """A stream that was greeted by the agent, and what has come by it; raises ChannelError."""
        stream, frames, greeted = self._open(), Frames(), False
        try:
            stream.send(framed({"id": 0, "ask": "hello", "version": VERSION}))
            while not greeted:
                if not select.select([stream], [], [], _ANSWER)[0]:
                    raise ChannelError("its agent does not answer")
                for message in frames.take(stream.receive()):
                    if message[0]["told"] == "failed":
                        raise GoneError(message[0]["why"])
                    greeted = greeted or message[0]["told"] == "hello"
                    self._take(message)
        except (EOFError, OSError) as error:
            stream.close()
            raise ChannelError(str(error)) from error
        except ChannelError:
            stream.close()
            raise
        return stream, frames

    def _reopened(self) -> tuple[Stream, Frames]:
        ends = time.monotonic() + PATIENCE
        while True:
            try:
                return self._begun()
            except GoneError:
                raise
            except ChannelError:
                if time.monotonic() > ends or self._state.closed:
                    raise
            time.sleep(_AGAIN)

    def _broken(self) -> None:
        """Have what may be asked twice asked again; nobody knows what became of the rest."""
        with self._changed:
            again = []
            for number, asked in self._state.asked.items():
                if asked.header["ask"] in _REPEATABLE or number in self._state.queue:
                    again.append(number)
                elif asked.answer is None:
                    asked.broken = True
            self._state.queue = deque(again)
            self._changed.notify_all()

    def _lose(self, why: str) -> None:
        with self._changed:
            self._state.lost = why or "its agent is gone"
            self._changed.notify_all()
