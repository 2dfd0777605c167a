"""Tables typeset by a TeX engine, each a paragraph of a plain article that loads no package."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pdf_text import letters

from dunnage.report.export.latex.document import document
from dunnage.report.tables.column import Cell, words
from dunnage.report.tables.table import Table

_SECONDS = 200
_WORD = re.compile(r"[^\W_]+")


def written(place: Path, tables: Iterable[Table[Any]]) -> list[Path]:
    """Tables as files of LaTeX."""
    place.mkdir()
    files = []
    for table in tables:
        files.append(place / f"{table.name}.tex")
        files[-1].write_text(document(table))
    return files


def typeset(place: Path, tables: Iterable[Path], size: str) -> tuple[Path, list[str]]:
    """The PDF file that comes of files of tables, and what TeX says of boxes that do not fit."""
    place.mkdir()
    inputs = "\n\n".join(rf"\input{{{table}}}" for table in tables)
    (place / "article.tex").write_text(
        f"\\documentclass[{size}]{{article}}\n\\begin{{document}}\n{inputs}\n\\end{{document}}\n"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "article.tex"],
        cwd=place,
        env={**os.environ, "max_print_line": "1000"},
        capture_output=True,
        timeout=_SECONDS,
    )
    log = (place / "article.log").read_text(errors="replace")
    assert done.returncode == 0, log[-2000:]
    return place / "article.pdf", [line for line in log.splitlines() if line.startswith("Overfull")]


def cells(table: Table[Any]) -> Iterator[str]:
    """Letters and digits of every word and number of a table as people read it."""
    yield from (letters(part) for head in table.heads for part in _WORD.findall(head))
    yield from (letters(part) for row in table.shown for cell in row for part in _parts(cell))


def _parts(cell: Cell) -> Iterator[str]:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        mantissa, _, exponent = words(cell).partition("e")
        yield mantissa + (f"10{int(exponent)}" if exponent else "")
    else:
        yield from words(cell).split()
