"""What one client did, by the kernel's account of its process, and clients that take turns."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import tempfile
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

LIMIT = 300.0
"""Seconds after which a client is killed."""


@dataclass(frozen=True)
class Shot:
    """What one client did: `operations` in `seconds`, and the CPU seconds of its process, user and
    system, from its start to its end."""

    operations: int
    seconds: float
    cpu: float

    @property
    def cpu_per_operation(self) -> float:
        """In seconds."""
        return self.cpu / self.operations

    @property
    def throughput(self) -> float:
        """Operations per second."""
        return self.operations / self.seconds


@dataclass(frozen=True)
class Ran:
    """A program that ended well: its standard output, and its CPU seconds, user and system."""

    said: str
    cpu: float


@dataclass(frozen=True)
class Processors:
    """Numbers of the processors that the server and the clients have, one each."""

    server: int
    client: int


def processors() -> Processors:
    """The first and the last that this process may use: least likely two threads of one core.

    Raises SystemExit when there is only one.
    """
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) == 1:
        raise SystemExit("server and client need a processor each, but only one may be used here")
    return Processors(usable[0], usable[-1])


def started(
    argv: Sequence[str],
    processor: int,
    *,
    stdin: IO[bytes] | int = subprocess.DEVNULL,
    stdout: IO[bytes] | int = subprocess.DEVNULL,
    stderr: IO[bytes] | int | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program on one processor.

    Raises SystemExit when the program is not there, or the kernel says that it runs elsewhere.
    """
    with _on(processor):
        try:
            process = subprocess.Popen(argv, stdin=stdin, stdout=stdout, stderr=stderr)
        except OSError as error:
            raise SystemExit(f"{_named(argv)}: {error.strerror}") from None
    if (found := os.sched_getaffinity(process.pid)) != {processor}:
        process.kill()
        process.wait()
        raise SystemExit(f"{_named(argv)}: it runs on {sorted(found)}, not on {processor} alone")
    return process


def ran(argv: Sequence[str], processor: int, stdin: bytes = b"", limit: float = LIMIT) -> Ran:
    """Run a client to its end on one processor.

    Raises SystemExit when it fails, or has not ended after `limit` seconds.
    """
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as said,
        tempfile.TemporaryFile() as complained,
    ):
        given.write(stdin)
        given.seek(0)
        process = started(argv, processor, stdin=given, stdout=said, stderr=complained)
        late = threading.Event()

        def end() -> None:
            late.set()
            os.kill(process.pid, signal.SIGKILL)

        alarm = threading.Timer(limit, end)
        alarm.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            alarm.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if late.is_set():
            raise SystemExit(f"{_named(argv)}: it had not ended after {limit:g} s")
        if process.returncode != 0:
            raise SystemExit(f"{_named(argv)}: {_last_words(complained, process.returncode)}")
        said.seek(0)
        return Ran(said.read().decode(), usage.ru_utime + usage.ru_stime)


def told(done: Ran) -> Shot:
    """The shot of a client that tells its `operations` and `seconds` as one object of JSON."""
    numbers = json.loads(done.said)
    return Shot(numbers["operations"], numbers["seconds"], done.cpu)


def in_turns(clients: Mapping[str, Callable[[], Shot]], pairs: int) -> Mapping[str, Sequence[Shot]]:
    """`pairs` shots of each client: all right after one another, in an order that alternates, so
    that what the machine does besides falls on all of them."""
    taken: dict[str, list[Shot]] = {name: [] for name in clients}
    for number in range(pairs):
        order = list(clients)
        for name in reversed(order) if number % 2 else order:
            taken[name].append(clients[name]())
    return taken


@contextmanager
def _on(processor: int) -> Iterator[None]:
    """What is started meanwhile inherits this processor, and no other."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _named(argv: Sequence[str]) -> str:
    return f"`{textwrap.shorten(shlex.join(argv), 200, placeholder=' …')}`"


def _last_words(complained: IO[bytes], code: int) -> str:
    complained.seek(0)
    lines = complained.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"exit code {code}"
