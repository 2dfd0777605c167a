"""Commands in a stay's pods, against a server that is played."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest
from played_api import Api, asked, opened, refused, status
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Ping

from dunnage.clusters.execute import CannotRunError
from dunnage.contracts.host import Completed
from dunnage.errors import RunError, StayError
from dunnage.platforms.execute import NOT_RUN
from dunnage.platforms.kubernetes import namespace
from dunnage.platforms.kubernetes.namespace import Namespace

# Commands: a server that switches to frames, as an API server does.


@contextmanager
def exec_server(
    frames: list[Event] | None, refusal: httpx2.Response | None = None
) -> Iterator[tuple[str, list[bytes]]]:
    """Where it listens, and the messages that it was sent."""
    heard: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if refusal is not None:
                self.send_response(refusal.status_code)
                for name in ("Content-Length", "Content-Type"):
                    self.send_header(name, refusal.headers[name])
                self.end_headers()
                self.wfile.write(refusal.content)
                return
            self.send_response_only(101)
            self.send_header("Connection", "Upgrade")
            self.send_header("Upgrade", "websocket")
            self.end_headers()
            self.close_connection = True
            talk = Connection(ConnectionType.SERVER)
            if "stdin=true" in self.path:
                while b"\xff\x00" not in heard:
                    talk.receive_data(self.connection.recv(65536))
                    heard.extend(
                        bytes(event.data)
                        for event in talk.events()
                        if isinstance(event, BytesMessage)
                    )
            if frames is None:
                self.connection.recv(1)
                return
            for each in frames:
                self.wfile.write(talk.send(each))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


SUCCESS = BytesMessage(b"\x03" + json.dumps({"status": "Success"}).encode())


def test_a_commands_outputs_are_put_together_from_their_messages() -> None:
    frames: list[Event] = [
        BytesMessage(b"\x01PO"),
        Ping(b"there?"),
        BytesMessage(b"\x02wa", message_finished=False),
        BytesMessage(b"rn", message_finished=True),
        BytesMessage(b"\x01NG\n"),
        BytesMessage(b""),
        SUCCESS,
    ]
    with exec_server(frames) as (url, _):
        assert asked(url) == Completed(0, "PONG\n", "warn")


def test_a_command_is_sent_its_input_and_the_end_of_it() -> None:
    with exec_server([SUCCESS]) as (url, heard):
        assert asked(url, stdin="hello") == Completed(0, "", "")
        assert heard == [b"\x00hello", b"\xff\x00"]


def test_a_command_that_takes_too_long_is_given_up() -> None:
    with exec_server(None) as (url, _), pytest.raises(TimeoutError):
        asked(url, timeout=0.2)
    with exec_server(None) as (url, _), pytest.raises(TimeoutError):
        asked(url, timeout=0.0001)


@pytest.mark.parametrize("frames", [[], [CloseConnection(code=1000)]])
def test_a_connection_that_ends_before_the_command_is_no_success(frames: list[Event]) -> None:
    with exec_server(frames) as (url, _), pytest.raises(httpx2.ReadError, match="ended before"):
        asked(url)


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (status(403, "pods is forbidden"), "^pods is forbidden$"),
        (httpx2.Response(503, text="not yet\n"), "^HTTP status 503: not yet$"),
    ],
)
def test_a_command_that_is_refused_is_told_in_the_clusters_words(
    refusal: httpx2.Response, told: str
) -> None:
    with (
        exec_server([], refusal) as (url, _),
        pytest.raises(httpx2.HTTPStatusError, match=told),
    ):
        asked(url)


@pytest.mark.parametrize(
    ("error", "raises"),
    [
        (TimeoutError(), RunError),
        (httpx2.ReadError("cut"), RunError),
        (refused(503), RunError),
        (refused(403), StayError),
    ],
)
def test_a_namespace_tells_how_a_command_failed(
    monkeypatch: pytest.MonkeyPatch, error: Exception, raises: type[Exception]
) -> None:
    def failing(*_: object, **__: object) -> Completed:
        raise error

    monkeypatch.setattr(namespace, "execute", failing)
    with pytest.raises(raises):
        run_in(opened(Api()))


def test_what_a_container_cannot_run_has_a_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> Completed:
        raise CannotRunError("no such file")

    monkeypatch.setattr(namespace, "execute", failing)
    assert run_in(opened(Api())) == Completed(NOT_RUN, "", "no such file")


def run_in(own: Namespace) -> Completed:
    return own.execute("p", "member", ["x"], stdin=b"", timeout=1.0, where="redis-1")
