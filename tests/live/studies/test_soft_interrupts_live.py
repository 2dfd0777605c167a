"""A study that asks for network soft interrupts, through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from study_process import answered, insist_nothing_left

from dunnage.analysis.runs import Setting
from dunnage.findings.cpu.shares import NETWORK_SOFT, OTHER_SOFT, shares
from dunnage.hosts.machine_facts import machine_facts
from dunnage.model.accounting import ACCOUNTING, accounting_of
from dunnage.model.metrics import CHARGED
from dunnage.model.soft_interrupts import BRIDGE
from dunnage.opened import open_at

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

STUDY = """
dunnage: 1
name: soft-interrupts
testbed: {kind: namespace, hosts: {db: 1, client: 1}}
database: {kind: redis, topology: single}
deployments:
  native: {platform: native}
  bridged: {platform: docker, network: bridge}
workloads: [C]
records: 300
load: {threads: [4], warmup: 500ms, duration: 3s}
blocks: 1
sampler: {rate: 5Hz, soft_interrupts: true}
questions:
  network: {baseline: native, against: [bridged], metric: soft.database}
"""


def test_a_study_has_them_of_client_database_host_and_bridge(tmp_path: Path) -> None:
    file, results = tmp_path / "study.yaml", tmp_path / "results"
    file.write_text(STUDY)
    answered("run", str(file), "--results", str(results))
    opened = open_at(results)
    assert {record.deployment for record in opened.records} == {"native", "bridged"}
    for record in opened.records:
        found = record.soft_interrupts
        assert found is not None and not found.absent, found
        assert found.networks.keys() == {"client-1", "db-1", BRIDGE}
        assert all(used > 0 for used in found.networks.values()), found
        # By themselves: on a busy machine its runs are invalid, and the page shows valid ones.
        every = shares(
            record.deployment,
            Setting(record.workload.name, "4"),
            [record],
            accounting=accounting_of(opened.analysis.environment),
        )
        places = ("client", "db-1", BRIDGE, "elsewhere", "no packet")
        parts = {share.part for share in every if share.accounting is not None}
        assert parts == {OTHER_SOFT, *(f"{NETWORK_SOFT}, {place}" for place in places)}
        assert "netif_receive_skb" in found.method
    for run in opened.analysis.runs:
        assert all(run.values[metric] > 0 for metric in CHARGED)
    assert [answer.question for answer in opened.analysis.answers] == ["network"]
    assert opened.analysis.environment[ACCOUNTING] == machine_facts()[ACCOUNTING]
    insist_nothing_left("soft-interrupts", set())
