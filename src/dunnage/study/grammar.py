"""What is wrong with the shape of a study, in plain sentences.

The models say what is allowed; this module turns each of their complaints into one sentence that
names the key, what it should be, and an example.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from dunnage.model.study import (
    STUDY_VERSION,
    CalibrationSpec,
    ConsistencySpec,
    DatabaseSpec,
    DeploymentSpec,
    Limits,
    LoadSpec,
    PrimarySpec,
    QuestionSpec,
    SamplerSpec,
    Search,
    Study,
    SubstrateSpec,
    TestbedSpec,
    WorkloadSpec,
)
from dunnage.study.document import Path, holds
from dunnage.study.suggest import hint, nearest, shown
from dunnage.units import BY_HAND

ANY = "*"
"""Stands in a pattern for every name and list position."""

SECTIONS: Mapping[Path, type[BaseModel]] = {
    (): Study,
    ("testbed",): TestbedSpec,
    ("substrate",): SubstrateSpec,
    ("database",): DatabaseSpec,
    ("database", "consistency"): ConsistencySpec,
    ("deployments", ANY): DeploymentSpec,
    ("deployments", ANY, "limits"): Limits,
    ("deployments", ANY, "database"): DatabaseSpec,
    ("deployments", ANY, "database", "consistency"): ConsistencySpec,
    ("workloads", ANY): WorkloadSpec,
    ("load",): LoadSpec,
    ("load", "calibration"): CalibrationSpec,
    ("load", "search"): Search,
    ("questions", ANY): QuestionSpec,
    ("questions", ANY, "primary"): PrimarySpec,
    ("sampler",): SamplerSpec,
}
"""Which model says what a mapping at a place may hold."""

EXAMPLES: Mapping[str, str] = {
    "dunnage": f"dunnage: {STUDY_VERSION}",
    "name": "name: my-study",
    "testbed": "testbed: {kind: namespace, hosts: {db: 3, client: 1}}",
    "hosts": "hosts: db",
    "testbed.hosts": "hosts: {db: 3, client: 1}",
    "memory": "memory: 1GiB",
    "steer": "steer: true",
    "substrate": "substrate: {kind: daemons}",
    "contexts": "contexts: {db-1: my-docker-context}",
    "database": "database: {kind: redis, members: 3}",
    "deployments.*.database": "database: {members: 3}",
    "version": 'version: "7.0"',
    "members": "members: 3",
    "replication": "replication: 3",
    "consistency": "consistency: {write: 1}",
    "settings": "settings: {maxclients: 1000}",
    "deployments": "deployments: {native: {platform: native}}",
    "deployments.*": "native: {platform: native}",
    "platform": "platform: native",
    "limits": "limits: {memory: 512MiB}",
    "cpus": "cpus: 1.5",
    "pids": "pids: 200",
    "slowdown": "slowdown: 5%",
    "loss": "loss: 5%",
    "factors": "factors: {storage: [bind, volume]}",
    "factors.*": "storage: [bind, volume]",
    "workloads": "workloads: [A, C]",
    "workloads.*": "workloads: [A, {name: loading, phase: load}]",
    "workloads.*.name": "name: A-again",
    "core": "core: A",
    "records": "records: 10000",
    "data": "data: restore",
    "load": "load: {threads: [32], duration: 10s}",
    "threads": "threads: [8, 32]",
    "rate": "rate: [2000, 60%]",
    "calibration": "calibration: {threads: 32, runs: 3, duration: 3s}",
    "calibration.threads": "threads: 32",
    "runs": "runs: 3",
    "search": "search: {start: 1000, precision: 5%, probes: 20, probe: 2s}",
    "start": "start: 1000",
    "precision": "precision: 5%",
    "probes": "probes: 20",
    "probe": "probe: 2s",
    "objective": "objective: {response.p99: 10ms}",
    "sampler.rate": "rate: 5Hz",
    "connections": "connections: 64",
    "turns": "turns: 200ms",
    "conditioning": "conditioning: 30s",
    "warmup": "warmup: 1s",
    "duration": "duration: 10s",
    "operations": "operations: 100000",
    "timeout": "timeout: 10s",
    "time": "time: 6min",
    "blocks": "blocks: 6",
    "repeat": "repeat: 1",
    "twin": "twin: native",
    "questions": "questions: {Q1: {baseline: native, against: [docker]}}",
    "questions.*": "Q1: {baseline: native, against: [docker]}",
    "primary": "primary: {workloads: [A]}",
    "primary.workloads": "workloads: [A]",
    "primary.levels": "levels: [t32]",
    "baseline": "baseline: native",
    "against": "against: [docker]",
    "metric": "metric: throughput",
    "tolerance": "tolerance: 3%",
    "generator": "generator: engine",
    "sampler": "sampler: {rate: 5Hz}",
    "kind": "kind: redis",
    "testbed.kind": "kind: namespace",
    "substrate.kind": "kind: daemons",
    "sampler.kind": "kind: engine",
    "seed": "seed: 1",
    "deadline": "deadline: 120s",
}
"""How a key can be written: by its whole path, or by its own name where that is enough."""

_WANTED: Mapping[str, str] = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "`true` or `false`",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "tuple_type": "a list",
}
_BOUNDS: Mapping[str, tuple[str, str]] = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


@dataclass(frozen=True)
class Finding:
    """Something wrong at a place of the document."""

    path: Path
    what: str
    hint: str = ""


def example(path: Path) -> str:
    """Return how the key at `path` can be written, or nothing."""
    pattern = [str(part) for part in _pattern(path)]
    for start in range(len(pattern)):
        found = EXAMPLES.get(".".join(pattern[start:]))
        if found:
            return found
    return ""


def section(path: Path) -> type[BaseModel] | None:
    """Return the model of the mapping at `path`, if there is one."""
    return SECTIONS.get(_pattern(path))


def findings(model: type[BaseModel], data: object, at: Path = ()) -> list[Finding]:
    """Return what `model` finds wrong with `data`, which stands at the path `at`."""
    try:
        # Strict JSON: a text is never taken for a number, nor a truth value for 1.
        model.model_validate_json(json.dumps(data), strict=True, context=BY_HAND)
    except ValidationError as error:
        found: dict[Path, Finding] = {}
        for complaint in error.errors(include_url=False):
            finding = _finding(dict(complaint), data, at)
            if finding is not None:
                found.setdefault(finding.path, finding)
        return list(found.values())
    return []


def _pattern(path: Path) -> Path:
    """Replace the names that users choose, and list positions, by `*`."""
    parts = list(path)
    if len(parts) > 1 and parts[0] in ("deployments", "workloads", "questions", "factors"):
        parts[1] = ANY
    return tuple(ANY if isinstance(part, int) else part for part in parts)


def _finding(complaint: Mapping[str, Any], data: object, at: Path) -> Finding | None:
    kind: str = complaint["type"]
    location: Path = tuple(complaint["loc"])
    inside, value = _walk(data, location)
    path = (*at, *inside)
    if kind == "missing":
        return _missing(path, str(location[-1]), value)
    if kind == "extra_forbidden":
        model = section(path[:-1])
        known = [] if model is None else list(model.model_fields)
        return Finding(
            path, f"unknown key {shown(path[-1])}{_place(path[:-1])}", hint(str(path[-1]), known)
        )
    if kind == "too_short" and value:
        return None  # The items have their own complaints.
    return Finding(path, *_said(kind, complaint, path, value, len(at)))


def _walk(data: object, location: Path) -> tuple[Path, object]:
    """Follow a location as far as the data goes; the models add steps of their own."""
    value: Any = data
    for depth, step in enumerate(location):
        if not holds(value, step):
            return location[:depth], value
        value = value[step]
    return location, value


def _missing(path: Path, key: str, value: object) -> Finding | None:
    if isinstance(value, dict):
        model = section(path)
        known = [] if model is None else list(model.model_fields)
        if any(nearest(other, known) == key for other in value if other not in known):
            return None  # A mistyped key is one problem, not two.
    wanted = example((*path, key))
    return Finding(
        (*path, key), f"`{key}` is missing{_place(path)}", f"write `{wanted}`" if wanted else ""
    )


def _place(path: Path) -> str:
    """Say where a mapping is, as ` in `deployments.native`` or nothing for the whole file."""
    if path and isinstance(path[-1], int):
        return f" in {path[0]} number {path[-1] + 1}"
    return f" in {shown('.'.join(map(str, path)))}" if path else ""


def _said(
    kind: str, complaint: Mapping[str, Any], path: Path, value: object, offset: int
) -> tuple[str, str]:
    context = complaint.get("ctx", {})
    key = str(path[-1]) if path else "a study"
    wanted = example(path)
    remedy = f"write for example `{wanted}`" if wanted else ""
    subject = shown(key)
    if len(path) > 1 and isinstance(path[-1], int):
        subject = f"{shown(path[-2])} number {path[-1] + 1}"
    if kind == "value_error":
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return f"{subject}: {context['error']}", ""
        return f"{subject} cannot be {shown(value)}", remedy
    if kind == "string_pattern_mismatch":
        name = key if "[key]" in complaint["loc"] else value
        return (
            f"{shown(name)} cannot be a name",
            "use letters, digits, `_`, `.` and `-`, at most 63, beginning with a letter or digit",
        )
    if kind in ("enum", "literal_error"):
        if path == ("dunnage",):
            return (
                f"`dunnage` must be {STUDY_VERSION}, the version of the grammar, not "
                f"{shown(value)}",
                "a newer study needs a newer Dunnage",
            )
        known = [part for part in str(context["expected"]).split("'") if part.isalnum()]
        return f"{subject} cannot be {shown(value)}", hint(str(value), known)
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"{subject} must be {words} {context[name]:g}, not {shown(value)}", remedy
    if kind == "too_short":
        return f"{subject} is empty", remedy
    expected = _WANTED.get(kind, "something else")
    if kind == "string_type" and "str" in complaint["loc"][len(path) - offset :]:
        expected = "text or a number"  # One branch of a union stands for all of them.
    elif kind == "string_type" and isinstance(value, int | float):
        remedy = f'put it in quotes: "{value}"'
    return f"{subject} must be {expected}, not {shown(value)}", remedy
