"""A study judges loads and searches for rates as the engine does alone: both read one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from analysis_cases import OPEN, latency, measurement, order

from dunnage.analysis.schedule import flow
from dunnage.findings.saturation.probe import judged, next_rate, searched
from dunnage.model.choices import Arrivals
from dunnage.model.level import Search
from dunnage.model.record import OperationStats, Probe, Window

ROOT = Path(__file__).parents[3]
GOLDEN = json.loads((ROOT / "crates" / "engine" / "tests" / "golden" / "search.json").read_text())
"""`crates/engine/src/front/search/` is tested with the same."""


def named(cases: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in cases]


@pytest.mark.parametrize("case", named(GOLDEN["judged"]))
def test_a_load_is_judged_as_by_the_engine(case: dict[str, Any]) -> None:
    quantiles = latency().model_copy(update={"quantiles": {"p99": case["p99"]}})
    stats = OperationStats(
        count=0,
        errors={"server": case["errors"]} if case["errors"] else {},
        service=None,
        response=None if case["p99"] is None else quantiles,
    )
    measured = measurement(
        seconds=case["seconds"],
        offered=case["intended"] / case["seconds"],
        windows=tuple(Window(**window) for window in case["windows"]),
        operations={"all": stats},
    )
    level = OPEN.model_copy(update={"rate": case["rate"]})
    search = Search().model_copy(update={"objective": case["objective"]})
    probe = judged(search, order(level, arrivals=Arrivals(case["arrivals"])), measured)
    assert [refusal.what for refusal in probe.refusals] == case["refusals"]
    assert probe.sustained == (not case["refusals"])
    assert probe.achieved == pytest.approx(case["achieved"])
    found = flow(measured)
    assert (None if found is None else pytest.approx(found.slope)) == case["slope"]


@pytest.mark.parametrize("case", named(GOLDEN["searched"]))
def test_the_next_rate_and_the_end_of_a_search_are_those_of_the_engine(
    case: dict[str, Any],
) -> None:
    limits = {name: case[name] for name in ("start", "precision", "probes")}
    search = Search().model_copy(update=limits)
    probes: list[Probe] = []
    for tried in case["tried"]:
        assert next_rate(search, case["start"], probes) == tried["rate"]
        probes.append(Probe(offered=tried["rate"], p99=None, client_busy=0.1, **tried))
    assert next_rate(search, case["start"], probes) is None
    found = searched(search, probes)
    assert (found.rate, found.ended.value) == (case["rate"], case["ended"])
