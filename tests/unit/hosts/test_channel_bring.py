"""How the engine comes to a host that is reached by a channel."""

from __future__ import annotations

from typing import Any

import pytest

from dunnage.contracts.host import Completed
from dunnage.hosts.channel.bring import bring
from dunnage.hosts.channel.channel import ChannelError, Stream

# How the engine comes there.


class Written:
    """A channel whose commands are carried out here."""

    def __init__(self, code: int = 0, stderr: str = "") -> None:
        self.answer = Completed(code, "", stderr)
        self.given: list[tuple[Any, bytes]] = []

    def run(self, argv: Any, *, stdin: bytes = b"", timeout: float) -> Completed:
        self.given.append((argv, stdin))
        return self.answer

    def open(self, argv: Any) -> Stream:
        raise AssertionError("nobody speaks yet")


def test_a_program_is_brought_whole_or_the_reason_is_told() -> None:
    channel = Written()
    bring(channel, b"program", "/there/engine")
    ((argv, given),) = channel.given
    assert argv[:2] == ["sh", "-c"]
    assert "/there/engine.part" in argv[2]
    assert given == b"program"
    for failed, why in ((Written(1, "no space"), "no space"), (Written(127), "exit code 127")):
        with pytest.raises(ChannelError, match=f"cannot be brought there: {why}"):
            bring(failed, b"program", "/there/engine")
