"""A real load from two hosts at once: each has its part, and their sum is one measurement."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from study_process import answered, insist_nothing_left

from dunnage.model.analysis import Analysis
from dunnage.store.read import open_result

pytestmark = pytest.mark.live

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 1, client: 2}}, cores: shared}}
database: {{kind: redis, topology: single}}
deployments:
  native: {{platform: native}}
workloads: [A]
records: 1000
load: {{threads: [8], warmup: 500ms, duration: 2s}}
blocks: 1
patience: 0s
"""


def test_two_clients_make_one_load_of_a_real_server(tmp_path: Path) -> None:
    name = f"clients-{uuid.uuid4().hex[:8]}"
    study = tmp_path / "study.yaml"
    study.write_text(STUDY.format(name=name))
    answer = answered("run", str(study), "--results", str(tmp_path))
    assert Analysis.model_validate(answer["analysis"]).missing == 0
    result = open_result(tmp_path / name)
    (record,) = result.records
    # Parts that began too far apart, as on a busy machine, cost a stay.
    stay = next(stay for stay in result.stays if stay.stay == record.stay)
    measured = record.measurement
    assert measured is not None
    assert measured.parts == 2
    assert set(measured.remotes) == set(stay.endpoint)
    assert measured.operations["all"].count > 1000
    assert not any(measured.operations["all"].errors.values())
    assert len(list((tmp_path / name).glob("*/runs/*/attempt-1.part-[12].result.json"))) == 2
    insist_nothing_left(name, set())
