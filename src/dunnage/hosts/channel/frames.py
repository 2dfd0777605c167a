"""Messages of a conversation with an agent, as bytes; `crates/wire/src/agent.rs` says what they
mean (`engine-ask` and `engine-said` schemas)."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any

VERSION = 1
"""Of the conversation. 1: first."""
_LENGTHS = struct.Struct(">II")
"""Of the header and of the bytes that follow it."""
Message = tuple[dict[str, Any], bytes]
"""A header and its bytes."""


def framed(header: Mapping[str, Any], content: bytes = b"") -> bytes:
    """A message as it is sent."""
    text = json.dumps(header).encode()
    return _LENGTHS.pack(len(text), len(content)) + text + content


class Frames:
    """What has come so far, and the whole messages in it."""

    def __init__(self) -> None:
        self._come = bytearray()

    def take(self, data: bytes) -> Iterator[Message]:
        """All messages that are whole with what has come now."""
        self._come += data
        while len(self._come) >= _LENGTHS.size:
            header, content = _LENGTHS.unpack_from(self._come)
            middle, end = _LENGTHS.size + header, _LENGTHS.size + header + content
            if len(self._come) < end:
                return
            told = json.loads(self._come[_LENGTHS.size : middle])
            kept = bytes(self._come[middle:end])
            del self._come[:end]
            yield told, kept
