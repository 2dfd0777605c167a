"""A part of a study (`--only`) says what it lacks, and the command that measures it too."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Command

STUDY = Path(__file__).parents[3] / "studies" / "fake.yaml"
AGAINST = "`late` and `inside`, compared with `plain`, were not part of this run"


@pytest.mark.parametrize(
    ("part", "told", "wanted"),
    [
        ("plain", AGAINST, "plain late inside plain-twin"),
        ("late", "the baseline `plain` was not part of this run", "plain late plain-twin"),
        ("inside", "the baseline `plain` was not part of this run", "plain inside plain-twin"),
        ("plain-twin", "the baseline `plain` was not", "plain late inside plain-twin"),
        (
            "late inside",
            "The study's twin was not part of this run",
            "late inside plain plain-twin",
        ),
        ("late plain-twin plain", "", ""),
        ("late inside plain-twin", "The study's twin was", "late inside plain plain-twin"),
    ],
)
def test_what_a_part_lacks_is_named_with_the_command(
    dunnage: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    told: str,
    wanted: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my study.yaml").write_bytes(STUDY.read_bytes())
    only = [word for name in part.split() for word in ("--only", name)]
    shown = dunnage("run", "my study.yaml", "--only", "A", *only)
    assert shown.code == 0
    assert told in " ".join(shown.out.split())
    assert "The study has no twin" not in shown.out
    assert "too few blocks" not in shown.out
    command = " ".join(f"--only {name}" for name in (*wanted.split(), "A"))
    assert (f": dunnage run 'my study.yaml' {command}\n" in shown.err) == bool(wanted), shown.err
    assert "STUDY" not in shown.out + shown.err


def test_where_the_study_of_a_result_has_a_masked_secret_only_its_own_file_is_named(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    changed = 'version: "1.0"\n  settings: {requirepass: hunter2}'
    Path("study.yaml").write_text(STUDY.read_text().replace('version: "1.0"', changed))
    measured = dunnage("run", "study.yaml", "--only", "late", "--only", "A")
    assert "with `plain`: dunnage run study.yaml --only plain" in measured.err
    reported = dunnage("report", "results")
    assert reported.code == 0
    assert "with `plain`" not in reported.err
