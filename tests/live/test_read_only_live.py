"""A result on a file system that takes no writes, as from a backup: it can be read all the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.live

STUDY = Path("studies/fake.yaml").resolve()
READ_ONLY = """\
set -e
mount --bind "$0" "$0"
mount -o remount,bind,ro "$0"
if touch "$0/written" 2>/dev/null; then exit 99; fi
exec "$@"
"""
"""In mounts of its own, which go with it: nobody else sees any of this."""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two results of one study, both without a report."""
    place = tmp_path_factory.mktemp("results")
    for number in ("1", "2"):
        words = ("run", str(STUDY), "--results", str(place / number), "--format", "json")
        made = subprocess.run(
            [sys.executable, "-m", "dunnage", *words], capture_output=True, timeout=120, check=True
        )
        result = Path(json.loads(made.stdout)["result"])
        for name in ("report", "analysis.json"):
            subprocess.run(["rm", "-r", str(result / name)], check=True)
    return place


def typed(results: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """The command line where no file can be written among the results."""
    return subprocess.run(
        [
            *("unshare", "--mount", "sh", "-c", READ_ONLY, str(results)),
            *(sys.executable, "-m", "dunnage", *map(str, words)),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("options", [(), ("--details",), ("--figures",)], ids="".join)
def test_a_report_that_cannot_be_stored_is_shown(options: tuple[str, ...], results: Path) -> None:
    shown = typed(results, "report", results / "1", *options)
    assert shown.returncode == 0, shown.stderr
    assert "≈ equivalent" in shown.stdout
    assert "the report was not stored: " in shown.stderr
    assert "Read-only file system" in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize("verb", ["status", "verify", "compare", "export"])
def test_a_verb_that_only_reads_takes_no_notice(verb: str, results: Path, tmp_path: Path) -> None:
    words: dict[str, tuple[object, ...]] = {
        "compare": (results / "2",),
        "export": ("--to", tmp_path / "out"),
    }
    shown = typed(results, verb, results / "1", *words.get(verb, ()))
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout or shown.stderr
    assert "Read-only" not in shown.stderr
    assert "Traceback" not in shown.stderr
    if verb == "export":
        assert any((tmp_path / "out").iterdir())


@pytest.mark.parametrize("blocks", [(), ("--blocks", "+1")], ids=["as planned", "more"])
def test_a_study_that_cannot_go_on_says_why(blocks: tuple[str, ...], results: Path) -> None:
    shown = typed(results, "run", "--resume", results / "1", *blocks)
    assert shown.returncode == 4, shown.stderr
    assert "cannot write: Read-only file system" in shown.stderr
    assert "make it writable, then: dunnage run --resume" in shown.stderr
    assert "Traceback" not in shown.stderr
