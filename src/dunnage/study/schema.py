"""The grammar of study files as a JSON Schema, which gives editors completion and checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dunnage.model.metrics import COMPARED
from dunnage.model.offer import Offer
from dunnage.model.study import Study
from dunnage.study.matrix import FACTORS
from dunnage.study.rules import OPERATIONS
from dunnage.units import OPTIONAL_UNIT, UNIT


def study_schema(offer: Offer) -> dict[str, Any]:
    """Return the schema with everything that this Dunnage knows by name filled in.

    A schema does not check everything that `dunnage plan` does, such as references between names.
    """
    schema = Study.model_json_schema()
    parts = schema["$defs"]
    networks = {name for each in offer.platforms.values() for name in each.networks}
    endpoints = {
        name
        for each in offer.platforms.values()
        for network in each.networks.values()
        for name in network.endpoints
    }
    topologies = {name for each in offer.databases.values() for name in each.topologies}
    _name_them(parts["TestbedSpec"], "kind", offer.testbeds)
    _substrates(schema, parts, offer)
    _name_them(parts["DatabaseSpec"], "kind", offer.databases)
    _name_them(parts["DatabaseSpec"], "topology", topologies)
    _name_them(parts["DeploymentSpec"], "platform", offer.platforms)
    _name_them(parts["DeploymentSpec"], "network", networks)
    _name_them(parts["DeploymentSpec"], "endpoint", endpoints)
    _name_them(parts["SamplerSpec"], "kind", offer.samplers)
    _name_them(parts["QuestionSpec"], "metric", COMPARED, in_order=True)
    _name_them(schema, "generator", offer.generators)
    _override(parts)
    _with_units(schema)
    letters = {"type": "string", "enum": list(OPERATIONS), "description": "A core workload."}
    workloads = schema["properties"]["workloads"]
    workloads["items"] = {"anyOf": [letters, workloads["items"]]}
    factors = schema["properties"]["factors"]
    factors["propertyNames"] = {"enum": list(FACTORS)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://dunnage.invalid/schema/study.schema.json",
        **schema,
        "title": "A Dunnage study",
        "description": "What to compare, where, under which load, and which questions to answer.",
    }


def _with_units(part: Any) -> None:
    """A person writes a quantity with its unit, unless it is 0; files of ours hold bare numbers."""
    if isinstance(part, list):
        for each in part:
            _with_units(each)
    elif isinstance(part, dict):
        choices = part.get("anyOf", [])
        for choice in choices:
            if choice.get("pattern", "").endswith(OPTIONAL_UNIT) and "%" not in choice["pattern"]:
                choices[choices.index({"type": "number"})] = {"const": 0}
                choice["pattern"] = choice["pattern"].removesuffix(OPTIONAL_UNIT) + UNIT
        for each in part.values():
            _with_units(each)


def _name_them(
    part: dict[str, Any], key: str, known: Iterable[str], *, in_order: bool = False
) -> None:
    """Allow only known names for one key, and nothing where it may be left out."""
    names = list(known) if in_order else sorted(known)
    said = part["properties"][key]
    if "anyOf" in said:
        said["anyOf"] = [{"type": "string", "enum": names}, {"type": "null"}]
    else:
        said["enum"] = names


def _substrates(schema: dict[str, Any], parts: dict[str, Any], offer: Offer) -> None:
    """Every family is a key, with kinds of its own."""
    said, one = schema["properties"]["substrate"], {"$ref": "#/$defs/SubstrateSpec"}
    for part in ("additionalProperties", "patternProperties", "propertyNames"):
        said.pop(part, None)
    families = {}
    for family, kinds in offer.substrates.items():
        own = {"properties": {"kind": {"enum": [*sorted(kinds), None]}}}
        families[family] = {"allOf": [one, own]}
    said.update(properties=families, additionalProperties=False)
    every = {kind for kinds in offer.substrates.values() for kind in kinds}
    _name_them(parts["SubstrateSpec"], "kind", every)


def _override(parts: dict[str, Any]) -> None:
    """A deployment's own `database` takes the same keys as the study's, none of them required."""
    database = parts["DatabaseSpec"]
    own = parts["DeploymentSpec"]["properties"]["database"]
    own.pop("additionalProperties", None)
    own.update(type="object", properties=database["properties"], additionalProperties=False)
