"""Real servers that start with a copy of another stay's files, natively and in containers."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from study_process import answered, insist_nothing_left

from dunnage import catalog
from dunnage.findings.parity.compare import compare
from dunnage.findings.parity.factors import factors, keys
from dunnage.model.analysis import Analysis
from dunnage.model.parity import Cause
from dunnage.model.record import StayRecord
from dunnage.store.read import Result, open_result
from dunnage.study.matrix import deployments
from dunnage.study.read import read_study
from dunnage.wording.parity import sentence

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

REDIS = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 3, client: 1}}, cores: shared}}
database: {{kind: redis, topology: replicas, members: 3}}
deployments:
  native: {{platform: native}}
  volume: {{platform: docker, network: bridge, storage: volume}}
workloads: [A]
records: 5000
data: restore
load: {{threads: [8], warmup: 500ms, duration: 2s}}
blocks: 1
patience: 0s
"""
CASSANDRA = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 1, client: 1}}, cores: shared}}
database: {{kind: cassandra, settings: {{jvm.compilers: C1}}}}
deployments:
  native: {{platform: native}}
  bridge: {{platform: docker, network: bridge}}
workloads: [C]
records: 5000
data: restore
load: {{threads: [8], warmup: 0s, operations: 2000}}
blocks: 1
deadline: 240s
patience: 0s
"""
LEAST = {"redis": 5_000_000, "cassandra": 2**20}
"""Bytes that the records take at least; Cassandra compresses them, and tells whole MiB."""


@pytest.fixture(
    scope="module",
    params=[REDIS, pytest.param(CASSANDRA, marks=pytest.mark.proof)],
    ids=["redis", "cassandra"],
)
def restored(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Result]:
    """One block of every deployment, each stay started with a copy of the same files."""
    results: Path = tmp_path_factory.mktemp("restored")
    name = f"restored-{uuid.uuid4().hex[:8]}"
    path = results / "study.yaml"
    path.write_text(request.param.format(name=name))
    answer = answered("run", str(path), "--results", str(results))
    assert Analysis.model_validate(answer["analysis"]).missing == 0
    yield open_result(results / name)
    insist_nothing_left(name, set())


def kind(result: Result) -> str:
    return result.plan.deployments[0].database.kind


def test_records_are_put_in_once_and_every_stay_started_with_a_copy(restored: Result) -> None:
    (made,) = [each for each in restored.events() if each["event"] == "snapshot made"]
    assert made["records"] == 5000
    assert isinstance(made["data_size"], float)
    assert made["data_size"] >= LEAST[kind(restored)]
    assert len(restored.stays) == len(restored.plan.deployments)
    assert {stay.restored_from for stay in restored.stays} == {made["stay"]}
    assert not [each for each in restored.events() if each["event"] == "stay failed"]


def test_every_record_that_is_asked_for_is_there(restored: Result) -> None:
    assert restored.records
    for record in restored.records:
        assert record.data_size is not None
        assert record.data_size >= LEAST[kind(restored)]
        assert record.measurement is not None
        everything = record.measurement.operations["all"]
        assert everything.count > 100
        assert not any(everything.errors.values()), (record.run, everything.errors)


def test_no_deployment_differs_in_more_than_what_is_under_study(restored: Result) -> None:
    study = read_study(restored.study_text, "study.yaml", catalog.OFFER)
    native, *others = deployments(study, catalog.OFFER)
    for other in others:
        declared = keys(factors(native, other))
        found = compare(stay(restored, native.name), stay(restored, other.name), declared)
        assert [sentence(each) for each in found if each.cause is Cause.UNDECLARED] == []


def stay(result: Result, deployment: str) -> StayRecord:
    (found,) = [each for each in result.stays if each.deployment == deployment]
    return found
