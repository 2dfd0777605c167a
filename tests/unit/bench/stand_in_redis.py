"""A server on loopback that answers every request of one length alike, and looks at each."""

from __future__ import annotations

import select
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar


class StandInRedis(socketserver.ThreadingTCPServer):
    """What came, and on how many connections."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, request_bytes: int, pieces: tuple[bytes, ...]) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.request_bytes = request_bytes
        self.pieces = pieces
        """Sent one after another, which is one answer; without any the connection is closed."""
        self.came: list[bytes] = []
        self.connections = 0
        self.more_in_flight = 0
        """Requests after which another one was there before the answer."""
        self.lock = threading.Lock()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])


class _Connection(socketserver.BaseRequestHandler):
    server: StandInRedis
    request: socket.socket
    timeout: ClassVar[float] = 20.0

    def handle(self) -> None:
        self.request.settimeout(self.timeout)
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.server.lock:
            self.server.connections += 1
        while came := self._received():
            with self.server.lock:
                self.server.came.append(came)
                self.server.more_in_flight += self._has_more()
            if not self.server.pieces:
                return
            for piece in self.server.pieces:
                self.request.sendall(piece)

    def _received(self) -> bytes:
        """One request; empty when the client has closed."""
        content = b""
        while len(content) < self.server.request_bytes:
            came = self.request.recv(self.server.request_bytes - len(content))
            if not came:
                return b""
            content += came
        return content

    def _has_more(self) -> bool:
        readable, _, _ = select.select([self.request], [], [], 0)
        return bool(readable)


@contextmanager
def answering(request_bytes: int, *pieces: bytes) -> Iterator[StandInRedis]:
    """One that answers until the block ends."""
    with StandInRedis(request_bytes, pieces) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
