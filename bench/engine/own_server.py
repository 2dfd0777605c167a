"""A server for one comparison: on one processor, on a loopback of its own, with its own tree."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dunnage.contracts.software import Tree

from .asked import Place
from .shots import Processors, started

_HOME = """
mount -t tmpfs tmpfs /run && mkdir -p "$2" && mount --bind "$1" "$2" && ip link set lo up &&
shift 2 && exec "$@"
"""


@dataclass(frozen=True)
class OwnServer:
    """One that was started."""

    name: str
    place: Place
    inside: Sequence[str]
    """The words before a program of its own tree, which is seen only where it runs."""
    process: subprocess.Popen[bytes]
    said: Path
    """What it writes."""

    def until(self, ready: Callable[[], bool], limit: float) -> None:
        """Wait until it is ready. Raises SystemExit with its last words when it has ended, or is
        not ready after `limit` seconds."""
        deadline = time.monotonic() + limit
        while not ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                last = self.said.read_text(errors="replace").strip().splitlines()[-1:]
                raise SystemExit(f"{self.name} does not answer: {' '.join(last)}")
            time.sleep(0.05)


@contextmanager
def own_server(
    tree: Tree, argv: Sequence[str], port: int, processors: Processors, said: Path
) -> Iterator[OwnServer]:
    """One that ends with this block, and with this process. The last part of its program's path is
    its name.

    Raises SystemExit when there is no such program.
    """
    whole = [
        *("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--net"),
        *("sh", "-c", _HOME, "home", str(tree.source), tree.prefix, *argv),
    ]
    with said.open("wb") as log:
        process = started(whole, processors.server, stdout=log, stderr=subprocess.STDOUT)
    try:
        enter = ("nsenter", "-t", str(process.pid), "-n")
        place = Place(port, processors.client, enter)
        yield OwnServer(Path(argv[0]).name, place, (*enter, "-m"), process, said)
    finally:
        process.terminate()
        process.wait()
