"""The command as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from in_process import said_here

VERBS = (
    "quickstart",
    "init",
    "doctor",
    "plan",
    "run",
    "status",
    "report",
    "compare",
    "export",
    "clean",
    "schema",
)


def dunnage(*words: str, directory: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "TERM": "dumb"}
    return subprocess.run(
        [sys.executable, "-m", "dunnage", *words],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        cwd=directory,
    )


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_each_verb_ends_with_examples(verb: str) -> None:
    code, shown, _ = said_here(verb, "--help")
    assert code == 0
    assert f"dunnage {verb}" in shown[shown.index("Examples:") :]


def test_help_documents_the_exit_codes() -> None:
    shown = " ".join(dunnage("--help").stdout.split())
    for words in (
        "0 done",
        "2 wrong command line",
        "3 cannot run here",
        "5 ran, but too few runs are valid, or damage keeps some from being counted",
        "6 a regression",
        "7 results that",
        "130 interrupted",
    ):
        assert words in shown


def test_the_walk_with_the_fakes_ends_with_an_answer_and_a_page(tmp_path: Path) -> None:
    shown = dunnage("quickstart", "--fake", "--format", "json", "--results", str(tmp_path))
    assert shown.returncode == 0, shown.stderr
    answer = json.loads(shown.stdout)
    page = Path(answer["page"])
    assert page.read_text().startswith("<!")
    status = json.loads(dunnage("status", answer["result"], "--format", "json").stdout)
    assert status["finished"] == status["planned"] > 0
    assert status["missing"] == []
    again = dunnage("report", answer["result"], "--format", "json")
    assert json.loads(again.stdout) == answer


def test_a_study_that_is_not_there_says_what_to_type(tmp_path: Path) -> None:
    shown = dunnage("run", "nowhere.yaml", directory=tmp_path)
    assert shown.returncode == 2
    assert "nowhere.yaml" in shown.stderr
    assert "dunnage init" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_an_unknown_option_is_a_usage_error() -> None:
    shown = dunnage("run", "--nonsense")
    assert shown.returncode == 2
    assert "Traceback" not in shown.stderr


def test_init_writes_a_study_that_can_be_planned(tmp_path: Path) -> None:
    assert dunnage("init", directory=tmp_path).returncode == 0
    text = (tmp_path / "study.yaml").read_text()
    assert dunnage("init", directory=tmp_path).returncode == 2
    assert (tmp_path / "study.yaml").read_text() == text
    planned = dunnage("plan", "study.yaml", "--format", "json", directory=tmp_path)
    if planned.returncode == 0:
        assert json.loads(planned.stdout)["seconds"] > 0
    else:
        assert planned.returncode == 3, planned.stderr


def test_an_empty_directory_of_results_says_how_to_get_one(tmp_path: Path) -> None:
    alone = tmp_path / "results"
    alone.mkdir()
    shown = dunnage("report", str(alone))
    assert shown.returncode == 2
    assert "try: dunnage quickstart" in shown.stderr


def test_completion_can_be_shown() -> None:
    shown = subprocess.run(
        [str(Path(sys.executable).with_name("dunnage"))],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "_DUNNAGE_COMPLETE": "source_bash"},
    )
    assert "complete" in shown.stdout
