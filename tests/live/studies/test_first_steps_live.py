"""First studies as a user types them: on a lab that is kept, with Docker that is there or lacks."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import docker
import pytest
from bare_machine import (
    WITHOUT_DOCKERD,
    cache_of_redis,
    installed_docker,
    programs,
    typed,
)
from lab_traces import clean_away
from orchestrated import finished
from standing_labs import stands
from study_process import insist_nothing_left, started

from dunnage import lab_tool
from dunnage.model.check import Status
from dunnage.opened import OpenedResult, open_at
from dunnage.software.docker import remove_traces

pytestmark = [pytest.mark.live, pytest.mark.proof, pytest.mark.timeout(600)]

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 1, client: 1}}, cores: shared}}
database: {{kind: redis, topology: single}}
deployments:
  native: {{platform: native}}
  host: {{platform: docker, network: host}}
  bridge: {{platform: docker, network: bridge}}
unavailable: {unavailable}
workloads: [A]
records: 1000
load: {{threads: [4], warmup: 500ms, duration: 2s}}
blocks: 1
deadline: 60s
patience: 0s
"""


def written(directory: Path, unavailable: str = "refuse") -> tuple[str, Path]:
    """A study under a name of its own."""
    name, path = f"first-{uuid.uuid4().hex[:8]}", directory / "study.yaml"
    path.write_text(STUDY.format(name=name, unavailable=unavailable))
    return name, path


def carried_out(
    name: str, path: Path, *words: str, within: Sequence[str] = ()
) -> tuple[OpenedResult, str, str]:
    """The result of a study that ended by itself, what it said, and its lab."""
    results = path.parent
    every = (str(path), "--results", str(results), *words)
    with started(name, results, *every, within=within) as running:
        lab = running.until(running.lab)
        finished(running)
    return open_at(results / name), running.said, lab


def insist_driven(opened: OpenedResult, *deployments: str) -> None:
    """Each of them, and no other, was driven at its endpoint alone, without an error."""
    assert {each.deployment for each in opened.records} == set(deployments)
    for record in opened.records:
        assert record.measurement is not None
        everything = record.measurement.operations["all"]
        assert everything.count > 100
        assert not any(everything.errors.values()), (record.deployment, everything.errors)
        gates = {check.check: check.status for check in record.checks}
        assert gates["connections"] is Status.VALID


def status(lab: str) -> dict[str, Any] | None:
    """What `dunnage lab status` tells of one lab; None where it does not know it."""
    shown = typed("lab", "status", "--format", "json")
    assert shown.returncode == 0, shown.stderr
    return next((each for each in json.loads(shown.stdout) if each["lab"] == lab), None)


def insist_stands(lab: str) -> None:
    """Its hosts live, and the daemon on that of the database answers."""
    told = status(lab)
    assert told is not None
    assert told["kept"]
    assert [(host["name"], host["alive"]) for host in told["hosts"]] == [
        ("db-1", True),
        ("client-1", True),
    ]
    daemon = told["hosts"][0]["daemon"]
    with contextlib.closing(docker.DockerClient(base_url=daemon, timeout=20)) as client:
        assert client.info()["Name"] == "db-1"
        assert client.containers.list(all=True) == []


def insist_on_no_other(lab: str = "") -> None:
    """Fail if `clean --kept` would remove a lab that is not ours."""
    kept = [each.name for each in lab_tool.standing_labs() if each.kept and each.name != lab]
    assert not kept, f"`clean --kept` would remove others; dunnage lab down --lab {kept[0]}"


@pytest.mark.quiet  # other kept labs of this machine would be removed, too
def test_a_kept_lab_stands_until_kept_ones_are_to_be_removed(tmp_path: Path) -> None:
    insist_on_no_other()
    name, path = written(tmp_path)
    opened, said, lab = carried_out(name, path, "--keep")
    try:
        insist_driven(opened, "native", "host", "bridge")
        assert f"lab {lab} is left standing: 2 hosts" in said
        insist_stands(lab)
        (shell,) = re.findall("^  a shell:  dunnage (.+)$", said, re.MULTILINE)
        entered = typed(*shlex.split(shell), "--", "hostname")
        assert (entered.returncode, entered.stdout) == (0, "db-1\n")
        with stands("--hosts", "1"):  # whoever makes a lab removes what nobody owns
            insist_stands(lab)
        left = typed("clean")
        assert left.returncode == 0
        assert f"lab {lab} of `{name}` was left standing on purpose and stays" in left.stderr
        insist_stands(lab)
        insist_on_no_other(lab)
        removed = typed("clean", "--kept", "--format", "json")
        assert json.loads(removed.stdout)["removed"] == [{"lab": lab, "study": name, "hosts": 2}]
        assert status(lab) is None
    finally:
        clean_away(lab)
    insist_nothing_left(name, {lab})


def test_docker_that_is_installed_is_used_as_it_is(tmp_path: Path) -> None:
    name, path = written(tmp_path)
    try:
        within = installed_docker(tmp_path / "layer")
        opened, _, lab = carried_out(name, path, within=within)
    finally:
        remove_traces()  # which belong to whoever has Docker, and this machine has none
    insist_nothing_left(name, {lab})
    insist_driven(opened, "native", "host", "bridge")
    assert opened.result.environment["docker.origin"] == "on PATH: /usr/sbin/dockerd"


def test_what_needs_docker_is_left_out_where_there_is_none_and_the_rest_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, path = written(tmp_path, "skip")
    monkeypatch.setenv("PATH", programs(tmp_path / "bin", without=("apt-get", "dockerd")))
    monkeypatch.setenv("DUNNAGE_CACHE", str(cache_of_redis(tmp_path / "cache")))
    opened, said, lab = carried_out(name, path, within=WITHOUT_DOCKERD)
    insist_nothing_left(name, {lab})
    insist_driven(opened, "native")
    assert [each.deployment for each in opened.analysis.skipped] == ["host", "bridge"]
    why = "`dockerd` is not on PATH, and Debian's is not available: `apt-get` is not on PATH"
    for skipped in opened.analysis.skipped:
        assert skipped.reason.startswith(why)
    told = " ".join(said.split())
    assert f"host: {why}" in told
