"""The JSON Schema of study files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from dunnage import catalog
from dunnage.study.schema import study_schema
from dunnage.study.template import template
from offers import OFFER

STUDIES = Path(__file__).parents[3] / "studies"
SCHEMA = study_schema(OFFER)


def errors(data: Any, schema: Any = SCHEMA) -> list[str]:
    return [each.message for each in jsonschema.Draft202012Validator(schema).iter_errors(data)]


def read(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_schema_accepts_every_built_in_study(path: Path) -> None:
    assert errors(read(path.read_text()), study_schema(catalog.OFFER)) == []


def test_the_schema_accepts_what_init_writes() -> None:
    assert errors(read(template(OFFER))) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("twni",), "native"),
        (("database", "kind"), "mysql"),
        (("deployments", "native", "platform"), "dokcer"),
        (("deployments", "native", "database"), {"memers": 3}),
        (("questions", "throughput", "metric"), "speed"),
        (("workloads",), ["G"]),
        (("factors",), {"storag": ["bind"]}),
        (("load", "duration"), "4 parsec"),
    ],
)
def test_the_schema_refuses_what_reading_refuses(path: tuple[str, ...], value: object) -> None:
    data = read(template(OFFER))
    inner = data
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    assert errors(data)


def test_the_schema_is_the_same_text_every_time() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert json.dumps(study_schema(OFFER)) == json.dumps(SCHEMA)
