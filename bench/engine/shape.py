"""What a record is, and the commands that read and write it: the same for every client.

Records are called `user` and twelve digits: so can YCSB's rules, redis-benchmark and a floor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

DIGITS = 12
NUMBER = "__rand_int__"
"""Stands for the number of a record, and is as long as it: redis-benchmark's own word."""
KEY = f"user{NUMBER}"
RECORDS = 10_000
"""As many are in the database; each command is for one of them, all equally likely."""
FIELDS, FIELD_BYTES = 10, 100
_FIELDS = [f"field{number}" for number in range(FIELDS)]
_VALUE = "x" * FIELD_BYTES


@dataclass(frozen=True)
class Shape:
    """How a record of 1 KB lies in Redis."""

    title: str
    read: Sequence[str]
    """Words of the command that reads all of a record."""
    write: Sequence[str]
    """Words of the command that writes all of a record that is there."""
    found: bytes
    """What the server answers to a read."""
    written: bytes
    """What it answers to a write."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The engine's options of the target."""


def word(text: str) -> bytes:
    """One string of the protocol."""
    return f"${len(text)}\r\n{text}\r\n".encode()


def array(texts: Sequence[str]) -> bytes:
    """An array of strings of the protocol, which is what a request is too."""
    return f"*{len(texts)}\r\n".encode() + b"".join(map(word, texts))


_CONTENT = [each for name in _FIELDS for each in (name, _VALUE)]
HASH = Shape(
    title="a hash of ten fields of 100 bytes, as YCSB keeps it",
    read=("HGETALL", KEY),
    write=("HSET", KEY, *_CONTENT),
    found=array(_CONTENT),
    written=b":0\r\n",
)
_STRING = "x" * FIELDS * FIELD_BYTES
STRINGS = Shape(
    title="a plain string of 1000 bytes",
    read=("GET", KEY),
    write=("SET", KEY, _STRING),
    found=word(_STRING),
    written=b"+OK\r\n",
    options={"shape": "string"},
)

SHAPE = STRINGS
"""What is compared. The one switch: `HASH` compares records as YCSB keeps them."""


def compared(shape: Shape) -> str:
    """One sentence for a reader: what all clients read and wrote."""
    return (
        f"Each of {RECORDS:,} records is {shape.title}: read by `{shape.read[0]}`, written whole "
        f"by `{shape.write[0]}`, all records equally likely."
    )
