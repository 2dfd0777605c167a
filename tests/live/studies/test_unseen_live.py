"""A study on a daemon with process ids of its own, which stands for somebody else's cluster."""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dunnage import catalog
from dunnage.hosts.namespace.testbed import NamespaceTestbed
from dunnage.model.check import Status, Why
from dunnage.model.parity import Cause
from dunnage.model.study import TestbedSpec
from dunnage.opened import open_at
from dunnage.platforms.container_member import OUT_OF_SIGHT
from dunnage.report.terminal.text import answer_table
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.contexts import write_contexts
from dunnage.substrates.daemons import open_daemons
from in_process import typed_here

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

STUDY = """
dunnage: 1
name: unseen
testbed: {kind: namespace, hosts: {db: 1, client: 1}, cores: shared}
database: {kind: redis, topology: single}
substrate: {docker: {kind: existing, contexts: {db-1: theirs}}}
deployments:
  native: {platform: native}
  theirs: {platform: docker, network: host}
  bridged: {platform: docker, network: bridge}
workloads: [C]
records: 300
load: {threads: [4], warmup: 500ms, duration: 2s}
blocks: 1
questions:
  cost: {baseline: native, against: [theirs, bridged]}
"""
UNSEEN = ("theirs", "bridged")
WHY = OUT_OF_SIGHT.reason


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every lab has a daemon with process ids of its own, to which the context `theirs` leads."""
    binaries = DebianSoftware().dockerd()
    own = "unshare --pid --fork --mount-proc --kill-child=KILL"
    script = (
        f'#!/bin/sh\n{own} {shlex.quote(str(binaries.dockerd))} "$@" &\n'
        'trap "kill -KILL $!" TERM\nwait $!\n'  # which `unshare` itself does not heed
    )
    open_lab = catalog.open_testbed

    @contextmanager
    def opened(spec: TestbedSpec, name: str, **more: Any) -> Iterator[NamespaceTestbed]:
        with open_lab(spec, name, **more) as testbed:
            assert isinstance(testbed, NamespaceTestbed)
            (host,) = testbed.group("db")
            apart = f"{host.scratch}/dockerd-apart"
            host.put(apart, script.encode())
            host.run(["chmod", "+x", apart])
            there = replace(binaries, dockerd=Path(apart))
            with open_daemons(testbed, there, [host]) as daemons:
                write_contexts(tmp_path / "docker", {"theirs": daemons.daemon("db-1")})
                yield testbed

    monkeypatch.setattr(catalog, "open_testbed", opened)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))


@pytest.mark.proof
@pytest.mark.usefixtures("theirs")
def test_a_study_of_processes_that_nobody_sees_has_throughput_and_reasons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, results = tmp_path / "study.yaml", tmp_path / "results"
    file.write_text(STUDY)
    words = ["run", str(file), "--results", str(results), "--format", "json"]
    monkeypatch.setattr(sys, "argv", ["dunnage", *words])
    with pytest.raises(SystemExit):
        typed_here()
    told = capsys.readouterr()
    opened = open_at(results)
    runs = {run.deployment: run for run in opened.analysis.runs}
    assert runs.keys() == {"native", *UNSEEN}, told.err
    for record in opened.records:
        unjudged = {check.check for check in record.checks if check.why is Why.UNSEEN}
        others = {check.status for check in record.checks if check.why is not Why.UNSEEN}
        # Another user of this machine may disturb a run, which is no matter of what is seen.
        assert Status.UNKNOWN not in others
        assert bool(unjudged) == (record.deployment in UNSEEN)
        assert record.measurement is not None
    assert all(run.values["throughput"] > 0 for run in runs.values())
    assert "cpu.database" in runs["native"].values
    stays = {stay.deployment: stay for stay in opened.stays}
    assert stays["native"].processes
    for name in UNSEEN:
        assert runs[name].absent == {"cpu.database": WHY, "memory.database": WHY}
        assert [each.reason for each in stays[name].unseen] == [WHY]
        assert not stays[name].processes
        assert stays[name].facts
        assert all(path.unknown.endswith(WHY) for path in stays[name].paths)
    causes = {each.difference.cause for each in opened.analysis.parity.differences}
    assert Cause.UNSEEN in causes
    assert Cause.UNDECLARED not in causes
    assert WHY in json.dumps(json.loads(told.out))
    console = Console(file=io.StringIO(), width=400)
    with console.capture() as captured:
        console.print(answer_table(opened.analysis, opened.study, opened.plan))
    shown = " ".join(captured.get().split())
    assert shown.count("Processes of theirs and bridged were not compared") == 1
