"""Names and texts of users and servers never reach a shell, a foreign path, or a terminal raw."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import faulty
import pytest
from hostile import HOSTILE, Shown, dunnage

from dunnage.hosts.fake.world import World
from dunnage.store.read import open_result

STUDY = """\
dunnage: 1
name: NAME
testbed: {kind: fake, hosts: {db: 3, client: 1, GROUP: 1}}
substrate: {FAMILY: {kind: KIND}, docker: {kind: existing, contexts: {HOST: CONTEXT}}}
database:
  {kind: fake, topology: TOPOLOGY, version: VERSION, image: IMAGE, settings: {SETTING: VALUE}}
deployments:
  plain: {platform: fake, network: NETWORK, endpoint: ENDPOINT}
  DEPLOYMENT: {platform: PLATFORM}
factors: {FACTOR: [a, b], network: [FIRST]}
workloads: [A, {name: WORKLOAD, core: A}, CORE]
load: {threads: [4], warmup: 0s, duration: 2s}
twin: TWIN
blocks: 2
generator: GENERATOR
sampler: {kind: SAMPLER}
questions:
  QUESTION: {baseline: BASELINE, against: [AGAINST], metric: METRIC}
"""
PLACES = tuple(dict.fromkeys(re.findall(r"[A-Z]{4,}", STUDY)))
Carry = Callable[..., Shown]
SAID = "".join(text for text in HOSTILE if "\x00" not in text and len(text) < 100)


@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(text)[:30] for text in HOSTILE])
def test_a_hostile_name_anywhere_in_a_study_is_refused_and_told_harmlessly(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = STUDY
    for place in PLACES:
        study = study.replace(place, json.dumps(text))
    Path("study.yaml").write_text(study)
    for verb in ("plan", "run"):
        shown = dunnage(verb, "study.yaml")
        assert shown.code == 2, shown.err
        assert shown.harmless, shown.err
        assert shown.out == ""
        assert "Traceback" not in shown.err
        assert all(line.startswith("  ") for line in shown.err.splitlines()[1:])
    assert [path.name for path in tmp_path.iterdir()] == ["study.yaml"]


@pytest.mark.parametrize("text", [text for text in HOSTILE if "\x00" not in text])
def test_a_hostile_path_is_only_a_path(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "a" / "b" / "c"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    for words in (("plan", text), ("run", text), ("report", text), ("run", "--resume", text)):
        shown = dunnage(*words)
        assert shown.code == 2
        assert shown.harmless, shown.err
        assert "Traceback" not in shown.err
    assert not list(tmp_path.rglob("owned"))


@pytest.fixture
def carry_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Carry:
    """Run a study that is right in a world that was tampered with."""

    def run(tamper: Callable[[World], None], *words: str) -> Shown:
        faulty.put_into_worlds(tamper, monkeypatch)
        (tmp_path / "study.yaml").write_text(faulty.STUDY)
        return dunnage("run", tmp_path / "study.yaml", "--results", tmp_path / "results", *words)

    return run


def _generator_that_says(world: World) -> None:
    world.programs["fake-load"] = lambda call: call.fail(SAID, 3)


def _server_that_says(world: World) -> None:
    world.programs["fake-server"] = lambda call: call.fail(SAID, 3)


def _engine_that_says(world: World) -> None:
    world.programs["dunnage-engine"] = lambda call: call.fail(SAID, 3)


@pytest.mark.parametrize("tamper", [_generator_that_says, _server_that_says, _engine_that_says])
@pytest.mark.parametrize("words", [(), ("--format", "json")], ids=["text", "json"])
def test_what_a_server_or_a_program_says_does_not_steer_the_terminal(
    carry_out: Carry,
    tmp_path: Path,
    tamper: Callable[[World], None],
    words: tuple[str, ...],
) -> None:
    shown = carry_out(tamper, *words)
    results = tmp_path / "results"
    for each in (shown, dunnage("status", results, *words), dunnage("report", results, *words)):
        assert each.code in (0, 4, 5), each.err
        assert each.harmless, ascii(each.err + each.out)
        assert "Traceback" not in each.err
    assert "alert(1)" in shown.err
    assert not list(tmp_path.rglob("owned"))


def _spoil(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, json.dumps(new)[1:-1]))


def _spoil_checksum(journal: Path, old: bytes, new: bytes) -> None:
    """Have the journal say that another file was written: whoever changes one can change both."""
    _spoil(journal, hashlib.sha256(old).hexdigest(), hashlib.sha256(new).hexdigest())
    text = journal.read_text()
    journal.write_text(text.replace(f'"size": {len(old)},', f'"size": {len(new)},'))


@pytest.mark.parametrize("name", ["../../../owned", "/tmp/owned", "..", "a/b", "\x1b[2J"])
def test_a_result_from_elsewhere_leads_to_no_path_outside_it(
    carry_out: Carry, tmp_path: Path, name: str
) -> None:
    carry_out(lambda _: None)
    result = open_result(tmp_path / "results")
    run = next(result.plan.runs())
    shutil.rmtree(result.layout.run(run.id))
    written = result.layout.plan.read_bytes()
    _spoil(result.layout.plan, run.id, name)
    _spoil_checksum(result.layout.journal, written, result.layout.plan.read_bytes())
    before = sorted(tmp_path.rglob("*"))
    for words in (("status", "ROOT"), ("report", "ROOT"), ("run", "--resume", "ROOT")):
        shown = dunnage(*(str(result.layout.root) if word == "ROOT" else word for word in words))
        assert shown.code == 4
        assert "cannot be the name of a file in a result" in shown.err
        assert shown.harmless
    assert sorted(tmp_path.rglob("*")) == before
