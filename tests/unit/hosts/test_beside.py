"""A study of fakes and one that measures know of each other, whoever started them."""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dunnage.hosts.beside import announced, disturbed

OTHER = """
import sys
from dunnage.hosts.beside import announced
with announced(sys.argv[1], fake=sys.argv[2] == "fake"):
    print("running", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def name() -> str:
    """A study that no other test has."""
    return f"study-{secrets.token_hex(8)}"


@contextmanager
def running(name: str, kind: str) -> Iterator[None]:
    command = [sys.executable, "-c", OTHER, name, kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == b"running\n"
        yield
        process.stdin.close()


def told(name: str, *, fake: bool) -> list[str]:
    return [line for line in disturbed(fake=fake) if f"`{name}`" in line]


@pytest.mark.parametrize(
    ("kind", "fake", "says"),
    [("fake", False, "may disturb this measurement"), ("real", True, "may disturb it")],
)
def test_each_is_told_of_the_other_as_long_as_that_runs(
    name: str, kind: str, fake: bool, says: str
) -> None:
    with running(name, kind):
        (line,) = told(name, fake=fake)
        assert line.endswith(says)
        assert told(name, fake=not fake) == []
    assert told(name, fake=fake) == []


def test_nobody_is_told_of_itself(name: str) -> None:
    with announced(name, fake=True):
        assert told(name, fake=False) == []
