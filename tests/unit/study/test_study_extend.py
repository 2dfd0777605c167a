"""Added blocks are those that a longer plan would have had."""

from __future__ import annotations

from pathlib import Path

import pytest

from dunnage import catalog
from dunnage.errors import ResultError
from dunnage.model.plan import Plan
from dunnage.model.study import Study
from dunnage.study.extend import added_blocks
from dunnage.study.matrix import deployments
from dunnage.study.part import filter_plan
from dunnage.study.plan import make_plan
from dunnage.study.read import read_study

TEXT = (Path(__file__).parents[3] / "studies" / "fake.yaml").read_text()


def study(blocks: int = 6, seed: int = 1) -> Study:
    read = read_study(TEXT, "fake.yaml", catalog.OFFER)
    return read.model_copy(update={"blocks": blocks, "seed": seed})


def planned(made: Study) -> Plan:
    return make_plan(made, deployments(made, catalog.OFFER))


def added(made: Study, plan: Plan, total: int) -> Plan:
    return added_blocks(made, deployments(made, catalog.OFFER), plan, total, where="here")


@pytest.mark.parametrize("total", [7, 12, 99])
def test_a_plan_and_what_was_added_are_the_longer_plan(total: int) -> None:
    first = planned(study())
    more = added(study(), first, total)
    assert (*first.blocks, *more.blocks) == planned(study(blocks=total)).blocks
    assert more.deployments == first.deployments


def test_blocks_can_be_added_again_and_again() -> None:
    first = planned(study())
    second = added(study(), first, 8)
    longer = first.model_copy(update={"blocks": (*first.blocks, *second.blocks)})
    third = added(study(), longer, 11)
    assert (*longer.blocks, *third.blocks) == planned(study(blocks=11)).blocks


def test_from_a_hundred_blocks_on_only_zeros_in_ids_differ_and_no_id_comes_twice() -> None:
    first = planned(study(blocks=98))
    more = added(study(), first, 101)
    ids = [run.id for plan in (first, more) for run in plan.runs()]
    assert len(ids) == len(set(ids))
    longer = list(planned(study(blocks=101)).runs())
    for one, other in zip((*first.runs(), *more.runs()), longer, strict=True):
        assert one.model_copy(update={"id": other.id}) == other


def test_a_part_of_the_runs_grows_by_the_same_part() -> None:
    whole = planned(study())
    part = filter_plan(whole, ["late", "A"])
    more = added(study(), part, 9)
    assert more.blocks == filter_plan(planned(study(blocks=9)), ["late", "A"]).blocks[6:]
    assert {run.deployment for run in more.runs()} == {"late"}


def test_another_seed_would_be_another_study_and_is_refused() -> None:
    with pytest.raises(
        ResultError, match="planned the blocks of this result differently"
    ) as raised:
        added(study(seed=2), planned(study(seed=1)), 12)
    assert raised.value.where == "here"
    assert raised.value.hint.startswith("dunnage run ")
