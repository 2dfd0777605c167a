"""What no deployment can change: where it differs all the same, the blocks are in doubt."""

from __future__ import annotations

import math

import numpy as np
from analysis_cases import stay
from analysis_study import plan, records

from dunnage.findings.control.control import control
from dunnage.model.control import ControlMoment
from dunnage.model.record import Record, StayRecord, Turn


def stays(
    effect: float = 0.0, noise: float = 0.01, blocks: int = 8, seed: int = 1
) -> list[StayRecord]:
    """Stays of a plan; before docker's, loopback is faster by `effect`."""
    chance = np.random.default_rng(seed)
    return [
        stay(
            each.deployment,
            each.block,
            stay=each.id,
            started=100.0 * each.block,
            control={
                "arithmetic": 1000.0 * math.exp(chance.normal(0, noise)),
                "loopback": 50.0
                * (1 + (effect if each.deployment == "docker" else 0.0))
                * math.exp(chance.normal(0, noise)),
            },
        )
        for block in plan(blocks).blocks
        for each in block.stays
    ]


def test_every_control_of_every_deployment_is_held_against_the_baseline_together() -> None:
    found = control(plan(), stays(), (), "native", 1)
    assert [(each.control, each.deployment) for each in found] == [
        ("arithmetic", "twin"),
        ("arithmetic", "docker"),
        ("loopback", "twin"),
        ("loopback", "docker"),
    ]
    assert all("simultaneous over 4" in each.difference.method for each in found)
    assert not any(each.difference.without_zero for each in found)


def test_a_control_that_differs_is_found_and_no_other() -> None:
    found = control(plan(), stays(effect=0.1), (), "native", 1)
    assert [(each.control, each.deployment) for each in found if each.difference.without_zero] == [
        ("loopback", "docker")
    ]


def test_chance_makes_it_differ_in_one_study_of_twenty() -> None:
    alarms = sum(
        any(
            each.difference.without_zero
            for each in control(plan(), stays(seed=seed), (), "native", 1)
        )
        for seed in range(400)
    )
    assert 0.01 * 400 <= alarms <= 0.08 * 400


def test_of_a_stay_that_was_repeated_the_later_one_counts_and_without_any_there_is_none() -> None:
    made = stays()
    again = made[0].model_copy(
        update={"stay": "again", "started": made[0].started + 1, "control": {"loopback": 1e6}}
    )
    found = control(plan(), [again, *made], (), "native", 1)
    assert any(abs(each.difference.value) > 0.5 for each in found if each.control == "loopback")
    assert (
        control(plan(), [each.model_copy(update={"control": {}}) for each in made], (), "native", 1)
        == ()
    )


def in_turns(effect: float = 0.0) -> list[Record]:
    """Records whose deployments had twenty turns each; after docker's, loopback is faster."""
    chance = np.random.default_rng(3)
    return [
        each.model_copy(
            update={
                "turns": tuple(
                    Turn(
                        name=each.deployment,
                        began=float(at),
                        ended=at + 0.25,
                        control={
                            "arithmetic": 1000.0 * math.exp(chance.normal(0, 0.05)),
                            "loopback": 50.0
                            * (1 + (effect if each.deployment == "docker" else 0.0))
                            * math.exp(chance.normal(0, 0.05)),
                        },
                    )
                    for at in range(20)
                )
            }
        )
        for each in records(plan(), 0.0)
    ]


def test_in_turns_what_was_measured_after_each_turn_counts_and_no_stay() -> None:
    found = control(plan(), stays(effect=0.5), in_turns(), "native", 1)
    assert {each.moment for each in found} == {ControlMoment.AFTER_TURN}
    assert [each.difference.n for each in found] == [8] * 4
    assert not any(each.difference.without_zero for each in found)


def test_what_a_deployment_leaves_behind_its_turn_is_found() -> None:
    found = control(plan(), (), in_turns(effect=0.1), "native", 1)
    assert [(each.control, each.deployment) for each in found if each.difference.without_zero] == [
        ("loopback", "docker")
    ]


def test_turns_without_a_control_are_no_control() -> None:
    without = [
        each.model_copy(update={"turns": (Turn(name=each.deployment, began=0.0, ended=1.0),)})
        for each in records(plan(), 0.0)
    ]
    assert control(plan(), (), without, "native", 1) == ()
