"""The engine beside its peers and bare floors in C, on one server in turns: ratios of CPU.

The server has one processor and the clients have another. CPU is user and system time of all of a
client's process. Clients are told the same commands and carry them out right after one another, in
an order that alternates. Only ratios within a pair mean something; the table shows their medians.
"""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from dunnage.hosts.machine_facts import machine_facts
from dunnage.software.engine import engine_path

from . import floors, redis
from .redis import Bench
from .shots import processors
from .table import Section, markdown

DATABASES: Mapping[str, Callable[[Bench, int, int], Section]] = {"redis": redis.section}
"""What the engine drives, as far as it is compared."""


def main() -> None:
    """Print what was compared, and a table for each database."""
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description=__doc__)
    parser.add_argument("--pairs", type=int, default=5, help="more pairs, steadier medians")
    parser.add_argument("--only", choices=DATABASES, help="one database; else all")
    parser.add_argument("--operations", type=int, default=204_800, help="of each client in a pair")
    arguments = parser.parse_args()
    if arguments.pairs < 1:
        parser.error("--pairs: 1 or more")
    if arguments.operations < 1 or arguments.operations % redis.MANY:
        parser.error(
            f"--operations: a multiple of {redis.MANY}, so that each connection has a share"
        )
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(engine_path(), processors(), Path(scratch), os.environ, _tell)
        _write(_heading(bench, arguments.pairs, arguments.operations))
        for name in DATABASES:
            if arguments.only in (None, name):
                section = DATABASES[name](bench, arguments.pairs, arguments.operations)
                _write(markdown(section))


def _heading(bench: Bench, pairs: int, operations: int) -> str:
    """What the numbers were measured with."""
    version = subprocess.run(
        [bench.engine, "--version"], capture_output=True, text=True, check=True
    )
    machine = machine_facts()
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return "\n".join(
        [
            "# The engine beside its peers",
            "",
            f"- {today}, {machine['cpu.count']} processors of {machine['cpu.model']}, "
            f"Linux {machine['kernel']}",
            f"- server on processor {bench.processors.server}, clients on processor "
            f"{bench.processors.client}",
            f"- {version.stdout.strip()}; bare loops by {floors.compiler()}",
            f"- turns of each client: {pairs}, of {operations:,} operations; shown are medians, "
            "and the lowest and the highest in brackets",
            "",
        ]
    )


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    main()
