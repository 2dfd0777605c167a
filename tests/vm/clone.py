"""A fresh clone in the machine, and what its commands say."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from debian_image import image
from emulated_machine import Done, Machine, booted
from handed_in import CHECKOUT, hand_in, taking

from dunnage.errors import ExitCode

_PYTEST = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
_ERRORS = "/run/errors"
_LAST_LINES = 200


@dataclass(frozen=True)
class Clone:
    """The clone, where the machine has it."""

    machine: Machine

    def run(self, *words: str, minutes: float = 30, errors: str = "&1") -> Done:
        """What a command of its virtual environment says; errors may go to a file of their own."""
        command = shlex.join((f"{CHECKOUT}/.venv/bin/{words[0]}", *words[1:]))
        return self.machine.run(f"cd {CHECKOUT} && exec {command} 2>{errors}", minutes)

    def answer(self, *words: str, minutes: float = 30) -> Any:
        """What `dunnage` answers as a program reads it, be it trustworthy or not."""
        typed = ("dunnage", *words, "--format", "json")
        done = self.run(*typed, minutes=minutes, errors=_ERRORS)
        may = (ExitCode.OK, ExitCode.UNTRUSTWORTHY, ExitCode.UNAVAILABLE)
        assert done.code in may, self.machine.run(f"cat {_ERRORS}", 5).said
        return json.loads(done.said)

    def lacks(self) -> dict[str, str]:
        """Each capability that its doctor misses, with the command that is to help."""
        found = self.answer("doctor")["capabilities"]
        return {name: str(each["hint"]) for name, each in found.items() if not each["met"]}

    def tested(self, file: str, marks: str, minutes: float) -> str:
        """The last line of tests that all pass in there; fails with what they said otherwise."""
        done = self.run(*_PYTEST, "-m", marks, file, minutes=minutes)
        lines = done.said.splitlines()
        assert done.code == 0, "\n".join(lines[-_LAST_LINES:])
        assert "passed" in lines[-1] and "skipped" not in lines[-1], "\n".join(lines[-_LAST_LINES:])
        return lines[-1]


@contextmanager
def cloned(place: Path, prefixes: Iterable[str]) -> Iterator[Clone]:
    """A machine with a fresh clone, and with what is cached here of the requests that begin so.

    `place` is a directory for its disk and its console.
    """
    disk = hand_in(place, prefixes)
    try:
        with booted(image(), disk, place) as machine:
            taken = machine.run(taking(), 30)
            assert taken.code == 0, taken.said
            yield Clone(machine)
    finally:
        disk.unlink()
