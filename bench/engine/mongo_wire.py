"""Asks a MongoDB of this loopback, with nothing but what Python has, so that what the engine wrote
is seen by other code than its own.

    python mongo_wire.py PORT '{"find": "usertable", "$db": "ycsb"}'

prints the answer as JSON: bytes and identifiers as hexadecimal text.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
from collections.abc import Iterator
from typing import Any

_OP_MSG = 2013
_SECONDS = 5.0
_FIXED = {0x01: "<d", 0x08: "<?", 0x09: "<q", 0x10: "<i", 0x11: "<Q", 0x12: "<q"}
_OBJECT_ID = 12


def ask(port: int, command: dict[str, Any]) -> dict[str, Any]:
    """The answer to one command; its name comes first, and it names its database."""
    body = struct.pack("<iB", 0, 0) + _document(command)
    head = struct.pack("<iiii", 16 + len(body), 1, 0, _OP_MSG)
    with socket.create_connection(("127.0.0.1", port), _SECONDS) as connection:
        connection.sendall(head + body)
        answer = connection.makefile("rb")
        (length, _, answered, kind) = struct.unpack("<iiii", answer.read(16))
        if (answered, kind) != (1, _OP_MSG):
            raise ValueError(f"the answer is of kind {kind}, to request {answered}")
        return dict(_elements(answer.read(length - 16)[5:]))


def _document(content: dict[str, Any]) -> bytes:
    elements = b"".join(_element(name, value) for name, value in content.items())
    return struct.pack("<i", len(elements) + 5) + elements + b"\0"


def _element(name: str, value: Any) -> bytes:
    match value:
        case bool():
            kind, told = 0x08, struct.pack("<?", value)
        case int():
            kind, told = 0x10, struct.pack("<i", value)
        case str():
            text = value.encode() + b"\0"
            kind, told = 0x02, struct.pack("<i", len(text)) + text
        case dict():
            kind, told = 0x03, _document(value)
        case list():
            numbered = {str(number): each for number, each in enumerate(value)}
            kind, told = 0x04, _document(numbered)
        case _:
            raise TypeError(f"{value!r} cannot be asked for")
    return bytes([kind]) + name.encode() + b"\0" + told


def _elements(document: bytes) -> Iterator[tuple[str, Any]]:
    """Names and values of a document, which is all of the bytes."""
    (length,) = struct.unpack_from("<i", document)
    if length != len(document):
        raise ValueError(f"a document of {length} bytes came with {len(document)}")
    at = 4
    while document[at]:
        kind, end = document[at], document.index(0, at)
        name = document[at + 1 : end].decode()
        at = end + 1
        (length,) = struct.unpack_from("<i", document[at : at + 4].ljust(4, b"\0"))
        if kind in _FIXED:
            (value,) = struct.unpack_from(_FIXED[kind], document, at)
            at += struct.calcsize(_FIXED[kind])
        elif kind == 0x02:
            value = document[at + 4 : at + 3 + length].decode()
            at += 4 + length
        elif kind in (0x03, 0x04):
            inner = dict(_elements(document[at : at + length]))
            value = inner if kind == 0x03 else list(inner.values())
            at += length
        elif kind == 0x05:
            if document[at + 4] != 0:
                raise ValueError(f"binary data of subtype {document[at + 4]}")
            value = document[at + 5 : at + 5 + length].hex()
            at += 5 + length
        elif kind == 0x07:
            value = document[at : at + _OBJECT_ID].hex()
            at += _OBJECT_ID
        elif kind == 0x0A:
            value = None
        else:
            raise ValueError(f"elements of the kind {kind} are not known here")
        yield name, value


if __name__ == "__main__":
    sys.stdout.write(json.dumps(ask(int(sys.argv[1]), json.loads(sys.argv[2]))))
