"""A command in a container that is spoken to: a server that switches to frames, as an API does."""

from __future__ import annotations

import json
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import pytest
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, Pong

from dunnage.clusters.channels import MOST
from dunnage.clusters.execute import Place, execute
from dunnage.clusters.stream import PodStream
from dunnage.contracts.host import Completed
from dunnage.hosts.channel.channel import ChannelError, GoneError
from dunnage.hosts.nodes.pod_channel import PodChannel

PLACE = Place("n", "p", "agent")
Talk = Callable[["Spoken"], None]


class Spoken:
    """The server's end."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._frames = Connection(ConnectionType.SERVER)
        self.pongs = 0

    def say(self, *events: Event) -> None:
        self._connection.sendall(b"".join(map(self._frames.send, events)))

    def heard(self, count: int) -> bytes:
        """So many bytes of input."""
        got = bytearray()
        while len(got) < count:
            got += b"".join(event.data for event in self._come() if isinstance(event, BytesMessage))
        return bytes(got)

    def messages(self) -> Iterator[bytes]:
        """Each as soon as all of it has come."""
        whole = bytearray()
        while True:
            for event in self._come():
                if isinstance(event, BytesMessage):
                    whole += event.data
                    if event.message_finished:
                        yield bytes(whole)
                        whole.clear()

    def until_answered(self) -> None:
        """Wait for the answer to a ping."""
        while not self.pongs:
            self._come()

    def _come(self) -> list[Event]:
        data = self._connection.recv(65536)
        if not data:
            raise EOFError
        self._frames.receive_data(data)
        events = list(self._frames.events())
        self.pongs += sum(isinstance(event, Pong) for event in events)
        return events


@contextmanager
def serving(talk: Talk | None, code: int = 101, told: str = "") -> Iterator[httpx2.Client]:
    """A session with a server that talks so, or that refuses."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.close_connection = True
            if talk is None:
                body = json.dumps({"kind": "Status", "code": code, "message": told}).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                return
            self.send_response_only(101)
            self.send_header("Connection", "Upgrade")
            self.send_header("Upgrade", "websocket")
            self.end_headers()
            talk(Spoken(self.connection))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        with httpx2.Client(base_url=url, trust_env=False) as session:
            yield session
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def received(stream: PodStream, count: int) -> bytes:
    """So many bytes, each as soon as there are some."""
    got = b""
    while len(got) < count:
        assert select.select([stream], [], [], 10.0)[0], got
        got += stream.receive()
    return got


def ended(stream: PodStream) -> str:
    with pytest.raises(EOFError) as over:
        while True:
            assert select.select([stream], [], [], 10.0)[0]
            stream.receive()
    return str(over.value)


def test_both_directions_go_on_for_as_long_as_the_command_lives() -> None:
    def talk(spoken: Spoken) -> None:
        spoken.say(BytesMessage(b"\x01"), BytesMessage(b"\x02"))  # as an API server begins
        question = spoken.heard(6)
        spoken.say(Ping(b"there?"), BytesMessage(b"\x01" + question[1:], message_finished=False))
        spoken.say(BytesMessage(b", heard", message_finished=True))
        spoken.heard(2)
        spoken.say(BytesMessage(b"\x01" + b"x" * 100_000))
        spoken.say(BytesMessage(b"\x03" + json.dumps({"status": "Success"}).encode()))

    with serving(talk) as session:
        stream = PodStream(session, PLACE, ["engine", "speak"], timeout=10.0)
        stream.send(b"hello")
        assert received(stream, 12) == b"hello, heard"
        assert stream.receive() == b""
        stream.send(b"!")
        assert received(stream, 100_000) == b"x" * 100_000
        assert ended(stream) == "the connection ended"
        stream.close()


def test_what_is_long_is_sent_in_pieces() -> None:
    got: list[bytes] = []

    def talk(spoken: Spoken) -> None:
        pieces = 1 + 200_000 // MOST
        got.append(spoken.heard(200_000 + pieces))
        spoken.say(BytesMessage(b"\x01done"))
        spoken.heard(1)

    with serving(talk) as session:
        stream = PodStream(session, PLACE, ["cat"], timeout=10.0)
        stream.send(b"y" * 200_000)
        assert received(stream, 4) == b"done"
        stream.send(b"")
        stream.send(b"z")
        stream.close()
    assert got[0].count(b"\x00") == 4
    assert got[0].replace(b"\x00", b"") == b"y" * 200_000


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([CloseConnection(code=1000)], "the connection ended"),
        (
            [
                BytesMessage(b"\x02no such file"),
                BytesMessage(b"\x03" + json.dumps({"message": "exit code 127"}).encode()),
            ],
            "no such file; exit code 127",
        ),
        ([BytesMessage(b"\x02killed"), BytesMessage(b'\x03{"mess')], "killed"),
        ([], "the connection ended"),
    ],
)
def test_the_end_of_a_command_is_told_with_its_reason(events: list[Event], why: str) -> None:
    with serving(lambda spoken: spoken.say(*events)) as session:
        stream = PodStream(session, PLACE, ["x"], timeout=10.0)
        assert ended(stream) == why
        with pytest.raises(EOFError):
            stream.receive()
        with pytest.raises(EOFError):
            stream.send(b"more")
        stream.close()


def test_who_is_ended_with_its_last_words_takes_no_more_input() -> None:
    with serving(
        lambda spoken: spoken.say(BytesMessage(b"\x01bye"), CloseConnection(1000))
    ) as session:
        stream = PodStream(session, PLACE, ["x"], timeout=10.0)
        assert received(stream, 3) == b"bye"
        with pytest.raises(EOFError):
            while True:  # the end may come a moment after the words
                stream.receive()
                stream.send(b"more")
        stream.close()


def test_input_that_nobody_takes_ends_the_stream() -> None:
    waiting = threading.Event()
    with serving(silent(waiting)) as session:
        stream = PodStream(session, PLACE, ["x"], timeout=0.2)
        with pytest.raises(EOFError, match="nothing could be sent"):
            stream.send(b"x" * 50_000_000)
        waiting.set()
        stream.close()


def silent(waiting: threading.Event) -> Talk:
    """Says nothing and hears nothing until it may end."""

    def talk(_: Spoken) -> None:
        waiting.wait(10.0)

    return talk


# Commands that are run to their end.

SUCCESS = BytesMessage(b"\x03" + json.dumps({"status": "Success"}).encode())
LARGE = bytes(range(256)) * 40_000
"""More than what lies between two ends can hold."""


def test_a_command_that_answers_while_it_is_fed_is_given_all_its_input() -> None:
    def echo(spoken: Spoken) -> None:
        for message in spoken.messages():
            if message == b"\xff\x00":
                spoken.say(SUCCESS)
                return
            spoken.say(BytesMessage(b"\x01" + message[1:]))

    with serving(echo) as session:
        done = execute(session, PLACE, ["cat"], stdin=LARGE, timeout=60.0)
    assert done == Completed(0, LARGE.decode(errors="replace"), "")


def test_a_command_that_ends_before_it_has_taken_all_its_input_is_over() -> None:
    waiting = threading.Event()

    def talk(spoken: Spoken) -> None:
        spoken.say(SUCCESS)
        waiting.wait(30.0)

    with serving(talk) as session:
        done = execute(session, PLACE, ["true"], stdin=LARGE, timeout=30.0)
        waiting.set()
    assert done == Completed(0, "", "")


def test_rubbish_of_a_proxy_ends_a_command_with_what_is_wrong() -> None:
    def talk(spoken: Spoken) -> None:
        spoken._connection.sendall(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")

    with serving(talk) as session:
        with pytest.raises(httpx2.ReadError, match="control frame"):
            execute(session, PLACE, ["x"], stdin=b"", timeout=10.0)
        stream = PodStream(session, PLACE, ["x"], timeout=10.0)
        assert "control frame" in ended(stream)
        stream.close()


def test_a_ping_is_answered_while_a_command_goes_on() -> None:
    def talk(spoken: Spoken) -> None:
        spoken.say(Ping(b"there?"))
        spoken.until_answered()
        spoken.say(BytesMessage(b"\x01out"), SUCCESS)

    with serving(talk) as session:
        assert execute(session, PLACE, ["x"], stdin=b"", timeout=10.0) == Completed(0, "out", "")


def test_a_command_that_never_stops_to_write_ends_with_its_time() -> None:
    def talk(spoken: Spoken) -> None:
        with suppress(OSError):  # its other end is closed
            while True:
                spoken.say(BytesMessage(b"\x01" + b"y" * 60_000))

    with serving(talk) as session, pytest.raises(TimeoutError):
        execute(session, PLACE, ["yes"], stdin=b"", timeout=0.3)


def test_how_a_command_ended_that_was_told_in_part_is_not_known() -> None:
    with (
        serving(lambda spoken: spoken.say(BytesMessage(b'\x03{"status": "Succ'))) as session,
        pytest.raises(httpx2.ReadError, match="ended before the command had"),
    ):
        execute(session, PLACE, ["x"], stdin=b"", timeout=10.0)


# As a channel.


@pytest.mark.parametrize(
    ("code", "told", "raised"),
    [
        (404, "pods `agent-1` not found", GoneError),
        (400, "cannot exec in a completed pod; current phase is Succeeded", GoneError),
        (500, "container not found", ChannelError),
    ],
)
def test_a_channel_tells_a_pod_that_is_gone_from_a_way_that_is_broken(
    code: int, told: str, raised: type[ChannelError]
) -> None:
    with serving(None, code, told) as session:
        channel = PodChannel(session, PLACE)
        for use in (lambda: channel.open(["x"]), lambda: channel.run(["x"], timeout=5.0)):
            with pytest.raises(ChannelError, match=told.partition(";")[0]) as broken:
                use()
            assert type(broken.value) is raised


def test_a_channel_runs_commands() -> None:
    with serving(lambda spoken: spoken.say(BytesMessage(b"\x01out"), SUCCESS)) as session:
        assert PodChannel(session, PLACE).run(["x"], timeout=5.0) == Completed(0, "out", "")
    failed = BytesMessage(b"\x03" + json.dumps({"message": "no such program"}).encode())
    with (
        serving(lambda spoken: spoken.say(failed)) as session,
        pytest.raises(ChannelError, match="no such program"),
    ):
        PodChannel(session, PLACE).run(["x"], timeout=5.0)
    waiting = threading.Event()
    with serving(silent(waiting)) as session:
        with pytest.raises(ChannelError, match=r"`x y` did not end within 0\.2 s"):
            PodChannel(session, PLACE).run(["x", "y"], timeout=0.2)
        waiting.set()


def test_an_api_that_is_away_breaks_the_way() -> None:
    with httpx2.Client(base_url="http://127.0.0.1:1", trust_env=False) as session:
        with pytest.raises(ChannelError):
            PodChannel(session, PLACE).open(["x"])
        with pytest.raises(ChannelError):
            PodChannel(session, PLACE).run(["x"], timeout=1.0)
