"""Whatever breaks while a study runs is told, mended where it can be, and never hidden."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from faulty import RUNS, STUDY, Carry, Ended, complete

from dunnage.analysis.checks import against
from dunnage.analysis.looks import number
from dunnage.hosts.fake.host import Task
from dunnage.hosts.fake.world import Call, World
from dunnage.model.check import Status
from dunnage.model.record import Record
from dunnage.wording.checks import seen as said


def test_without_faults_every_stay_happens_once(carry_out: Carry) -> None:
    ended = carry_out(lambda _: None)
    assert ended.code == 0, ended.shown
    assert complete(ended)
    assert not ended.events("stay failed")
    assert len(ended.result.stays) == 4


def test_a_server_that_is_never_ready_is_told_with_its_log_and_the_study_goes_on(
    carry_out: Carry,
) -> None:
    def never(world: World) -> None:
        begin = world.programs["fake-start"]

        def start(call: Call) -> Task:
            if call.option("--member") == "shard-2-1":
                world.never_ready("shard-2-1")
            return begin(call)

        world.programs["fake-start"] = start

        # The deployment `plain` does not use the start wrapper: there the member is ready.
        serve = world.programs["fake-server"]

        def plain(call: Call) -> Task:
            world.unready.clear()
            return serve(call)

        world.programs["fake-server"] = plain

    ended = carry_out(never)
    assert ended.code == 4
    told = [str(event["why"]) for event in ended.events("stay failed")]
    assert len(told) == 4
    for why in told:
        assert "shard-2-1" in why
        assert "not ready" in why
        assert "journal without end" in why
    records = ended.result.records
    assert {record.deployment for record in records} == {"plain"}
    assert len(records) == RUNS // 2
    assert "4 of 8 runs are missing" in ended.shown
    assert f"dunnage run --resume {ended.result.layout.root}" in ended.shown
    assert "journal without end" in ended.shown


def judged_invalid(ended: Ended) -> list[tuple[Record, str]]:
    """Runs that are invalid for what became of members, each with what was seen."""
    return [
        (record, said(check))
        for record in ended.result.records
        for check in record.checks
        if (check.check, check.status) == ("members", Status.INVALID)
    ]


def test_a_member_that_dies_in_mid_run_makes_it_invalid_and_ends_its_stay(
    carry_out: Carry,
) -> None:
    ended = carry_out(lambda world: world.die("shard-1-1", after=0))
    assert complete(ended)
    ((hurt, seen),) = judged_invalid(ended)
    assert seen == "shard-1-1 on db-1 died (exit code -9)"
    # The router answered all the while, so that nothing else tells of it.
    assert [check.check for check in against(hurt.checks)] == ["members"]
    (failed,) = ended.events("stay failed")
    assert failed["stay"] == hurt.stay
    assert "shard-1-1: died: exit code -9; its log ends:" in str(failed["why"])
    assert f"{failed['stay']}.2" in {record.stay for record in ended.result.records}
    assert f"run `{hurt.run}` is invalid: members: {seen}, should be every member" in ended.shown
    study = shlex.quote(str(ended.result.layout.study))
    assert f"  try: dunnage run --keep {study}  # to look at the hosts" in ended.shown


def test_a_member_that_dies_in_the_last_run_of_its_stay_costs_no_other_stay(
    carry_out: Carry,
) -> None:
    ended = carry_out(lambda world: world.die("shard-1-1", after=1))
    assert complete(ended)
    assert len(judged_invalid(ended)) == 1
    assert not ended.events("stay failed")
    assert len(ended.result.stays) == 4


def test_runs_of_members_whose_disk_is_full_are_invalid(carry_out: Carry) -> None:
    ended = carry_out(lambda world: world.fill("db-2", after=RUNS - 1))
    assert ended.code == 5
    assert complete(ended)
    ((_, seen),) = judged_invalid(ended)
    assert seen == "only 0 B are left for the data of config-2 on db-2, shard-2-1 on db-2"


def test_a_stay_is_over_when_a_members_disk_is_full(carry_out: Carry) -> None:
    ended = carry_out(lambda world: world.fill("db-2", after=0), STUDY.replace("[A, C]", "[A]"))
    assert ended.code == 4
    ((hurt, _),) = judged_invalid(ended)
    assert ended.result.finished() == {hurt.run}
    whole = {str(event["why"]) for event in ended.events("stay failed")}
    assert whole == {"config-2: only 0 B are left for its data"}
    assert "config-2: only 0 B are left for its data" in ended.shown


@pytest.mark.parametrize("host", ["db-1", "client-1"])
def test_a_host_lost_in_mid_run_is_restored_and_no_run_is_missing(
    carry_out: Carry, host: str
) -> None:
    ended = carry_out(lambda world: world.lose(host, after=3))
    assert complete(ended)
    assert [event["host"] for event in ended.events("host restored")] == [host]
    assert len(ended.events("stay failed")) == 1


def test_a_stay_in_which_a_daemon_was_restarted_is_told(carry_out: Carry) -> None:
    ended = carry_out(lambda world: world.kill("db-2", "daemon", after=0))
    assert ended.code == 0, ended.shown
    assert complete(ended)
    assert not ended.events("stay failed")
    records = sorted(ended.result.records, key=lambda record: record.started)
    first = records[0].stay
    for record in records:
        found = [(each.host, each.program) for each in record.restarts or ()]
        assert found == ([("db-2", "daemon")] if record.stay == first else []), record.run
    analysis = json.loads(ended.result.layout.analysis.read_text())
    assert [(each["stay"], len(each["restarts"])) for each in analysis["restarted"]] == [(first, 1)]
    (noted,) = ended.events("programs restarted")
    assert (noted["stay"], noted["restarts"]) == (first, analysis["restarted"][0]["restarts"])


def test_what_was_restarted_in_a_stay_that_failed_is_in_the_journal(carry_out: Carry) -> None:
    def kill_both(world: World) -> None:
        world.kill("db-2", "daemon", after=0)
        world.die("shard-1-1", after=0)

    ended = carry_out(kill_both)
    assert complete(ended)
    (failed,), (noted,) = ended.events("stay failed"), ended.events("programs restarted")
    assert noted["stay"] == failed["stay"]
    (restart,) = noted["restarts"]
    assert (restart["host"], restart["program"], restart["code"]) == ("db-2", "daemon", -9)
    (told,) = [record for record in ended.result.records if record.restarts]
    assert (told.stay, told.status) == (failed["stay"], Status.INVALID)


def test_a_generator_that_fails_once_has_its_run_repeated(carry_out: Carry) -> None:
    calls: list[str] = []

    def fail_third(world: World) -> None:
        load = world.programs["fake-load"]

        def flaky(call: Call) -> Task:
            calls.append(call.option("--plan"))
            return call.fail("segmentation fault", 139) if len(calls) == 3 else load(call)

        world.programs["fake-load"] = flaky

    ended = carry_out(fail_third)
    assert complete(ended)
    (failed,) = ended.events("run failed")
    assert "code 139: segmentation fault" in str(failed["why"])
    finished = [event["run"] for event in ended.events("run finished")]
    assert sorted(map(str, finished)) == sorted(run.id for run in ended.result.plan.runs())


def test_a_generator_that_stands_still_while_it_loads_costs_one_run_and_is_told(
    carry_out: Carry,
) -> None:
    stopped: list[str] = []

    def stop_first(world: World) -> None:
        load = world.programs["fake-load"]

        def held(call: Call) -> Task:
            if "loading/" in call.option("--plan") and not stopped:
                stopped.append(call.option("--plan"))
                call.process.signal("STOP")
            return load(call)

        world.programs["fake-load"] = held

    ended = carry_out(stop_first)
    assert complete(ended)
    (failed,) = ended.events("run failed")
    assert "client-1: no operation was answered for 40 s" in str(failed["why"])
    assert "no operation was answered for 40 s" in ended.shown


def test_loading_that_takes_longer_than_an_hour_goes_on(carry_out: Carry) -> None:
    def slow(world: World) -> None:
        load = world.programs["fake-load"]

        def slower(call: Call) -> Task:
            made = load(call)
            if "loading/" not in call.option("--plan"):
                return made
            told = call.world.loads[-1]
            told.rate, told.ended = 0.01, told.began + 4000.0
            return replace(made, seconds=4000.0)

        world.programs["fake-load"] = slower

    ended = carry_out(slow, STUDY.replace("load: {", "load: {timeout: 100s, "))
    assert complete(ended)
    assert not ended.events("run failed")


def test_a_study_that_others_disturb_says_early_who_they_are_and_goes_on(carry_out: Carry) -> None:
    ended = carry_out(lambda world: world.disturb("stress", 2.0))
    assert ended.code == 5
    assert complete(ended)
    assert ended.shown.count("no run can be used") == 1
    (told,) = [line for line in ended.shown.splitlines() if "no run can be used" in line]
    assert "in block 1 no run can be used (4 runs). 4 runs: other programs on this" in told
    assert "(busiest: stress)" in told
    assert f"Ctrl-C; to go on later: dunnage run --resume {ended.result.layout.root}" in told
    for record in ended.result.records:
        (fired,) = [check for check in record.checks if check.status is not Status.VALID]
        assert said(fired).endswith(" used by others (busiest: stress)")


def test_a_study_of_which_nothing_happens_stops_and_says_how_to_go_on(carry_out: Carry) -> None:
    def fail_all(world: World) -> None:
        world.programs["fake-load"] = lambda call: call.fail("segmentation fault", 139)

    ended = carry_out(fail_all, STUDY.replace("blocks: 2", "blocks: 9") + "spare: 2\n")
    assert ended.code == 4
    assert not ended.result.finished()
    assert {str(event["stay"])[:3] for event in ended.events("stay failed")} == {
        "b01",
        "b02",
        "b03",
    }
    (stopped,) = ended.events("study stopped")
    assert "nothing could be compared in 3 blocks" in str(stopped["why"])
    assert "in block 1 no run can be used (4 runs). 4 runs did not happen" in ended.shown
    assert "segmentation fault" in ended.shown
    assert f"Mend what failed, then: dunnage run --resume {ended.result.layout.root}" in ended.shown
    assert len(ended.result.plan.blocks) == 9


def test_a_spare_block_takes_the_place_of_a_spoilt_one_and_is_no_look(carry_out: Carry) -> None:
    def fail_one(world: World) -> None:
        load = world.programs["fake-load"]

        def broken(call: Call) -> Task:
            spoilt = "runs/b01-plain-A-t4" in call.option("--plan")
            return call.fail("segmentation fault", 139) if spoilt else load(call)

        world.programs["fake-load"] = broken

    ended = carry_out(fail_one, STUDY + "spare: 3\n")
    result = ended.result
    assert [block.index for block in result.plan.blocks] == [1, 2, 3]
    missing = {run.id for run in result.plan.runs()} - result.finished()
    assert missing == {"b01-plain-A-t4"}
    assert [(look.added, look.spare) for look in result.looks] == [(1, True)]
    assert number(result.looks) == 1
    assert "4 runs more: spare blocks replace blocks with missing or disturbed runs" in ended.shown
    assert len(ended.events("stay failed")) == 2


def test_there_are_no_more_spare_blocks_than_the_study_allows(carry_out: Carry) -> None:
    def fail_all(world: World) -> None:
        world.programs["fake-load"] = lambda call: call.fail("segmentation fault", 139)

    ended = carry_out(fail_all, STUDY + "spare: 1\n")
    assert len(ended.result.plan.blocks) == 3
    assert not ended.result.finished()


def test_a_clock_that_is_ahead_changes_nothing_of_what_is_measured(carry_out: Carry) -> None:
    def ahead(world: World) -> None:
        world.ahead("db-1", 0.5)
        world.ahead("client-1", -0.5)

    straight, skewed = carry_out(lambda _: None), carry_out(ahead)
    for one, other in zip(straight.result.records, skewed.result.records, strict=True):
        assert one.run == other.run
        assert one.status == other.status
        assert one.measurement is not None
        assert other.measurement is not None
        assert one.measurement.operations == other.measurement.operations
        for here, there in zip(one.usage, other.usage, strict=True):
            assert there.samples == pytest.approx(here.samples, abs=1)
            assert there.whole.cpu == pytest.approx(here.whole.cpu, rel=0.02, abs=1e-4)
            assert set(there.units) == set(here.units)


@pytest.mark.parametrize("host", ["db-1", "client-1"])
@pytest.mark.parametrize("seconds", [-0.7, -3600.0, 90.0])
def test_a_clock_that_is_set_in_mid_run_costs_one_more_attempt_and_is_told(
    carry_out: Carry, host: str, seconds: float
) -> None:
    straight = carry_out(lambda _: None).result
    ended = carry_out(lambda world: world.ahead(host, seconds, after=2))
    assert complete(ended)
    assert ended.code == 0, ended.shown
    (again,) = [record for record in ended.result.records if record.earlier]
    (attempt,) = again.earlier
    told = {check.check: said(check) for check in attempt.checks}
    way = "back" if seconds < 0 else "ahead"
    assert f"the clock of {host} was set {way} by" in told["clock"]
    assert told["clock"] in ended.shown
    for one, other in zip(straight.records, ended.result.records, strict=True):
        assert other.status is Status.VALID
        for here, there in zip(one.usage, other.usage, strict=True):
            assert there.whole.cpu == pytest.approx(here.whole.cpu, rel=0.02, abs=1e-4)


def test_a_clock_that_is_set_in_every_run_makes_runs_invalid_with_that_reason(
    carry_out: Carry,
) -> None:
    def restless(world: World) -> None:
        load = world.programs["fake-load"]

        def set_back(call: Call) -> Task:
            world.clock.at(
                world.clock.now() + 1.0,
                lambda: world.ahead("db-2", world.hosts["db-2"].clock_offset() - 0.4),
            )
            return load(call)

        world.programs["fake-load"] = set_back

    ended = carry_out(restless)
    assert ended.code == 5
    assert complete(ended)
    for record in ended.result.records:
        assert record.status is Status.INVALID
        seen = {check.check: said(check) for check in record.checks}
        assert seen["clock"] == "the clock of db-2 was set back by 400 ms"
        (used,) = [usage for usage in record.usage if usage.host == "db-2"]
        assert used.whole.cpu is None
        assert "set back" in used.absent["cpu"]


def test_ten_mistakes_are_all_told_at_once_with_their_lines() -> None:
    golden = Path(__file__).parents[1] / "golden" / "study" / "ten-mistakes.yaml"
    told = subprocess.run(
        [sys.executable, "-m", "dunnage", "run", str(golden)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert told.returncode == 2
    assert told.stdout == ""
    lines = [line for line in told.stderr.splitlines() if line.startswith("  line ")]
    assert len(lines) >= 10
    numbers = [int(line.split()[1].rstrip(":")) for line in lines]
    assert numbers == sorted(numbers)
    assert f"{len(lines)} problems" in told.stderr
    assert f"try: dunnage plan {shlex.quote(str(golden))}" in told.stderr
    assert "Traceback" not in told.stderr


def test_where_no_stay_is_ever_ready_for_one_reason_it_is_said_once_and_the_study_is_to_be_mended(
    carry_out: Carry,
) -> None:
    def never(world: World) -> None:
        for member in ("shard-1-1", "shard-2-1"):
            world.never_ready(member)

    ended = carry_out(never, STUDY.replace("blocks: 2", "blocks: 1"))
    assert ended.code == 4
    assert len(ended.events("stay failed")) == 4
    assert not ended.events("stay ready")
    assert ended.shown.count("failed: the same as before") == 3
    assert "The study goes on" not in ended.shown
    assert "no deployment became ready, always for the same reason" in ended.shown
    assert "mend the study, then start a new result: dunnage run " in ended.shown
