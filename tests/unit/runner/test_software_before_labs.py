"""Software that has to be built is had before there is a lab, and before others wait for it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from dunnage import catalog, lab_tool
from dunnage.cli.shared.studies import planned
from dunnage.contracts.kubernetes import KubernetesBinaries
from dunnage.errors import UnavailableError
from dunnage.runner.interrupt import ENDING_NOW, Stop
from dunnage.runner.one_stay import paths_of
from dunnage.runner.standing_lab import stand_up
from dunnage.runner.study import carry_out
from dunnage.runner.substrates import obtain_software
from dunnage.software.trees import DebianSoftware
from dunnage.store.write import ResultWriter
from dunnage.study.matrix import deployments
from dunnage.study.read import read_study
from dunnage.substrates.kubernetes.choices import Choices

STUDY = """\
dunnage: 1
name: built
testbed: {kind: namespace, hosts: {db: 1, client: 1}}
database: {kind: redis, topology: single}
deployments:
  pods: {platform: kubernetes}
workloads: [A]
load: {threads: [1], duration: 2s}
"""
LINES = ["Kubernetes is built", "cluster: 7 of at most 9 packages, 30 s"]


class Said:
    """A watcher that keeps what it is told; nothing of a study begins."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def say(self, message: str) -> None:
        self.told.append(message)


def never(*_: object, **__: object) -> NoReturn:
    raise AssertionError("there is a lab, or others wait")


def built_by(monkeypatch: pytest.MonkeyPatch, ends: Callable[[], object]) -> None:
    """Have Kubernetes tell two lines while it is built, and then `ends`; no lab may begin."""

    def build(_: DebianSoftware, tell: Callable[[str], None]) -> KubernetesBinaries:
        for line in LINES:
            tell(line)
        ends()
        raise UnavailableError("the build failed")

    monkeypatch.setattr(DebianSoftware, "kubernetes", build)
    monkeypatch.setattr(catalog, "measuring", never)
    monkeypatch.setattr(catalog, "open_testbed", never)
    monkeypatch.setattr(lab_tool, "open_lab", never)


def carried_out(tmp_path: Path, watcher: Said, stop: Stop) -> None:
    study = read_study(STUDY, "built.yaml", catalog.OFFER)
    plan, _ = planned(study)
    writer = ResultWriter.create(tmp_path, study.name, STUDY, plan)
    carry_out(study, plan, writer, frozenset(), watcher, stop)  # type: ignore[arg-type]


def test_a_study_has_it_built_before_anything_else_and_tells_each_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    built_by(monkeypatch, lambda: None)
    watcher = Said()
    with pytest.raises(UnavailableError, match="the build failed"), Stop() as stop:
        carried_out(tmp_path, watcher, stop)
    assert watcher.told == LINES


def test_the_first_signal_ends_a_study_at_once_while_it_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    built_by(monkeypatch, lambda: signal.raise_signal(signal.SIGINT))
    told: list[str] = []
    with pytest.raises(KeyboardInterrupt), Stop(told.append) as stop:
        carried_out(tmp_path, Said(), stop)
    assert told == [ENDING_NOW]


def test_a_look_at_paths_and_a_lab_without_a_study_have_it_built_first_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built_by(monkeypatch, lambda: None)
    monkeypatch.setattr(catalog, "insist_on_machine", lambda *_: None)
    study = read_study(STUDY, "built.yaml", catalog.OFFER)
    (pods,) = deployments(study, catalog.OFFER)
    told: list[str] = []
    with pytest.raises(UnavailableError, match="the build failed"), Stop() as stop:
        paths_of(study, pods, told.append, stop, never)
    with pytest.raises(UnavailableError, match="the build failed"):
        stand_up(1, ["kubernetes"], choices=Choices(), expose=False, tell=told.append)
    assert told == LINES * 2


def test_what_exists_already_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    built_by(monkeypatch, lambda: None)
    text = STUDY.replace(
        "{kind: namespace, hosts: {db: 1, client: 1}}",
        "{kind: nodes, context: mine, image: busy, hosts: {db: 1, client: 1}}",
    ).replace("{kind: redis,", "{kind: redis, image: 'redis:7.0',")
    study = read_study(text, "built.yaml", catalog.OFFER)
    plan, _ = planned(study)
    told: list[str] = []
    obtain_software(study, plan, told.append)
    assert told == []
