"""A study of Cassandra whose containers run another Java than the native member does."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from study_process import answered, insist_nothing_left

from dunnage import catalog
from dunnage.errors import ExitCode
from dunnage.model.analysis import Analysis, RunSummary
from dunnage.model.check import Status
from dunnage.model.layout import Service
from dunnage.model.parity import Cause
from dunnage.opened import open_at
from dunnage.platforms.docker import Docker
from dunnage.wording.parity import sentence
from in_process import typed_here

pytestmark = [pytest.mark.live, pytest.mark.proof, pytest.mark.timeout(900)]

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 1, client: 1}}, memory: 2GiB, cores: shared}}
database: {{kind: cassandra, settings: {{jvm.heap: 256M, jvm.compilers: C1}}}}
deployments:
  native: {{platform: native}}
  same: {{platform: docker, network: bridge}}
  heap: {{platform: docker, network: bridge}}
  collector: {{platform: docker, network: bridge}}
  processors: {{platform: docker, network: bridge}}
workloads: [A]
records: 300
load: {{threads: [4], warmup: 500ms, duration: 2s}}
blocks: 1
deadline: 240s
patience: 0s
"""
TOLD: Mapping[str, Mapping[str, str]] = {
    "same": {},
    "heap": {"-Xmx256M": "-Xmx300M"},
    "collector": {"-XX:+UseG1GC": "-XX:+UseSerialGC"},
    "processors": {"-XX:ActiveProcessorCount=2": "-XX:ActiveProcessorCount=1"},
}
"""Deployment → what its Java is told in place of what the study says."""
SEEN = {
    "heap": f"virtual machine, flag.MaxHeapSize: {256 * 2**20} → {300 * 2**20}",
    "collector": "virtual machine, flag.UseSerialGC: - → true",
    "processors": "virtual machine, flag.ActiveProcessorCount: 2 → 1",
}


class Otherwise(Docker):
    """Containers in which Java is told something else than their deployment says."""

    def up(self, services: Sequence[Service], deadline: float) -> None:
        told = TOLD[self._deployment.name]
        argvs = [tuple(told.get(word, word) for word in service.argv) for service in services]
        pairs = zip(services, argvs, strict=True)
        super().up([replace(service, argv=argv) for service, argv in pairs], deadline)


def spoiling(run: RunSummary) -> str:
    """What spoils a run, a line each."""
    by = (Cause.UNDECLARED, Cause.UNKNOWN)
    return "\n".join(sentence(each) for each in run.differences if each.cause in by)


def test_another_heap_collector_or_number_of_processors_in_a_container_spoils_its_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, path = f"java-{uuid.uuid4().hex[:8]}", tmp_path / "study.yaml"
    path.write_text(STUDY.format(name=name))
    monkeypatch.setattr(catalog, "PLATFORMS", {**catalog.PLATFORMS, "docker": Otherwise})
    monkeypatch.setattr(sys, "argv", ["dunnage", "run", str(path), "--results", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        typed_here()
    assert ended.value.code == ExitCode.UNTRUSTWORTHY
    opened = open_at(tmp_path / name)
    assert opened.result.complete()
    runs = {run.deployment: run for run in opened.judged}
    answer = Analysis.model_validate(answered("report", str(opened.path))["analysis"])
    told = {(each.deployment, sentence(each.difference)) for each in answer.parity.differences}
    assert runs.keys() == {"native", *TOLD}
    assert spoiling(runs["native"]) == spoiling(runs["same"]) == ""
    for deployment, words in SEEN.items():
        assert runs[deployment].status == Status.INVALID
        assert words in spoiling(runs[deployment])
        assert any(words in text for side, text in told if side == deployment)
    insist_nothing_left(name, set())
