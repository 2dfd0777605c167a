"""Load in turns, in a study file and in its plan."""

from __future__ import annotations

from collections import Counter

import pytest

from dunnage.errors import StudyError
from dunnage.model.plan import Plan
from dunnage.model.study import Study
from dunnage.runner.study import every_deployment
from dunnage.study.expected_time import estimate_seconds
from dunnage.study.matrix import deployments
from dunnage.study.part import filter_plan
from dunnage.study.plan import make_plan
from dunnage.study.read import read_study
from dunnage.study.slots import slot, with_slots
from offers import OFFER

TEXT = """
dunnage: 1
name: turns
testbed: {kind: namespace, hosts: {db: 3, client: 1}}
database: {kind: redis, topology: replicas, members: 3}
deployments:
  native: {platform: native}
  host: {platform: docker, network: host}
  bridge: {platform: docker, network: bridge}
twin: native
workloads: [A, C]
load: {threads: [32], turns: 600ms, duration: 6s}
blocks: 8
sampler: {rate: 5Hz}
questions:
  q: {baseline: native, against: [host, bridge]}
"""


def study(text: str = TEXT) -> Study:
    return read_study(text, "study.yaml", OFFER)


def plan() -> Plan:
    return make_plan(study(), deployments(study(), OFFER))


def test_every_deployment_lives_equally_often_on_each_group_of_hosts() -> None:
    places = Counter(
        (stay.deployment, stay.hosts) for block in plan().blocks for stay in block.stays
    )
    names = [each.name for each in plan().deployments]
    groups = [slot("db", place) for place in range(4)]
    assert groups == ["db", "db.2", "db.3", "db.4"]
    assert places == {(name, group): 2 for name in names for group in groups}


@pytest.mark.parametrize(
    ("turns", "rate", "said"),
    [
        ("600ms", "1Hz", "rate: 2Hz"),
        ("250ms", "2Hz", "rate: 3Hz"),
        ("150ms", "4Hz", "rate: 5Hz"),
    ],
)
def test_hosts_are_read_often_enough_to_tell_what_each_does_while_it_waits(
    turns: str, rate: str, said: str
) -> None:
    text = TEXT.replace("turns: 600ms", f"turns: {turns}")
    assert study(text).load.turns is not None
    with pytest.raises(StudyError) as refused:
        study(text.replace("rate: 5Hz", f"rate: {rate}"))
    (problem,) = refused.value.problems
    assert "is too low" in problem.what
    assert said in problem.hint


def test_of_two_deployments_each_waits_for_one_turn_at_a_time() -> None:
    two = TEXT.replace("twin: native\n", "").replace("  bridge:", "  # bridge:")
    two = two.replace("[host, bridge]", "[host]").replace("600ms", "200ms")
    with pytest.raises(StudyError) as refused:
        study(two)
    assert "rate: 14Hz" in refused.value.problems[0].hint


def test_the_testbed_has_a_group_for_each_and_one_client() -> None:
    spec = with_slots(study(), plan().deployments)
    assert dict(spec.hosts) == {"db": 3, "db.2": 3, "db.3": 3, "db.4": 3, "client": 1}
    plain = study(TEXT.replace("turns: 600ms, ", ""))
    assert with_slots(plain, plan().deployments) == plain.testbed


def test_each_block_has_another_deployment_alone_and_its_runs_are_no_part_of_the_others() -> None:
    alone = [block.alone for block in plan().blocks]
    assert all(stay is not None for stay in alone)
    assert Counter(stay.deployment for stay in alone if stay) == {
        each.name: 2 for each in plan().deployments
    }
    for block in plan().blocks:
        assert block.alone is not None
        beside = next(stay for stay in block.stays if stay.deployment == block.alone.deployment)
        assert block.alone.hosts == beside.hosts
    assert {run.id for run in plan().runs()}.isdisjoint({run.id for run in plan().alone()})
    assert [run.position for run in plan().runs()] == list(range(8 * 4 * 2))
    assert not list(
        make_plan(study(TEXT.replace("turns: 600ms, ", "")), plan().deployments).alone()
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("turns: 600ms", "turns: 50ms", "`turns` must be at least 0.15s, not `50ms`"),
        ("duration: 6s", "duration: 2s", "each deployment needs 4 turns"),
        ("threads: [32]", "rate: [2000]", "`rate` is not possible with `turns`"),
        ("client: 1", "client: 2", "cannot switch turns at the same moment"),
        ("blocks: 8", "blocks: 8\ndata: restore", "every stay loads its records"),
        ("[A, C]", "[A, D]", "`D` inserts records, which is not possible"),
        ("network: bridge", "network: bridge, client: container", "cannot be paused"),
        ("[host, bridge]", "[host, bridge], metric: service.p95", "load in turns does not measure"),
        (
            "network: bridge",
            "network: bridge, slowdown: 5%",
            "the same number of stops each time",
        ),
        ("network: bridge", "network: bridge, loss: 5%", "the same number of stops each time"),
        ("rate: 5Hz", "rate: 5Hz, soft_interrupts: true", "soft interrupts cannot be charged"),
    ],
)
def test_what_cannot_come_in_turns_is_refused_with_its_reason(
    old: str, new: str, said: str
) -> None:
    assert old in TEXT
    with pytest.raises(StudyError) as raised:
        study(TEXT.replace(old, new))
    assert any(said in problem.what and problem.line for problem in raised.value.problems)


def test_of_a_part_of_the_deployments_only_those_are_measured_alone() -> None:
    part = filter_plan(plan(), ["native", "A"])
    assert {run.deployment for run in (*part.runs(), *part.alone())} == {"native"}
    assert {run.workload.name for run in (*part.runs(), *part.alone())} == {"A"}
    assert sum(block.alone is not None for block in part.blocks) == 2
    assert 0 < estimate_seconds(part, study()) < estimate_seconds(plan(), study())


def test_a_study_in_turns_takes_its_turns_what_is_alone_and_what_is_around() -> None:
    seconds = estimate_seconds(plan(), study())
    assert 8 * (2 * 4 * 6.0 + 2 * 6.0) < seconds < 8 * (2 * 4 * 6.0 + 2 * 6.0 + 30)


def test_a_turn_of_whole_stops_goes_with_a_slowdown() -> None:
    text = TEXT.replace("turns: 600ms", "turns: 650ms")
    study(text.replace("network: bridge", "network: bridge, slowdown: 5%"))


def test_whatever_part_is_measured_each_place_has_its_hosts() -> None:
    part = filter_plan(plan(), ["native"])
    spec = with_slots(study(), every_deployment(study(), part))
    assert {stay.hosts for block in plan().blocks for stay in block.stays} <= set(spec.hosts)


TWO = (
    TEXT.replace("twin: native\n", "")
    .replace("  bridge:", "  # bridge:")
    .replace("[host, bridge]", "[host]")
)


@pytest.mark.parametrize(
    ("text", "old", "hint", "new"),
    [
        (
            TWO.replace("network: host", "network: host, slowdown: 5%"),
            "turns: 600ms",
            "write for example `turns: 250ms`, with `sampler: {rate: 10Hz}`",
            "turns: 250ms",
        ),
        (
            TEXT.replace("network: host", "network: host, slowdown: 5%"),
            "turns: 600ms",
            "write for example `turns: 250ms`",
            "turns: 250ms",
        ),
        (
            TEXT.replace("duration: 6s", "duration: 2s"),
            "duration: 2s",
            "write at least `duration: 2.4s`",
            "duration: 2.4s",
        ),
    ],
)
def test_who_follows_the_advice_about_turns_is_not_refused_again(
    text: str, old: str, hint: str, new: str
) -> None:
    with pytest.raises(StudyError) as refused:
        study(text)
    (problem,) = refused.value.problems
    assert problem.hint == hint
    followed = text.replace(old, new)
    if "sampler" in hint:
        followed = followed.replace("rate: 5Hz", "rate: 10Hz")
    study(followed)
