"""Results that this user may not read: not called damaged, and how they are opened."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from damages import FATAL, Spot, plan, study, told
from hostile import dunnage

from dunnage.errors import ExitCode
from dunnage.store.regular import regular_bytes


def closed(spot: Spot, patch: pytest.MonkeyPatch, *paths: Path) -> None:
    """The system refuses these files. Root may read everything, so the refusal is played."""

    def read(path: Path, most: int | None = None) -> bytes:
        if any(path.is_relative_to(each) for each in paths):
            raise PermissionError(13, "Permission denied", str(path))
        return regular_bytes(path, most)

    for module in ("parse", "whole"):
        patch.setattr(f"dunnage.store.{module}.regular_bytes", read)
    patch.setattr(os, "geteuid", lambda: spot.root.stat().st_uid + 1)


@pytest.mark.parametrize("part", ["run", "record", "samples"])
def test_what_this_user_may_not_read_is_not_called_damaged(
    part: str, spot: Spot, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {"run": spot.record.parent, "record": spot.record, "samples": spot.samples}
    closed(spot, monkeypatch, places[part])
    said = told(dunnage("verify", spot.root), ExitCode.UNAVAILABLE)
    assert "none damaged" in said
    assert "this user may not read it" in said
    assert f"sudo -u {spot.root.owner()} dunnage" in said
    said += told(dunnage("report", spot.root), ExitCode.UNTRUSTWORTHY, ExitCode.OK)
    assert "cannot be read by this user, so 1 run cannot be used" in said
    assert "rm -r" not in said
    assert "--blocks" not in said


def test_whoever_closed_a_file_of_their_own_is_told_how_to_open_it(
    spot: Spot, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed(spot, monkeypatch, spot.record)
    monkeypatch.setattr(os, "geteuid", lambda: spot.root.stat().st_uid)
    said = told(dunnage("verify", spot.root), ExitCode.UNAVAILABLE)
    assert f"chmod u+rX {spot.record} && dunnage verify {spot.root}" in said


@pytest.mark.parametrize("file", [plan, study], ids=["plan", "study"])
def test_a_result_that_is_closed_to_this_user_names_its_owner(
    file: Callable[[Spot], Path], spot: Spot, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed(spot, monkeypatch, file(spot))
    for verb in (("verify",), ("report",), ("run", "--resume")):
        said = told(dunnage(*verb, spot.root), ExitCode.UNAVAILABLE, ExitCode.FAILED)
        assert f"sudo -u {spot.root.owner()} dunnage " in said
        assert "rm -r" not in said


@pytest.mark.parametrize("name", ["plan truncated", "plan missing"])
def test_verify_tells_a_program_what_cannot_be_opened(name: str, spot: Spot) -> None:
    change, meaning = FATAL[name]
    change(spot)
    shown = dunnage("verify", spot.root, "--format", "json")
    told(shown, ExitCode.DAMAGED)
    error = json.loads(shown.out)["error"]
    assert error["exit_code"] == ExitCode.DAMAGED
    assert meaning.endswith(error["what"])
    assert error["hint"]
