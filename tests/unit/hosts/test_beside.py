"""A study of fakes and one that measures know of each other, whoever started them."""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dunnage.hosts.beside import Kind, announced, disturbed

OTHER = """
import sys
from dunnage.hosts.beside import Kind, announced
with announced(sys.argv[1], Kind[sys.argv[2]]):
    print("running", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def name() -> str:
    """A study that no other test has."""
    return f"study-{secrets.token_hex(8)}"


@contextmanager
def running(name: str, kind: Kind) -> Iterator[None]:
    command = [sys.executable, "-c", OTHER, name, kind.name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == b"running\n"
        yield
        process.stdin.close()


def told(name: str, own: Kind) -> list[str]:
    return [line for line in disturbed(own) if f"`{name}`" in line]


MEASURED, EACH = "may disturb this measurement", "each may disturb the other"


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Kind.FAKE, {Kind.ALONE: MEASURED, Kind.UNLOCKED: MEASURED}),
        (Kind.ALONE, {Kind.FAKE: "may disturb it", Kind.UNLOCKED: EACH}),
        (Kind.UNLOCKED, {Kind.FAKE: "may disturb it", Kind.ALONE: EACH, Kind.UNLOCKED: EACH}),
    ],
)
def test_each_is_told_of_the_other_as_long_as_that_runs(
    name: str, kind: Kind, says: dict[Kind, str]
) -> None:
    with running(name, kind):
        found = {own: told(name, own) for own in Kind}
    assert {own: len(lines) for own, lines in found.items() if lines} == dict.fromkeys(says, 1)
    assert all(found[own][0].endswith(end) for own, end in says.items())
    assert [told(name, own) for own in Kind] == [[]] * len(Kind)


def test_nobody_is_told_of_itself(name: str) -> None:
    with announced(name, Kind.FAKE):
        assert told(name, Kind.ALONE) == []
