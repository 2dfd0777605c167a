"""The reference says all that the code says, and nothing of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dunnage.analysis.checks import GATES, Bounds
from dunnage.cli.command_line import VERBS
from dunnage.cli.lab import VERBS as LAB_VERBS
from dunnage.errors import ExitCode
from dunnage.model.metrics import COMPARED, METRICS
from dunnage.model.record import Record
from dunnage.model.study import Study
from dunnage.reference.pages import pages


@pytest.fixture(scope="module")
def page() -> dict[str, str]:
    return pages()


def test_every_key_metric_gate_verb_and_exit_code_has_its_place(page: dict[str, str]) -> None:
    assert all(f"`{key}`" in page["study.md"] for key in Study.model_fields)
    assert all(f"## `dunnage {verb}" in page["commands.md"] for verb in VERBS)
    assert all(f"## `dunnage lab {verb}`" in page["commands.md"] for verb in LAB_VERBS)
    assert all(f"| `{code.value}` |" in page["commands.md"] for code in ExitCode)
    assert all(f"`{gate}`" in page["metrics.md"] for gate in GATES)
    whole = [name for name in METRICS if name.count(".") < 2]
    assert all(f"| `{name}` |" in page["metrics.md"] for name in whole)
    assert all(f"| `{key}` |" in page["records.md"] for key in Record.model_fields)


def test_every_table_has_as_many_cells_in_each_row(page: dict[str, str]) -> None:
    for text in page.values():
        for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            cells = {len(re.findall(r"(?<!\\)\|", row)) for row in block.splitlines()}
            assert len(cells) == 1, block


def test_a_stale_page_is_named_and_one_written_by_hand_is_left_alone(tmp_path: Path) -> None:
    def reference(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dunnage.reference", *words, str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    (tmp_path / "by-hand.md").write_text("mine\n")
    assert reference("--write").returncode == 0
    assert reference("--check").returncode == 0
    with (tmp_path / "metrics.md").open("a") as file:
        file.write("more\n")
    (tmp_path / "study.md").unlink()
    stale = reference("--check")
    assert stale.returncode == 4
    assert stale.stderr == "out of date: study.md, metrics.md; try: make schema\n"
    assert (tmp_path / "by-hand.md").read_text() == "mine\n"


def test_a_bound_that_stands_under_a_name_in_the_code_is_told_by_its_value(
    page: dict[str, str],
) -> None:
    assert f"| `busy_open` | `{Bounds().busy_open}` |" in page["metrics.md"]
    assert "`BUSY`" not in page["metrics.md"]


def test_metrics_that_no_question_may_name_are_said_to_be_none(page: dict[str, str]) -> None:
    (told,) = (line for line in page["metrics.md"].splitlines() if "no question may name" in line)
    assert set(re.findall(r"`([^`]+)`", told)) == METRICS.keys() - set(COMPARED)
