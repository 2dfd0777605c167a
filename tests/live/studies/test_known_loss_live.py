"""A loss of throughput that is asked for: found on real servers, used in turns, and checked."""

from __future__ import annotations

import io
import uuid
from pathlib import Path

import pytest
from rich.console import Console
from study_process import insist_nothing_left

from dunnage import catalog
from dunnage.cli.shared.studies import planned
from dunnage.runner import known_loss
from dunnage.runner.interrupt import Stop
from dunnage.runner.progress import Display
from dunnage.runner.study import carry_out
from dunnage.store.read import open_result
from dunnage.store.write import ResultWriter
from dunnage.study.read import read_study

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 2, client: 1}}}}
database: {{kind: redis, topology: replicas, members: 2}}
deployments:
  native: {{platform: native}}
  slowed: {{platform: native, loss: 30%}}
workloads: [C]
records: 1000
load: {{threads: [8], turns: 750ms, warmup: 500ms, duration: 6s}}
blocks: 1
patience: 0s
deadline: 60s
sampler: {{rate: 15Hz}}
"""


def test_a_large_loss_is_found_used_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One short look each: they tell a third of the throughput from nothing, and little more."""
    monkeypatch.setattr(known_loss, "STEP", 15.0)
    monkeypatch.setattr(known_loss, "STEPS", 1)
    name = f"loss-{uuid.uuid4().hex[:8]}"
    text = STUDY.format(name=name)
    study = read_study(text, "study.yaml", catalog.OFFER)
    plan, _ = planned(study)
    writer = ResultWriter.create(tmp_path, name, text, plan)
    with Display(Console(file=io.StringIO()), 2, 0, 60.0) as watcher:
        outcome = carry_out(study, plan, writer, frozenset(), watcher, Stop())
    assert outcome.missing == ()
    assert outcome.failures == ()
    insist_nothing_left(name, set())
    result = open_result(tmp_path)
    found = result.losses["slowed"]
    (step,) = found.steps
    assert step.pairs >= 20
    # For as long as was asked for; longer where others on the machine delay its waking.
    assert 0.27 < step.paused < 0.5
    assert step.low > 0
    assert 0 < step.cpu < 0.05
    assert found.checked is not None and found.checked.low is not None
    assert found.checked.low > 0
    idle = [check for each in result.records for check in each.checks if check.check == "idle"]
    assert [check.status for check in idle] == ["valid", "valid"]
    paused = {record.deployment: record.paused for record in result.records}
    assert paused["native"] is None
    assert paused["slowed"] == pytest.approx(found.share, abs=0.15)
