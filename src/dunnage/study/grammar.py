"""What is wrong with the shape of a study, in plain sentences.

The models say what is allowed; this module turns each of their complaints into one sentence that
names the key, what it should be, and an example.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from dunnage.errors import shown
from dunnage.model.study import STUDY_VERSION
from dunnage.study.document import Path, holds, shown_at
from dunnage.study.keys import example, known
from dunnage.study.suggest import hint, nearest
from dunnage.units import BY_HAND, alike

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


def unknown(path: Path, noun: str, word: str, known: Iterable[str]) -> Finding:
    """Say that nothing of this kind has that name, and what does."""
    return Finding(path, f"unknown {noun} {shown(word)}", hint(word, known))


def findings(
    model: type[BaseModel],
    data: object,
    at: Path = (),
    *,
    stored: bool = False,
) -> list[Finding]:
    """Return what `model` finds wrong with `data`, the part of a study at the path `at`.

    `stored`: it is a part of a result's study, for which bounds of today do not hold.
    """
    context = None if stored else BY_HAND
    try:
        # Strict JSON: a text is never taken for a number, nor a truth value for 1.
        model.model_validate_json(json.dumps(data), strict=True, context=context)
    except ValidationError as error:
        found: dict[Path, Finding] = {}
        complaints: list[Mapping[str, Any]] = [
            dict(each) for each in error.errors(include_url=False)
        ]
        mappings = {each["loc"][:-1] for each in complaints if each["type"] == "dict_type"}
        for complaint in complaints:
            also = complaint["loc"][:-1] in mappings
            finding = _finding(complaint, data, at, also_mapping=also)
            if finding is not None:
                found.setdefault(finding.path, finding)
        return list(found.values())
    return []


def _finding(
    complaint: Mapping[str, Any], data: object, at: Path, *, also_mapping: bool
) -> Finding | None:
    """`also_mapping`: it is of a union that a mapping would be one of."""
    kind: str = complaint["type"]
    location: Path = tuple(complaint["loc"])
    inside, value = _walk(data, location)
    path = (*at, *inside)
    if kind == "missing":
        return _missing(path, str(location[-1]), value)
    if kind == "extra_forbidden":
        what = f"unknown key {shown(path[-1])}{_place(path[:-1])}"
        return Finding(path, what, hint(str(path[-1]), known(path[:-1])))
    if kind == "too_short" and value:
        return None  # The items have their own complaints.
    union = ""
    if "str" in location[len(inside) :]:
        union = "text, a number or a mapping" if also_mapping else "text or a number"
    return Finding(path, *_said(kind, complaint, path, value, union))


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
        keys = known(path)
        if any(nearest(other, keys) == key for other in value if other not in keys):
            return None  # A mistyped key is one problem, not two.
    wanted = example((*path, key))
    return Finding(
        (*path, key), f"`{key}` is missing{_place(path)}", f"write `{wanted}`" if wanted else ""
    )


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*[+-]?[0-9]+(\.[0-9]+)?\s*", text) is not None


def _place(path: Path) -> str:
    """Say where a mapping is, as ` in `deployments.native`` or nothing for the whole file."""
    if path and isinstance(path[-1], int):
        return f" in {path[0]} number {path[-1] + 1}"
    return f" in {shown('.'.join(map(str, path)))}" if path else ""


def _said(
    kind: str, complaint: Mapping[str, Any], path: Path, value: object, union: str
) -> tuple[str, str]:
    """What is wrong and what to write; `union` is what it may be, where that is one of several."""
    context = complaint.get("ctx", {})
    key = str(path[-1]) if path else "a study"
    told = shown_at(path, value)
    wanted = example(path)
    remedy = f"write for example `{wanted}`" if wanted else ""
    subject = shown(key)
    if len(path) > 1 and isinstance(path[-1], int):
        subject = f"{shown(path[-2])} number {path[-1] + 1}"
    if kind == "value_error":
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return f"{subject}: {context['error']}", ""
        return f"{subject} cannot be {told}", remedy
    if kind == "string_pattern_mismatch":
        if "[key]" in complaint["loc"]:
            name, quoted, place = key, shown(key), f"a name{_place(path[:-1])}"
        else:
            name, quoted, place = str(value), told, subject
        return (
            f"{quoted} is not a valid name" if name else f"{place} is empty",
            "use at most 63 letters, digits, `_`, `.` and `-`; begin with a letter or digit",
        )
    if kind in ("enum", "literal_error"):
        if path == ("dunnage",):
            return (
                f"`dunnage` must be {STUDY_VERSION}, the version of the grammar, not {told}",
                "write `dunnage: 1`; a newer grammar needs a newer Dunnage",
            )
        words = [part for part in str(context["expected"]).split("'") if part.isalnum()]
        return f"{subject} cannot be {told}", hint(str(value), words)
    if kind in _BOUNDS:
        name, relation = _BOUNDS[kind]
        return (
            f"{subject} must be {relation} {alike(context[name], value)}, not {told}",
            remedy,
        )
    if kind == "too_short":
        return f"{subject} is empty", remedy
    expected = _WANTED.get(kind, "something else")
    if kind == "string_type" and union:
        expected = union  # The first branch of a union answers for all of them.
    elif kind == "string_type" and isinstance(value, int | float):
        remedy = f'put it in quotes: "{value}"'
    elif kind in ("int_type", "float_type") and isinstance(value, str) and _is_number(value):
        remedy = f"write it without quotes: {value.strip()}"
    return f"{subject} must be {expected}, not {told}", remedy
