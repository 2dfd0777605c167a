"""Full disks of hosts: what they cost, what is told, and that no finished run is lost."""

from __future__ import annotations

import re

from faulty import RUNS, STUDY, Carry, complete, judged_invalid


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


def test_a_full_disk_of_a_client_is_told_and_no_finished_run_is_lost(carry_out: Carry) -> None:
    ended = carry_out(lambda world: world.fill("client-1", after=3))
    assert ended.code == 4
    assert len(ended.result.finished()) == 3
    why = r"client-1: the generator ended with code 1: .*; only 0 B are left on the disk of `/"
    assert re.match(why, str(ended.events("run failed")[0]["why"]))
    assert re.search(why, ended.shown)
    assert "dunnage run --resume" in ended.shown
