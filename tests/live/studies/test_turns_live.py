"""Deployments that live at once and are driven in turns: real ones, watched and hurt."""

from __future__ import annotations

import os
import signal
import uuid
from itertools import pairwise
from pathlib import Path

import pytest
from study_process import insist_nothing_left, started, under_way

from dunnage.model.load import SETTLING, TURN_CONTROL
from dunnage.model.record import Record
from dunnage.store.read import Result, open_result
from dunnage.wording.checks import seen

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 2, client: 1}}}}
database: {{kind: redis, topology: replicas, members: 2}}
deployments:
  native: {{platform: native}}
  bridge: {{platform: docker, network: bridge}}
twin: native
workloads: [C]
records: 1000
load: {{threads: [8], turns: 500ms, warmup: 500ms, conditioning: 1s, duration: {duration}}}
blocks: 1
sampler: {{rate: 5Hz}}
patience: 0s
deadline: 60s
"""


def written(directory: Path, duration: str) -> tuple[str, Path]:
    name = f"turns-{uuid.uuid4().hex[:8]}"
    path = directory / "study.yaml"
    path.write_text(STUDY.format(name=name, duration=duration))
    return name, path


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """One block."""
    results = tmp_path_factory.mktemp("turns")
    name, path = written(results, "2s")
    with started(name, results, str(path), "--results", str(results)) as running:
        lab = running.until(running.lab)
        assert running.wait() in (0, 5), running.said
    insist_nothing_left(name, {lab})
    return open_result(results / name)


def of(result: Result, deployment: str) -> Record:
    (found,) = [each for each in result.records if each.deployment == deployment]
    return found


def test_everybody_has_the_same_number_of_turns_and_never_two_at_once(result: Result) -> None:
    turns = sorted(
        (turn for record in result.records for turn in record.turns), key=lambda turn: turn.began
    )
    names = [turn.name for turn in turns]
    assert {name: names.count(name) for name in set(names)} == {
        "native": 4,
        "native-twin": 4,
        "bridge": 4,
    }
    for before, after in pairwise(turns):
        assert before.ended <= after.began
    rounds = [tuple(names[at : at + 3]) for at in range(0, len(names), 3)]
    assert all(len(set(each)) == 3 for each in rounds)


def test_what_counts_lies_in_the_own_turns_and_others_stand_still_meanwhile(
    result: Result,
) -> None:
    for record in result.records:
        assert record.measurement is not None
        own = sum(turn.ended - turn.began - SETTLING for turn in record.turns)
        assert record.measurement.seconds == pytest.approx(own)
        assert record.measurement.operations["all"].count > 0
        assert record.measurement.operations["all"].service is None
        checks = {check.check: check for check in record.checks}
        assert checks["idle"].status == "valid", seen(checks["idle"])
        assert checks["connections"].status == "valid", seen(checks["connections"])
        assert not any(record.measurement.operations["all"].errors.values())


def test_where_a_deployment_needs_no_daemon_its_hosts_have_none_that_does_anything(
    result: Result,
) -> None:
    for record in result.records:
        used = [host.units["daemon"].cpu for host in record.usage if host.group != "client"]
        assert None not in used
        assert (sum(cpu or 0.0 for cpu in used) > 1e-4) == (record.deployment == "bridge")
        assert sum(host.sampler_cpu or 0.0 for host in record.usage) > 0


def test_after_each_turn_a_control_is_measured_while_nobody_runs(result: Result) -> None:
    for record in result.records:
        for turn in record.turns:
            assert turn.control is not None
            assert sorted(turn.control) == ["arithmetic", "loopback"]
            assert all(rate > 0 for rate in turn.control.values()), turn.control
    turns = sorted(
        (turn for record in result.records for turn in record.turns), key=lambda turn: turn.began
    )
    for before, after in pairwise(turns):
        assert after.began - before.ended > 1.9 * TURN_CONTROL


def test_all_deployments_are_conditioned_at_once(result: Result) -> None:
    told = [event for event in result.events() if event["event"] == "conditioned"]
    assert len(told) == 4  # three in turns, and the one that is measured alone
    assert all(int(str(event["operations"])) > 0 for event in told)


def test_every_record_says_how_long_its_database_was_waited_for(result: Result) -> None:
    records = (*result.records, *result.alone_records)
    assert len(records) == 4
    assert all(record.settled is not None and record.settled > 0 for record in records)


def test_deployments_live_on_hosts_of_their_own_and_one_is_measured_by_itself(
    result: Result,
) -> None:
    hosts = {
        record.deployment: {used.host for used in record.usage if used.group != "client"}
        for record in result.records
    }
    every = [host for found in hosts.values() for host in found]
    assert len(every) == len(set(every)) == 6
    (alone,) = result.alone_records
    assert alone.turns == () and alone.measurement is not None
    assert alone.measurement.operations["all"].service is None


@pytest.mark.proof
def test_killed_in_the_middle_of_a_turn_nothing_stands_still_for_ever(tmp_path: Path) -> None:
    name, path = written(tmp_path, "2s")
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        lab = running.until(running.lab)
        running.until(lambda: running.member("turns --plan"))
        running.kill()
    with started(name, tmp_path, "--resume", str(tmp_path / name)) as resumed:
        after = resumed.until(resumed.lab)
        teller = resumed.until(lambda: resumed.member("turns --plan"))
        os.kill(teller, signal.SIGKILL)
        resumed.until(lambda: resumed.member("turns --plan") not in (None, teller))
        resumed.process.terminate()
        resumed.wait()
    insist_nothing_left(name, {lab, after})


@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.proof)])
def test_ctrl_c_while_deployments_start_side_by_side_leaves_nothing(
    tmp_path: Path, times: int
) -> None:
    name, path = written(tmp_path, "2s")
    with under_way(name, path, lambda study: study.member("redis-server")) as running:
        running.process.send_signal(signal.SIGINT)
        if times == 2:
            running.until(lambda: "Ctrl-C again" in running.said)
            running.process.send_signal(signal.SIGINT)
        assert running.wait() == 130
    if times == 2:
        assert running.result().finished() == set()
    assert "dunnage run --resume" in running.said


@pytest.mark.proof
def test_a_member_that_dies_in_turns_fails_its_block_under_its_deployments_name(
    tmp_path: Path,
) -> None:
    name, path = written(tmp_path, "2s")
    with under_way(name, path, lambda study: study.member("turns --plan")) as running:
        os.kill(running.until(lambda: running.member("redis-server")), signal.SIGKILL)
        assert running.wait() in (0, 5), running.said
    result = running.result()
    assert result.finished() == {run.id for run in result.plan.runs()}, running.said
    failed = [event for event in result.events() if event["event"] == "stay failed"]
    assert failed, running.said
    assert any("`native" in str(event) or "`bridge`" in str(event) for event in failed), failed
