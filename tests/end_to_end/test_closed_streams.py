"""Whoever read our messages may go away: what is measured is measured, and kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dunnage.store.read import open_result

STUDY = Path(__file__).parents[2] / "studies" / "fake.yaml"
RUN = ("run", str(STUDY), "--only", "late", "--blocks", "1", "--results")
COMMAND = [sys.executable, "-m", "dunnage", *RUN]


def test_a_reader_of_messages_that_goes_away_ends_no_study(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(
            [*COMMAND, str(tmp_path), "--format", "json"],
            stdout=subprocess.PIPE,
            stderr=writer,
            timeout=120,
            start_new_session=True,
        )
    finally:
        os.close(writer)
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["result"]
    result = open_result(tmp_path)
    assert len(result.finished()) == len(tuple(result.plan.runs()))


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full", "0<&-"])
def test_without_a_stream_for_messages_a_study_is_carried_out_all_the_same(
    tmp_path: Path, closed: str
) -> None:
    ended = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, str(tmp_path), "--format", "json"],
        stdout=subprocess.PIPE,
        timeout=120,
        start_new_session=True,
    )
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["result"]


def unread(*words: str) -> subprocess.CompletedProcess[str]:
    """Let a command write its answer to a reader that has gone away."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            [sys.executable, "-m", "dunnage", *words],
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            start_new_session=True,
        )
    finally:
        os.close(writer)


def test_a_reader_of_the_answer_that_goes_away_hears_of_no_bug() -> None:
    ended = unread("schema", "record")
    assert ended.returncode == 0
    assert ended.stderr == ""


def test_an_answer_that_cannot_be_written_is_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "dunnage", "schema", "record"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            start_new_session=True,
        )
    assert ended.returncode == 4
    assert "the answer cannot be written" in ended.stderr
    assert "Traceback" not in ended.stderr


WORDS = [("--help",), ("--version",), ("run", "-h"), (), ("plan", str(STUDY)), ("doctor",)]


@pytest.mark.parametrize("words", WORDS)
def test_whatever_is_shown_on_a_full_device_ends_in_one_message(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "dunnage", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            start_new_session=True,
        )
    assert ended.returncode == 4
    first, hint = ended.stderr.splitlines()
    assert first.startswith("dunnage: standard output: the answer cannot be written")
    assert hint.startswith("  try: ")


@pytest.mark.parametrize("words", WORDS)
def test_a_reader_of_any_answer_may_go_away(words: tuple[str, ...]) -> None:
    ended = unread(*words)
    assert ended.returncode in (0, 2, 3)
    assert "Traceback" not in ended.stderr
    assert "cannot be written" not in ended.stderr
