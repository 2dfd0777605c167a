"""How a test carries a study out with faults put into its world."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from faulty import STUDY, Carry, Ended, put_into_worlds

from dunnage.errors import ExitCode
from dunnage.hosts.fake.world import World
from dunnage.store.read import open_result
from in_process import typed_here


@pytest.fixture
def carry_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Carry:
    """Return how to run the study by the real command, with faults put into its world."""

    places = (tmp_path / f"results-{number}" for number in itertools.count(1))

    def run(fault: Callable[[World], None], study: str = STUDY) -> Ended:
        results = next(places)
        file = tmp_path / "study.yaml"
        file.write_text(study)
        put_into_worlds(fault, monkeypatch)
        monkeypatch.setenv("COLUMNS", "200")
        words = ["run", str(file), "--results", str(results), "--format", "json"]
        monkeypatch.setattr(sys, "argv", ["dunnage", *words])
        with pytest.raises(SystemExit) as ended:
            typed_here()
        captured = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        if code in (ExitCode.OK, ExitCode.UNTRUSTWORTHY):
            json.loads(captured.out)
        return Ended(code, captured.err, open_result(results))

    return run
