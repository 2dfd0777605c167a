"""Bare clients in C, built where they are needed: what a client costs at the least."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from .asked import Asked, Kind, Place
from .shape import RECORDS, Shape, array
from .shots import Shot, ran, told

SOURCES = Path(__file__).parents[1] / "floor"
COMPILER = ("cc", "-O2", "-Wall", "-Wextra", "-Werror")


def compiler() -> str:
    """The compiler by its own words. Raises SystemExit when there is none."""
    return _compiled(("--version",)).splitlines()[0]


def built(name: str, directory: Path) -> Path:
    """Compile `floor/NAME.c` into a directory. Raises SystemExit when that fails."""
    program = directory / name
    _compiled(("-o", str(program), str(SOURCES / f"{name}.c")))
    return program


def shot(program: Path, place: Place, asked: Asked, shape: Shape) -> Shot:
    """One run of a floor."""
    reads = asked.kind is Kind.READ
    answer = shape.found if reads else shape.written
    numbers = (place.port, asked.operations, RECORDS, len(answer), asked.connections)
    argv = [*place.enter, str(program), *map(str, numbers)]
    return told(ran(argv, place.processor, array(shape.read if reads else shape.write)))


def _compiled(words: Sequence[str]) -> str:
    try:
        done = subprocess.run([*COMPILER, *words], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SystemExit("a C compiler is needed: sudo apt-get install gcc libc6-dev") from None
    if done.returncode != 0:
        raise SystemExit(f"`{' '.join((*COMPILER, *words))}` failed:\n{done.stderr.strip()}")
    return done.stdout
