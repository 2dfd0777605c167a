"""A lab that `run --keep` left is named: at the end of the run, and by `clean`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from command import Command

from dunnage import lab_tool
from dunnage.cli.shared import kept_labs
from dunnage.errors import ResultError
from dunnage.hosts.first_process import Identity
from dunnage.hosts.standing import StandingHost, StandingLab

ROOT = Path(__file__).parents[3]


def lab(name: str, *, kept: bool = True) -> StandingLab:
    host = StandingHost("db-1", "10.0.0.1", Identity(1, 1), None)
    return StandingLab(name, "redis", kept, (host,))


def test_clean_names_the_labs_that_it_leaves(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab_tool, "clean", lambda **_: ())
    standing = (lab("0123abcd"), lab("89abcdef", kept=False), lab("4567abcd"))
    monkeypatch.setattr(lab_tool, "standing_labs", lambda: standing)
    for words in (("clean",), ("clean", "--format", "json")):
        told = dunnage(*words).err
        assert "lab 0123abcd of `redis` was left standing on purpose" in told
        assert "89abcdef" not in told
        assert "dunnage lab status" in told
        for kept in ("0123abcd", "4567abcd"):  # each by itself: perhaps one is somebody else's
            assert f"dunnage lab down --lab {kept}\n" in told
        assert "clean --kept" not in told


@pytest.mark.parametrize("ending", [None, ResultError("the disk is full")])
def test_a_run_names_the_lab_that_it_leaves(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ending: Exception | None
) -> None:
    standing = [lab("0123abcd")]
    monkeypatch.setattr(lab_tool, "standing_labs", lambda: tuple(standing))
    with suppress(ResultError), kept_labs.told_of(keep=True, fake=False):
        standing.append(lab("89abcdef"))
        if ending is not None:
            raise ending
    told = capsys.readouterr().err
    assert "0123abcd" not in told
    assert "lab 89abcdef is left standing: 1 host" in told
    assert "dunnage lab shell --lab 89abcdef db-1" in told
    assert "dunnage lab down --lab 89abcdef" in told


def test_a_study_of_fakes_says_that_it_keeps_nothing(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = dunnage("run", ROOT / "studies" / "fake.yaml", "--only", "plain", "--keep")
    assert "`--keep` keeps nothing here" in shown.err
