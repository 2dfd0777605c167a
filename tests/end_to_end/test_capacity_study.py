"""The shipped study of capacity: what it plans, and its whole path with fakes in Redis's place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hostile import dunnage
from ruamel.yaml import YAML

from dunnage import catalog
from dunnage.hosts.fake.load import CAPACITY, LATE_SHARE
from dunnage.store.read import Result, open_result
from dunnage.study.expected_time import estimate_seconds
from dunnage.study.matrix import deployments
from dunnage.study.plan import make_plan
from dunnage.study.read import read_study

STUDY = Path(__file__).parents[2] / "studies" / "capacity.yaml"


def with_fakes() -> str:
    """The same study of a database, hosts and platforms that exist in memory only."""
    data: dict[str, Any] = YAML(typ="safe").load(STUDY.read_text())
    data["testbed"] = {"kind": "fake", "hosts": data["testbed"]["hosts"]}
    data["database"] = {"kind": "fake", "topology": "single"}
    data["deployments"] = {
        "native": {"platform": "fake", "network": "plain"},
        "docker-bridge": {"platform": "fake", "network": "late"},
    }
    data["generator"] = "fake"
    data["sampler"]["kind"] = "fake"
    return json.dumps(data)


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Result, str]:
    """The answer, the result and the page."""
    place = tmp_path_factory.mktemp("capacity")
    (place / "study.yaml").write_text(with_fakes())
    words = ("run", place / "study.yaml", "--results", place / "results", "--format", "json")
    shown = dunnage(*words)
    assert shown.code == 0, shown.err
    answer = json.loads(shown.out)
    page = Path(answer["page"]).read_text()
    return answer["analysis"], open_result(place / "results"), page


def test_it_plans_shares_a_search_and_a_closed_loop_within_a_quarter_of_an_hour_or_so() -> None:
    study = read_study(STUDY.read_text(), str(STUDY), catalog.OFFER)
    plan = make_plan(study, deployments(study, catalog.OFFER))
    assert [each.name for each in plan.deployments] == ["native", "native-twin", "docker-bridge"]
    assert {run.level.name for run in plan.runs()} == {"s40", "s70", "search", "t32"}
    assert plan.calibration is not None
    assert plan.calibration.deployment.name == "native"
    assert {run.level.threads for run in plan.calibration.stay.runs} == {32}
    assert estimate_seconds(plan, study) <= 16 * 60


def test_every_question_is_answered_and_the_cost_of_the_late_network_is_found(
    answered: tuple[dict[str, Any], Result, str],
) -> None:
    analysis, _, _ = answered
    assert (analysis["missing"], analysis["invalid"], analysis["unknown"]) == (0, 0, 0)
    answers = {each["question"]: each for each in analysis["answers"]}
    assert all(each["complete_blocks"] == 6 for each in answers.values())
    (sustained,) = answers["sustained"]["comparisons"]
    assert sustained["difference"]["high"] < 0
    assert sustained["difference"]["value"] == pytest.approx(-LATE_SHARE, abs=0.03)
    assert {each["level"] for each in answers["waiting"]["comparisons"]} == {"s40", "s70"}


def test_probes_and_rates_of_every_deployment_are_in_the_answer(
    answered: tuple[dict[str, Any], Result, str],
) -> None:
    analysis, result, _ = answered
    names = ["native", "native-twin", "docker-bridge"]
    assert [each["deployment"] for each in analysis["searches"]] == names
    native = analysis["searches"][0]
    assert native["found"]["value"] == pytest.approx(CAPACITY, rel=0.06)
    assert native["found"]["low"] is not None
    assert {probe["block"] for probe in native["probes"]} == {1, 2, 3, 4, 5, 6}
    assert {probe["sustained"] for probe in native["probes"]} == {True, False}
    made = [record for record in result.records if record.search is not None]
    probes = sum(len(record.search.probes) for record in made if record.search)
    assert sum(len(each["probes"]) for each in analysis["searches"]) == probes
    levels = [(each["level"], each["deployment"]) for each in analysis["open_levels"]]
    assert levels == [(level, name) for level in ("s40", "s70") for name in names]
    assert all(each["over_capacity"] == 0 for each in analysis["open_levels"])


def test_the_page_shows_them(answered: tuple[dict[str, Any], Result, str]) -> None:
    analysis, _, page = answered
    start = page.index('id="capacity"')
    section = page[start : page.index("</section>", start)]
    probes = sum(len(each["probes"]) for each in analysis["searches"])
    assert len(re.findall(r"sustained</td>|>refused[^<]*</td>", section)) == probes
    assert "Every deployment kept up with every rate" in section
    assert section.count('<rect class="done"') == 6
