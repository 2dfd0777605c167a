"""The models of a study file say of each key what it is and how it can be written."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel
from ruamel.yaml import YAML

from dunnage.model.study import DatabaseSpec, Study
from dunnage.study.grammar import findings
from dunnage.study.keys import ANY, example, known, section, sections, written
from dunnage.study.matrix import FACTORS

SECTIONS = tuple(sections())
KEYS = [
    pytest.param(path, model, key, id=".".join((*map(str, path), key)))
    for path, model in SECTIONS
    for key in model.model_fields
]


def read(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


@pytest.mark.parametrize(("path", "model", "key"), KEYS)
def test_each_key_has_examples_that_read_as_they_are_said_and_that_its_model_accepts(
    path: tuple[str, ...], model: type[BaseModel], key: str
) -> None:
    examples = model.model_fields[key].examples
    assert examples
    assert example((*path, key)) == f"{key}: {written(examples[0])}"
    for each in examples:
        data = read(f"{key}: {written(each)}")
        assert data == {key: each}
        wrong = [found.path for found in findings(model, data, path)]
        assert [place for place in wrong if place[: len(path) + 1] == (*path, key)] == []


def test_sections_are_all_mappings_with_keys_of_their_own() -> None:
    places = [".".join(map(str, path)) for path, _ in SECTIONS]
    assert places == [
        "",
        "testbed",
        "substrate.*",
        "database",
        "database.consistency",
        "deployments.*",
        "deployments.*.limits",
        "deployments.*.database",
        "workloads.*",
        "load",
        "load.search",
        "load.calibration",
        "questions.*",
        "questions.*.primary",
        "sampler",
    ]
    for path, model in SECTIONS:
        place = tuple({ANY: "mine"}.get(str(step), step) for step in path)
        assert section(place) is model
    assert section(("deployments", "mine", "database", "consistency")) is not None


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("deployments", "mine"), "native: {platform: native}"),
        (("workloads", 1), "workloads: [A, {name: loading, phase: load}]"),
        (("load", "threads", 0), "threads: [8, 32]"),
        (("testbed", "hosts", "client"), "client: 1"),
        (("testbed", "hosts", "mine"), "db: 3"),
        (("deployments", "mine", "database", "members"), "members: 3"),
        (("database", "version"), 'version: "7.0"'),
        (("load", "thraeds"), ""),
    ],
)
def test_names_and_items_have_the_example_of_the_key_they_stand_under(
    path: tuple[str | int, ...], line: str
) -> None:
    assert example(path) == line


def test_names_of_a_users_own_are_no_keys() -> None:
    assert known(("deployments",)) == known(("factors",)) == ()
    assert known(()) == tuple(Study.model_fields)
    assert known(("deployments", "mine", "database")) == tuple(DatabaseSpec.model_fields)


def test_a_factor_is_any_key_of_a_deployment_that_has_one_value() -> None:
    assert {"platform", "limits.cpus", "database.consistency.read", "loss"} <= set(FACTORS)
    assert not {"database", "database.settings", "limits", "database.consistency"} & set(FACTORS)
