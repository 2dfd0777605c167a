"""What a reader of a study file is told, word for word."""

from __future__ import annotations

from pathlib import Path

import pytest

from dunnage.errors import StudyError
from dunnage.model.plan import Plan
from dunnage.study.matrix import deployments
from dunnage.study.plan import make_plan
from dunnage.study.read import read_study
from offers import OFFER

HERE = Path(__file__).parent / "study"


def test_ten_mistakes_are_all_told_at_once_with_their_lines() -> None:
    text = (HERE / "ten-mistakes.yaml").read_text()
    with pytest.raises(StudyError) as raised:
        read_study(text, "ten-mistakes.yaml", OFFER)
    told = "".join(
        f"{problem.line}: {problem.what}\n    {problem.hint}\n" for problem in raised.value.problems
    )
    assert told == (HERE / "ten-mistakes.txt").read_text()


def test_titles_follow_the_grammar_of_the_first_published_study() -> None:
    study = read_study((HERE / "titles.yaml").read_text(), "titles.yaml", OFFER)
    told = "".join(f"{each.name}: {each.title}\n" for each in deployments(study, OFFER))
    assert told == (HERE / "titles.txt").read_text()


def test_the_plan_of_a_study_stays_the_same_from_version_to_version() -> None:
    study = read_study((HERE / "titles.yaml").read_text(), "titles.yaml", OFFER)
    assert _told(make_plan(study, deployments(study, OFFER))) == (HERE / "plan.txt").read_text()


def _told(plan: Plan) -> str:
    return "".join(f"{run.position} {run.id} {run.seed}\n" for run in plan.runs())
