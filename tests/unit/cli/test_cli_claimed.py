"""What whoever gives hosts is told of that will live there."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NoReturn

import pytest
from command import Command

from dunnage import catalog, on_demand
from dunnage.errors import UnavailableError
from dunnage.model.choices import Storage
from dunnage.model.study import TestbedSpec
from dunnage.software import engine

STUDY = """
dunnage: 1
name: stored
testbed: {kind: nodes, context: mine, hosts: {db: 1, client: 1}}
database: {kind: redis, topology: single, image: "redis:7.0"}
deployments:
  bound: {platform: kubernetes, network: flannel-vxlan, endpoint: service-ip}
  kept: {platform: kubernetes, network: flannel-vxlan, endpoint: service-ip, storage: volume}
workloads: [A]
records: 100
load: {threads: [1], duration: 4s}
blocks: 1
questions:
  Q1: {baseline: bound, against: [kept]}
"""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "study.yaml"), {Storage.BIND, Storage.VOLUME}),
        (("run", "study.yaml", "--only", "bound"), {Storage.BIND}),
        (("path", "study.yaml", "kept"), {Storage.VOLUME}),
    ],
)
def test_hosts_are_claimed_by_what_the_data_of_members_will_lie_on(
    dunnage: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    told: set[Storage],
) -> None:
    """Of a cluster of someone else's, what its user must be allowed depends on that."""
    claimed: list[Collection[Storage]] = []

    def refused(
        _: TestbedSpec, name: str, *, keep: bool, storages: Collection[Storage], **__: object
    ) -> NoReturn:
        assert (name, keep) == ("stored", False)
        claimed.append(storages)
        raise UnavailableError("there are no nodes", hint="kubectl get nodes")

    monkeypatch.setattr(catalog, "open_testbed", refused)
    monkeypatch.setattr(on_demand, "nodes_are_here", lambda _: False)
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "engine"
    program.write_text("#!/bin/sh\necho 1\n")
    program.chmod(0o755)
    monkeypatch.setenv(engine.VARIABLE, str(program))
    Path("study.yaml").write_text(STUDY)
    shown = dunnage(*words)
    assert shown.code == 3
    assert "there are no nodes" in shown.err
    assert claimed == [told]
