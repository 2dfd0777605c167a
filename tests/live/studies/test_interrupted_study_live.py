"""Real studies that are hurt: no finished run is lost or repeated, and nothing is left."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from study_process import (
    StudyProcess,
    begun,
    driven,
    in_a_run,
    insist_clean_removes,
    insist_nothing_left,
    started,
    under_way,
)

from dunnage.model.check import Status
from dunnage.wording.checks import seen

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 2, client: 1}}, cores: shared}}
database: {{kind: redis, topology: replicas, members: 2}}
deployments:
  native: {{platform: native}}
  {other}
workloads: {workloads}
records: 1000
load: {{threads: [8], warmup: 500ms, duration: {duration}}}
blocks: {blocks}
deadline: 30s
patience: 0s
"""


BRIDGE = "bridge: {platform: docker, network: bridge}"
SWARM = "swarm: {platform: swarm, endpoint: container-dns, client: container}"
KUBERNETES = (
    "kubernetes: {platform: kubernetes, network: flannel-vxlan, endpoint: container-dns, "
    "client: container}"
)
PART = 7.0
"""Seconds of a study with a Kubernetes in which one of ten is killed: ten of them are less than it
takes. In the first the lab is made, in the next the cluster, in the others stays come and go."""


def written(
    directory: Path, *, blocks: int, duration: str, workloads: str = "[A, C]", other: str = BRIDGE
) -> tuple[str, Path]:
    """A study under a name of its own."""
    name = f"hurt-{uuid.uuid4().hex[:8]}"
    path = directory / "study.yaml"
    path.write_text(
        STUDY.format(name=name, blocks=blocks, duration=duration, workloads=workloads, other=other)
    )
    return name, path


@pytest.fixture
def study(tmp_path: Path) -> tuple[str, Path]:
    """A study under a name of its own, of about 40 s."""
    return written(tmp_path, blocks=3, duration="2s")


@pytest.fixture
def on_a_swarm(tmp_path: Path) -> tuple[str, Path]:
    """The same, with a Swarm beside the native deployment."""
    return written(tmp_path, blocks=3, duration="2s", other=SWARM)


@pytest.fixture
def on_a_kubernetes(tmp_path: Path) -> tuple[str, Path]:
    """The same, with a Kubernetes."""
    return written(tmp_path, blocks=3, duration="2s", other=KUBERNETES)


@pytest.fixture
def short(tmp_path: Path) -> tuple[str, Path]:
    """One block of a short run of each deployment."""
    return written(tmp_path, blocks=1, duration="2s", workloads="[A]")


@pytest.fixture
def native(tmp_path: Path) -> tuple[str, Path]:
    """Two short runs in a stay without Docker, for what has nothing to do with that."""
    return written(tmp_path, blocks=1, duration="2s", other="")


def insist_resumed(killed: StudyProcess, labs: set[str]) -> None:
    """Fail unless a study that was killed goes on to its end and leaves nothing of any lab."""
    name, results = killed.study, killed.results
    before = killed.result().finished()
    with started(name, results, "--resume", str(results / name)) as resumed:
        if len(before) < len(list(killed.result().plan.runs())):
            labs = labs | {resumed.until(resumed.lab)}
        assert resumed.wait() in (0, 5), resumed.said
    assert before <= resumed.result().finished()
    insist_complete(resumed)
    insist_nothing_left(name, labs)


def insist_complete(running: StudyProcess) -> None:
    result = running.result()
    assert result.finished() == {run.id for run in result.plan.runs()}, running.said
    ended = [event["run"] for event in result.events() if event["event"] == "run finished"]
    assert len(ended) == len(set(ended))


def test_kill_9_then_resume_gives_the_whole_set(native: tuple[str, Path], tmp_path: Path) -> None:
    name, path = native
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        lab = running.until(running.lab)
        running.until(lambda: (tmp_path / name).exists() and running.result().finished())
        running.kill()
    insist_resumed(running, {lab})


@pytest.mark.proof
@pytest.mark.parametrize("round_", range(10))
def test_kill_9_at_a_random_moment_then_resume_gives_the_whole_set(
    study: tuple[str, Path],
    tmp_path: Path,
    round_: int,
    record_property: Callable[[str, object], None],
) -> None:
    insist_resumed(*killed(study, tmp_path, (3.0, 25.0), record_property))


@pytest.mark.proof
@pytest.mark.parametrize("round_", range(10))
def test_kill_9_with_a_swarm_up_then_resume_gives_the_whole_set(
    on_a_swarm: tuple[str, Path],
    tmp_path: Path,
    round_: int,
    record_property: Callable[[str, object], None],
) -> None:
    insist_resumed(*killed(on_a_swarm, tmp_path, (3.0, 45.0), record_property))


@pytest.mark.proof
@pytest.mark.kubernetes
@pytest.mark.parametrize("round_", range(10))
def test_kill_9_with_a_kubernetes_up_leaves_nothing_that_clean_cannot_remove(
    on_a_kubernetes: tuple[str, Path],
    tmp_path: Path,
    round_: int,
    record_property: Callable[[str, object], None],
) -> None:
    """Each is killed in another part of its time, and goes on to its end after that."""
    between = 3.0 + PART * round_, 3.0 + PART * (round_ + 1)
    running, labs = killed(on_a_kubernetes, tmp_path, between, record_property)
    insist_clean_removes(running.study, labs)
    insist_resumed(running, labs)


@pytest.mark.kubernetes
def test_kill_9_during_a_run_on_a_kubernetes_leaves_nothing_that_clean_cannot_remove(
    tmp_path: Path,
) -> None:
    name, path = written(tmp_path, blocks=1, duration="5min", workloads="[A]", other=KUBERNETES)
    path.write_text(path.read_text().replace("native: {platform: native}", ""))
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        lab = running.until(running.lab)
        running.until(lambda: begun(running))
        assert running.program("kube-apiserver") and running.program("kubelet")
        running.kill()
    assert not running.result().finished()
    insist_clean_removes(name, {lab})


def killed(
    study: tuple[str, Path],
    tmp_path: Path,
    between: tuple[float, float],
    record: Callable[[str, object], None],
) -> tuple[StudyProcess, set[str]]:
    """Kill a study at a random moment between these seconds after its start; it and its labs."""
    name, path = study
    seed = random.SystemRandom().randrange(2**32)
    moment = random.Random(seed).uniform(*between)
    labs: set[str] = set()
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        ends = time.monotonic() + moment
        while time.monotonic() < ends and running.process.poll() is None:
            labs |= {running.lab() or ""} - {""}
            time.sleep(0.1)
        assert running.process.poll() is None, f"it ended before {moment:.1f} s: {running.said}"
        running.kill()
    if not (tmp_path / name).exists():
        pytest.fail(f"nothing was planned within {moment:.1f} s: {running.said}")
    done, planned = running.result().finished(), len(list(running.result().plan.runs()))
    seen = f"seed {seed}: killed after {moment:.2f} s, with {len(done)} of {planned} runs finished"
    record("seen", seen)
    return running, labs


def test_a_load_generator_killed_during_a_run_has_that_run_repeated(
    native: tuple[str, Path],
) -> None:
    with under_way(*native, in_a_run) as running:
        os.kill(running.until(lambda: running.member("load")), signal.SIGKILL)
        assert running.wait() in (0, 5), running.said
    insist_complete(running)
    assert "run failed" in [str(event["event"]) for event in running.result().events()]
    assert "failed" in running.said


def test_a_load_generator_whose_disk_is_full_is_told_with_that_and_its_run_is_repeated(
    native: tuple[str, Path],
) -> None:
    with under_way(*native, driven) as running:
        pid = running.until(lambda: running.member("runs/"))
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        full = 'mount -t tmpfs -o size=4k tmpfs "$0" && head -c 4096 /dev/zero > "$0/filled"'
        there = ("nsenter", "-t", str(pid), "-m", "sh", "-c", full, words[words.index("--out") + 1])
        subprocess.run(there, check=True)
        assert running.wait() in (0, 5), running.said
    insist_complete(running)
    (failed,) = [event for event in running.result().events() if event["event"] == "run failed"]
    assert "only 0 B are left on the disk of `" in str(failed["why"])
    said = " ".join(running.said.split())
    assert "only 0 B are left on the disk of `" in said
    assert "# then: dunnage lab shell client-1 -- df" in said


def test_a_member_killed_during_a_run_makes_that_run_invalid_and_no_other(
    native: tuple[str, Path],
) -> None:
    with under_way(*native, driven) as running:
        os.kill(running.until(lambda: running.member("redis-server")), signal.SIGKILL)
        assert running.wait() in (0, 5), running.said
    insist_complete(running)
    gone = [
        check
        for record in running.result().records
        for check in record.checks
        if (check.check, check.status) == ("members", Status.INVALID)
    ]
    assert len(gone) == 1
    assert f"members: {seen(*gone)}" in running.said
    assert " died (" in seen(*gone)


def test_ctrl_c_once_finishes_the_run_and_leaves_nothing(native: tuple[str, Path]) -> None:
    with under_way(*native, in_a_run) as running:
        running.process.send_signal(signal.SIGINT)
        assert running.wait() == 130
    assert len(running.result().finished()) == 1
    assert "dunnage run --resume" in running.said


def test_ctrl_c_twice_ends_now_and_leaves_nothing(short: tuple[str, Path]) -> None:
    with under_way(*short, in_a_run) as running:
        running.process.send_signal(signal.SIGINT)
        running.until(lambda: "Ctrl-C again" in running.said)
        running.process.send_signal(signal.SIGINT)
        assert running.wait() == 130
    assert len(running.result().finished()) == 0


def test_a_full_disk_keeps_finished_runs_and_says_how_to_go_on(
    tmp_path: Path,
) -> None:
    name, path = written(tmp_path, blocks=2, duration="2s", other="")
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(small)], check=True)
    try:
        with started(name, tmp_path, str(path), "--results", str(small)) as running:
            lab = running.until(running.lab)
            assert running.wait() == 4, running.said
        assert "the disk is full" in " ".join(running.said.split())
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        with started(name, tmp_path, "--resume", str(small / name)) as resumed:
            resumed.results = small
            assert resumed.wait() in (0, 5), resumed.said
        insist_complete(resumed)
    finally:
        subprocess.run(["umount", str(small)], check=True)
    insist_nothing_left(name, {lab})


@pytest.mark.proof
def test_a_load_generator_that_stands_still_costs_its_run_only(tmp_path: Path) -> None:
    """Nobody lets it go on: after its time and some patience it is ended, and its run repeated."""
    name, path = written(tmp_path, blocks=1, duration="2s", workloads="[A]", other="")
    path.write_text(path.read_text().replace("warmup:", "timeout: 2s, warmup:"))
    with under_way(name, path, in_a_run) as running:
        os.kill(running.until(lambda: running.member("load")), signal.SIGSTOP)
        assert running.wait() in (0, 5), running.said
    insist_complete(running)
    assert "the generator did not end within" in running.said


@pytest.mark.proof
def test_a_load_generator_that_stands_still_while_it_loads_costs_one_run_only(
    short: tuple[str, Path], tmp_path: Path
) -> None:
    """Loading has no set time, so it is judged by its progress."""
    name, path = short
    slow = path.read_text().replace("records: 1000", "records: 200000")
    path.write_text(slow.replace("warmup:", "timeout: 2s, warmup:"))
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        lab = running.until(running.lab)
        os.kill(running.until(lambda: running.member("loading/")), signal.SIGSTOP)
        assert running.wait() in (0, 5), running.said
    insist_complete(running)
    assert "no operation was answered for 32 s" in " ".join(running.said.split())
    insist_nothing_left(name, {lab})


def test_a_result_that_is_removed_during_a_run_ends_the_study_and_leaves_nothing(
    native: tuple[str, Path], tmp_path: Path
) -> None:
    name, _ = native
    with under_way(*native, in_a_run) as running:
        shutil.rmtree(tmp_path / name)
        assert running.wait() == 4, running.said
    assert "the directory was removed" in running.said
    assert "Traceback" not in running.said
    assert not (tmp_path / name).exists()


def test_a_directory_for_temporary_files_without_room_is_not_needed(
    native: tuple[str, Path], tmp_path: Path
) -> None:
    name, path = native
    full = tmp_path / "full"
    full.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(full)], check=True)
    try:
        (full / "filled").write_bytes(b"x" * 4096)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TMPDIR", str(full))
            with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
                assert running.wait() in (0, 5), running.said
    finally:
        subprocess.run(["umount", str(full)], check=True)
    insist_complete(running)
