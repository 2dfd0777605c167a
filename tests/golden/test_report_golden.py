"""The terminal's answer, letter by letter, at the width of an old terminal and of a wide one."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from dunnage.report.terminal import text
from report_samples import sample

GOLDEN = Path(__file__).parent / "report"


@pytest.mark.parametrize(("blocks", "width"), [(8, 80), (8, 120), (3, 80)])
def test_the_answer_looks_as_it_did(blocks: int, width: int) -> None:
    made = sample(blocks)
    output = io.StringIO()
    console = Console(file=output, width=width, color_system=None, _environ={})
    console.print(text.answer_table(made.analysis, made.study, made.plan))
    lines = "".join(line.rstrip() + "\n" for line in output.getvalue().splitlines())
    assert lines == (GOLDEN / f"answer-{blocks}-blocks-{width}.txt").read_text(encoding="utf-8")
