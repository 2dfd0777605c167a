"""`study.md`: every key of a study file, and what can be chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dunnage import catalog
from dunnage.model import choices
from dunnage.reference.fields import fields
from dunnage.reference.markdown import code, codes, paragraph, table
from dunnage.study.keys import ANY, example, sections
from dunnage.study.matrix import FACTORS
from dunnage.study.schema import study_schema

_HEAD = """
# The study file

A study is one YAML file. It is read strictly: an unknown key, a wrong type, a name that refers to
nothing are errors. All of them are shown at once, each with its line. Quantities carry their
units: `15s`, `200ms`, `3%`, `512MiB`, `5Hz`. `dunnage schema study` prints a JSON Schema of it, for
editors. [`studies/quickstart.yaml`](../../studies/quickstart.yaml) is a complete study that
explains every line.
"""
_QUANTITIES = {
    "µs": "a duration (`15s`, `200ms`, `2min`)",
    "KiB": "a size (`512MiB`)",
    "Hz": "a frequency (`5Hz`)",
    "%": "a share (`3%`)",
}
"""A unit that only one kind of quantity has, and what that is called."""
_LONG = 12
"""A list of choices that is longer has a table of its own."""


def study_page() -> str:
    schema = study_schema(catalog.OFFER)
    told = [
        _section(path, schema["$defs"].get(model.__name__, schema), schema["$defs"])
        for path, model in sections()
    ]
    return "\n".join((_HEAD, *told, *_choices(), *_offered()))


def _section(
    path: tuple[str | int, ...], model: Mapping[str, Any], parts: Mapping[str, Any]
) -> str:
    name = ".".join("NAME" if part == ANY else str(part) for part in path)
    title = f"## `{name}`" if name else "## The whole file"
    required = model.get("required", ())
    rows = [
        (
            f"**{code(key)}**" if key in required else code(key),
            _value(schema, parts),
            _default(schema),
            code(example((*path, key))),
            _meaning(schema, parts),
        )
        for key, schema in model["properties"].items()
    ]
    if path[:1] == ("deployments",) and "database" in path:
        return f"{title}\n\nThe keys of `database` that differ for this deployment.\n"
    return (
        f"{title}\n\n{paragraph(model.get('description'))}\n\n"
        + table(("key", "value", "default", "for example", "meaning"), rows)
        + "\nKeys in bold are required.\n" * bool(required)
    )


def _meaning(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    """What the key says of itself; else what its kind says."""
    kind = schema.get("$ref", "").rsplit("/", maxsplit=1)[-1]
    return paragraph(schema.get("description") or parts.get(kind, {}).get("description"))


def _value(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    """What may stand behind a key, in words."""
    if "$ref" in schema:
        return _value(parts[schema["$ref"].rsplit("/", maxsplit=1)[1]], parts)
    if "enum" in schema:
        return codes(schema["enum"]) if len(schema["enum"]) <= _LONG else "a name from the table"
    if "const" in schema:
        return code(schema["const"])
    if "allOf" in schema:
        return _value(schema["allOf"][0], parts)
    if "anyOf" in schema:
        return _either(schema, parts)
    kind = schema.get("type")
    if kind == "array":
        return f"a list of {_value(schema.get('items', {}), parts)}"
    if kind == "object":
        return "a mapping"
    words = {"integer": "a whole number", "number": "a number", "boolean": "`true` or `false`"}
    return words.get(str(kind), "text") + _bounds(schema)


def _either(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    """What may stand there, branch by branch; a quantity may stand as a number too."""
    measured = any("pattern" in kind for kind in schema["anyOf"])
    branches = [
        _branch(kind, parts)
        for kind in schema["anyOf"]
        if kind.get("type") != "null"
        and not (
            measured and ("const" in kind or (kind.get("type") == "number" and not _bounds(kind)))
        )
    ]
    return " or ".join(dict.fromkeys(branches))


def _branch(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    for unit, words in _QUANTITIES.items():
        if unit in schema.get("pattern", ""):
            return words
    return _value(schema, parts)


def _bounds(schema: Mapping[str, Any]) -> str:
    words = {
        "minimum": "at least",
        "exclusiveMinimum": "more than",
        "maximum": "at most",
        "exclusiveMaximum": "less than",
    }
    bounds = [f"{word} {schema[key]:g}" for key, word in words.items() if key in schema]
    return f" ({', '.join(bounds)})" if bounds else ""


def _default(schema: Mapping[str, Any]) -> str:
    default = schema.get("default")
    if default in (None, []) or isinstance(default, dict):
        return ""
    if isinstance(default, float):
        return code(f"{default:g}{'s' if _is_duration(schema) else ''}")
    return code(str(default).lower() if isinstance(default, bool) else default)


def _is_duration(schema: Mapping[str, Any]) -> bool:
    return any("µs" in each.get("pattern", "") for each in schema.get("anyOf", ()))


def _choices() -> Iterator[str]:
    yield "## The values of each choice\n"
    for kind in vars(choices).values():
        if isinstance(kind, type) and kind.__module__ == choices.__name__:
            yield f"### {kind.__name__}\n\n{paragraph(kind.__doc__)}\n"
            yield table(
                ("word", "meaning"), ((code(word.default), word.meaning) for word in fields(kind))
            )
    yield "### Factors\n\nA factor is a key of a deployment, with several values. A factor can be:"
    yield f"\n{codes(FACTORS)}.\n"


def _offered() -> Iterator[str]:
    offer = catalog.OFFER
    yield "## What can be chosen\n"
    yield table(
        ("platform", "network", "endpoints", "storage", "client"),
        (
            (
                code(name),
                code(network),
                codes(tuple(chosen.endpoints)),
                codes(each.value for each in platform.storages),
                codes(each.value for each in platform.clients),
            )
            for name, platform in offer.platforms.items()
            for network, chosen in platform.networks.items()
        ),
    )
    yield table(
        ("database", "versions", "topologies", "another image"),
        (
            (
                code(name),
                codes(database.versions),
                codes(database.topologies),
                "yes" if database.images else "no",
            )
            for name, database in offer.databases.items()
        ),
    )
    yield "The first of each is the default.\n"
    yield table(
        ("part", "kinds"),
        (
            ("testbed", codes(offer.testbeds)),
            *(
                (f"substrate {code(family)}", codes(kinds))
                for family, kinds in offer.substrates.items()
            ),
            ("generator", codes(offer.generators)),
            ("sampler", codes(offer.samplers)),
        ),
    )
