"""A study of a ring that tells clients to go round its endpoint, carried out to its end."""

from __future__ import annotations

import sys
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from study_process import insist_nothing_left

from dunnage import catalog
from dunnage.databases.cassandra.database import Cassandra
from dunnage.errors import ExitCode
from dunnage.model.check import Status, Why
from dunnage.model.layout import Place, Reservation, Stage
from dunnage.model.study import DatabaseSpec
from dunnage.store.read import open_result
from in_process import typed_here

pytestmark = [pytest.mark.live, pytest.mark.kubernetes, pytest.mark.timeout(900)]

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 2, client: 1}}, memory: 2GiB, cores: shared}}
database: {{kind: cassandra, members: 2, settings: {{jvm.heap: 256M, jvm.compilers: C1}}}}
deployments:
  service: {{platform: kubernetes, network: flannel-vxlan, endpoint: service-ip}}
workloads: [A]
records: 300
load: {{threads: [8], warmup: 500ms, duration: 4s}}
blocks: 1
deadline: 240s
patience: 0s
"""


class Detour(Cassandra):
    """Members that tell clients the addresses on which they listen: those of their pods."""

    def stages(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Stage, ...]:
        return super().stages(spec, Reservation(tuple(map(_direct, reservation.places))))


def _direct(place: Place) -> Place:
    cql = place.ports["cql"]
    return replace(place, ports={**place.ports, "cql": replace(cql, advertised=cql.bind)})


def test_a_ring_behind_services_that_advertises_its_pods_makes_each_run_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, path = f"detour-{uuid.uuid4().hex[:8]}", tmp_path / "study.yaml"
    path.write_text(STUDY.format(name=name))
    monkeypatch.setattr(catalog, "DATABASES", {**catalog.DATABASES, "cassandra": Detour})
    words = ["dunnage", "run", str(path), "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        typed_here()
    assert ended.value.code == ExitCode.UNTRUSTWORTHY
    result = open_result(tmp_path / name)
    assert result.finished() == {run.id for run in result.plan.runs()}
    assert result.records
    (stay,) = result.stays
    pods = {f"{address}:9042" for address in stay.late.values()}
    for record in result.records:
        assert record.status is Status.INVALID
        (found,) = (each for each in record.checks if each.check == "connections")
        assert (found.status, found.why) == (Status.INVALID, Why.OUTSIDE)
        assert {each.value for each in found.seen} <= pods
        assert {each.value for each in found.allowed} == set(stay.endpoint)
        assert pods.isdisjoint(stay.endpoint)
    insist_nothing_left(name, set())
