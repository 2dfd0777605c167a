"""What the journal says of a file, and what a crash may have left of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dunnage.store.checksums import checksum, listed
from dunnage.store.events import KEPT, OPENED

OLD, NEW = checksum(b"old"), checksum(b"newer")
OPEN: Mapping[str, Any] = {"event": OPENED}


def kept(path: str, content: bytes) -> Mapping[str, Any]:
    return {"event": KEPT, "files": {path: checksum(content)._asdict()}}


FACTS = "environment.json"


@pytest.mark.parametrize(
    ("events", "right"),
    [
        ((kept(FACTS, b"old"), OPEN), [OLD]),
        ((kept(FACTS, b"old"),), [None, OLD]),
        ((kept(FACTS, b"old"), kept(FACTS, b"newer"), OPEN), [NEW]),
        ((kept(FACTS, b"old"), OPEN, kept(FACTS, b"newer")), [OLD, NEW]),
        ((kept(FACTS, b"old"), kept(FACTS, b"newer")), [None, OLD, NEW]),
    ],
    ids=["written", "crashed", "written after a crash", "crashed when it went on", "crashed twice"],
)
def test_a_file_may_be_what_a_crash_left(events: tuple[Any, ...], right: list[Any]) -> None:
    assert listed(events)[FACTS] == right


def test_a_file_that_a_crash_prevented_may_be_missing_once_the_study_went_on() -> None:
    events = (kept("losses.json", b"old"), kept(FACTS, b"old"), OPEN)
    assert listed(events) == {"losses.json": [None, OLD], FACTS: [OLD]}
