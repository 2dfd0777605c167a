"""A program: asks a Cassandra as one of its users, over TLS, by version 4 of its protocol.

Standard input is a JSON object: `host`, `authority` (a file with the certificate to trust), `user`,
`password`, and `statements`. Prints a list of the rows of each answer; a value is its text.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import sys
from typing import Any

_PORT = 9042
_ERROR, _STARTUP, _QUERY, _RESULT, _AUTH_RESPONSE = 0x00, 0x01, 0x07, 0x08, 0x0F
_ROWS, _ONE_TABLE, _ONE = 2, 1, 1


class Bytes:
    """What is left of the body of an answer."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def take(self, length: int) -> bytes:
        taken, self.content = self.content[:length], self.content[length:]
        return taken

    def short(self) -> int:
        (number,) = struct.unpack(">H", self.take(2))
        return int(number)

    def int(self) -> int:
        (number,) = struct.unpack(">i", self.take(4))
        return int(number)

    def text(self) -> str:
        return self.take(self.short()).decode()


class Link:
    """A connection over TLS."""

    def __init__(self, host: str, authority: str) -> None:
        context = ssl.create_default_context(cafile=authority)
        stream = socket.create_connection((host, _PORT), timeout=60)
        self.stream = context.wrap_socket(stream, server_hostname=host)
        self.file = self.stream.makefile("rb")

    def ask(self, kind: int, body: bytes) -> tuple[int, Bytes]:
        """What is answered to a request. Exits with the words of an error."""
        self.stream.sendall(struct.pack(">BBhBI", 4, 0, 0, kind, len(body)) + body)
        *_, answered, length = struct.unpack(">BBhBI", self.file.read(9))
        answer = Bytes(self.file.read(length))
        if answered == _ERROR:
            answer.int()
            sys.exit(answer.text())
        return answered, answer

    def log_in(self, user: str, password: str) -> None:
        version = _text("CQL_VERSION") + _text("3.0.0")
        self.ask(_STARTUP, struct.pack(">H", 1) + version)
        token = f"\0{user}\0{password}".encode()
        self.ask(_AUTH_RESPONSE, struct.pack(">i", len(token)) + token)

    def rows(self, statement: str) -> list[list[str]]:
        text = statement.encode()
        answered, answer = self.ask(
            _QUERY, struct.pack(">i", len(text)) + text + struct.pack(">HB", _ONE, 0)
        )
        if answered != _RESULT or answer.int() != _ROWS:
            return []
        one_table, columns = answer.int() & _ONE_TABLE, answer.int()
        for _ in range(2 if one_table else 0):
            answer.text()
        for _ in range(columns):
            for _ in range(1 if one_table else 3):
                answer.text()
            answer.short()  # its type, which is one without parts
        return [
            [answer.take(answer.int()).decode() for _ in range(columns)]
            for _ in range(answer.int())
        ]


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def main(asked: dict[str, Any]) -> None:
    link = Link(asked["host"], asked["authority"])
    link.log_in(asked["user"], asked["password"])
    json.dump([link.rows(statement) for statement in asked["statements"]], sys.stdout)


if __name__ == "__main__":
    main(json.load(sys.stdin))
