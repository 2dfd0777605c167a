"""A loss of throughput in a study file, in its plan and in the time that it takes."""

from __future__ import annotations

import pytest

from dunnage.errors import StudyError
from dunnage.model.study import Study
from dunnage.study.expected_time import estimate_seconds, loss_seconds
from dunnage.study.matrix import deployments
from dunnage.study.part import filter_plan
from dunnage.study.plan import make_plan
from dunnage.study.read import read_study
from offers import OFFER

TEXT = """
dunnage: 1
name: loss
testbed: {kind: namespace, hosts: {db: 3, client: 1}}
database: {kind: redis, topology: replicas, members: 3}
deployments:
  native: {platform: native}
  slowed: {platform: native, loss: 5%}
twin: slowed
workloads: [C]
load: {threads: [32], duration: 6s}
"""


def study(text: str = TEXT) -> Study:
    return read_study(text, "study.yaml", OFFER)


def test_a_twin_loses_what_its_original_does_and_is_not_tried_by_itself() -> None:
    plan = make_plan(study(), deployments(study(), OFFER))
    assert [each.loss for each in plan.deployments] == [0.0, 0.05, 0.05]
    assert [each.name for each in plan.losing()] == ["slowed"]
    left = filter_plan(plan, ["native", "slowed-twin"])
    assert [(each.name, each.original) for each in left.losing()] == [("slowed-twin", "slowed")]
    assert 0 < loss_seconds(plan, study()) < estimate_seconds(plan, study())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("loss: 5%", "loss: 5%, slowdown: 5%", "`loss` finds its own slowdown"),
        ("loss: 5%", "loss: 60%", "50%"),
        ("threads: [32]", "rate: [2000]", "loses no throughput"),
        ("[32]", "[8, 32]", "for one level only"),
        ("[C]", "[A, C]", "for one workload only"),
        ("[C]", "[D]", "while records are inserted"),
    ],
)
def test_a_loss_that_cannot_be_found_is_refused_with_its_reason(
    old: str, new: str, said: str
) -> None:
    assert old in TEXT
    with pytest.raises(StudyError) as raised:
        study(TEXT.replace(old, new))
    assert any(said in problem.what and problem.line for problem in raised.value.problems)
