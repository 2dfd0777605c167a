"""A Redis for one comparison: pinned, on a loopback of its own, and its own account of commands."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dunnage.model.layout import Software
from dunnage.software.trees import DebianSoftware

from .asked import Place
from .own_server import own_server
from .shots import Processors

PORT = 6379
LIMIT = 20.0
"""Seconds within which it must answer."""


@dataclass(frozen=True)
class RedisServer:
    """One that answers."""

    place: Place
    inside: Sequence[str]
    """The words before a program of its own tree, which is seen only where it runs."""
    programs: str
    """Their directory there."""

    def cli(self, *words: str) -> str:
        """What redis-cli prints. Raises SystemExit when it fails or the server tells an error."""
        done = self._cli(*words)
        if done.returncode != 0 or done.stdout.startswith("ERR"):
            raise SystemExit(f"redis-cli {' '.join(words)}: {done.stdout or done.stderr}".strip())
        return done.stdout.strip()

    def answers(self) -> bool:
        """Whether it does."""
        return self._cli("PING").stdout.strip() == "PONG"

    def version(self) -> str:
        """As in `7.0.15`."""
        return version(self.cli("INFO", "server"))

    def forget(self) -> None:
        """Count commands from zero."""
        self.cli("CONFIG", "RESETSTAT")

    def succeeded(self, command: str) -> int:
        """How many commands of one name it carried out since then, without error."""
        return succeeded(self.cli("INFO", "commandstats"), command)

    def _cli(self, *words: str) -> subprocess.CompletedProcess[str]:
        argv = [*self.inside, f"{self.programs}/redis-cli", "-p", str(self.place.port), *words]
        return subprocess.run(argv, capture_output=True, text=True, check=False)


@contextmanager
def redis_server(version: str, processors: Processors, scratch: Path) -> Iterator[RedisServer]:
    """A server without persistence; it ends with this block, and with this process.

    Raises SystemExit when it does not start.
    """
    tree = DebianSoftware().tree(Software("redis", version))
    programs = f"{tree.prefix}/bin"
    argv = (f"{programs}/redis-server", "--port", str(PORT), "--save", "", "--appendonly", "no")
    with own_server(tree, argv, PORT, processors, scratch / "server.log") as own:
        server = RedisServer(own.place, own.inside, programs)
        own.until(server.answers, LIMIT)
        yield server


def version(info: str) -> str:
    """Of what `INFO server` answered. Raises SystemExit when it names none."""
    named = re.search(r"^redis_version:(\S+)", info, re.MULTILINE)
    if named is None:
        raise SystemExit("the server does not tell its version")
    return named[1]


def succeeded(info: str, command: str) -> int:
    """Commands of one name that ended without error, by what `INFO commandstats` answered."""
    row = re.search(rf"^cmdstat_{command.lower()}:(.*)$", info, re.MULTILINE)
    if row is None:
        return 0
    numbers = dict(pair.split("=", 1) for pair in row[1].strip().split(","))
    return int(numbers["calls"]) - int(numbers["failed_calls"])
