"""A study that ends before any stay began leaves no result that hides finished ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Command
from measured import STUDY, measured

from dunnage import catalog
from dunnage.cli.shared.carrying_out import _unbegun_removed
from dunnage.errors import UnavailableError, UnwrittenError
from dunnage.findings.variance.sentences import NO_RUN_YET
from dunnage.runner import blocks
from dunnage.store.events import BEGINNINGS
from dunnage.store.newest import newest
from dunnage.store.read import open_result
from dunnage.store.write import ResultWriter


def ending(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on no testbed opens: this error ends the study."""

    def end(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(catalog, "open_testbed", end)


def unbegun(tmp_path: Path, study: str = STUDY) -> ResultWriter:
    """A result as a run leaves it that is killed before its first stay."""
    finished = open_result(measured(study, tmp_path))
    return ResultWriter.create(tmp_path / "results", "small", study, finished.plan)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UnavailableError("there is no such context"), 3, "there is no such context"),
        (KeyboardInterrupt(), 130, "interrupted before any stay began"),
    ],
)
def test_what_ends_before_any_stay_leaves_the_finished_result_the_newest(
    dunnage: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    said: str,
) -> None:
    finished = measured(STUDY, tmp_path)
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        ending(error, patch)
        shown = dunnage("run", "study.yaml")
    assert shown.code == code
    assert said in shown.err
    assert "nothing was measured, so this result is removed" in shown.err
    assert shown.err.endswith("try: dunnage run study.yaml\n")
    assert list((tmp_path / "results" / "small").iterdir()) == [finished]
    assert newest(Path("results")).resolve() == finished.resolve()


def test_a_resumed_result_is_never_removed(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = unbegun(tmp_path).layout.root
    ending(UnavailableError("there is no such context"), monkeypatch)
    assert dunnage("run", "--resume", left).code == 3
    assert left.is_dir()


def test_a_result_of_which_a_stay_began_stays(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "study.yaml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(blocks, "carry_out_run", end)
    shown = dunnage("run", "study.yaml")
    assert shown.code == 130
    assert "every finished run is kept" in shown.err
    (left,) = Path("results/small").iterdir()
    assert f"dunnage run --resume {left}" in shown.err


@pytest.mark.parametrize("event", BEGINNINGS)
def test_a_beginning_in_the_journal_keeps_a_result(tmp_path: Path, event: str) -> None:
    writer = unbegun(tmp_path)
    writer.journal(event, stay="s", deployment="plain")
    assert not writer.remove_unbegun()
    assert writer.layout.plan.exists()


@pytest.mark.parametrize("place", ["runs", "stays"])
def test_a_directory_of_a_run_or_a_stay_keeps_a_result_whatever_the_journal_says(
    tmp_path: Path, place: str
) -> None:
    writer = unbegun(tmp_path)
    (writer.layout.root / place / "one").mkdir()
    assert not writer.remove_unbegun()
    assert writer.layout.plan.exists()


def test_what_cannot_be_written_leaves_a_result_to_be_gone_on_with(tmp_path: Path) -> None:
    writer = unbegun(tmp_path)
    with pytest.raises(UnwrittenError), _unbegun_removed(writer, "dunnage run study.yaml"):
        raise UnwrittenError(OSError(28, "No space left on device"), "file")
    assert writer.layout.plan.exists()


def test_a_result_that_a_kill_left_without_a_run_is_advised_to_be_resumed(
    dunnage: Command, tmp_path: Path
) -> None:
    both = "{plain: {platform: fake, network: plain}, other: {platform: fake, network: plain}}"
    study = STUDY.replace("{plain: {platform: fake, network: plain}}", both)
    left = unbegun(tmp_path, study.replace("blocks: 1", "blocks: 6")).layout.root
    shown = dunnage("report", left)
    assert shown.code == 5
    assert NO_RUN_YET in " ".join(shown.out.split())
    assert "--blocks" not in shown.out
