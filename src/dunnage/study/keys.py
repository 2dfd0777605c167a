"""The keys of a study file, from its models: where they are, and how to write them.

A path has names that users choose and positions in lists; a place has `*` for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel, WithJsonSchema
from pydantic.fields import FieldInfo

from dunnage.model.study import Study
from dunnage.model.value import KeysOf
from dunnage.study.document import Path

ANY = "*"
"""In a place: any name or list position."""


def sections(
    model: type[BaseModel] = Study, at: Path = ()
) -> Iterator[tuple[Path, type[BaseModel]]]:
    """Yield the place and the model of every mapping with keys of its own.

    A mapping that repeats the keys of another one is not entered.
    """
    yield at, model
    for name, field in model.model_fields.items():
        repeated, inner = _repeated(field), _inner(field)
        if repeated is not None:
            yield (*at, name), repeated
        elif inner is not None:
            yield from sections(inner, (*at, name, ANY) if _many(field) else (*at, name))


def section(path: Path) -> type[BaseModel] | None:
    """Return the model of the mapping at `path`, if there is one."""
    model: type[BaseModel] | None = Study
    steps = list(path)
    while steps and model is not None:
        field = model.model_fields.get(str(steps.pop(0)))
        if field is None or (_many(field) and not steps):
            return None
        if _many(field):
            steps.pop(0)
        model = _inner(field)
    return model


def known(path: Path) -> tuple[str, ...]:
    """Return the keys of the mapping at `path`; none where it has names of the user's own."""
    model = section(path)
    return () if model is None else tuple(model.model_fields)


def default(path: Path) -> str:
    """Return the one value that the key at `path` has where it is not written, or nothing."""
    model = section(path[:-1]) if path else None
    field = model.model_fields.get(str(path[-1])) if model is not None else None
    value = field.get_default() if field is not None and not field.is_required() else None
    return f"{value:g}" if isinstance(value, float) else str(value) if _single(value) else ""


def _single(value: object) -> bool:
    return isinstance(value, str | int) and value != ""


def example(path: Path) -> str:
    """Return how the key, the name or the item at `path` can be written, or nothing."""
    above = next(at for at in range(len(path) - 1, -1, -1) if section(path[:at]) is not None)
    model = section(path[:above])
    key, inside = str(path[above]), path[above + 1 :]
    field = model.model_fields.get(key) if model is not None else None
    if field is None or not field.examples:
        return ""
    whole, item = field.examples[0], field.examples[-1]
    if not inside:
        return f"{key}: {written(whole)}"
    if isinstance(inside[0], int):
        return f"{key}: {written(item)}"
    name = inside[0] if inside[0] in whole else next(iter(whole))
    return f"{name}: {written(whole[name])}"


def written(value: object) -> str:
    """Write a value on one line, as YAML."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {written(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, str) and not value.replace(".", "").isdecimal():
        return value
    return json.dumps(value)


def scalars(model: type[BaseModel], above: str = "") -> Iterator[str]:
    """Yield every key of a model that has one value, those of mappings inside after a dot."""
    for name, field in model.model_fields.items():
        inner = _inner(field)
        if inner is not None:
            yield from scalars(inner, f"{above}{name}.")
        elif not _many(field):
            yield above + name


def _many(field: FieldInfo) -> bool:
    """Whether it holds values under names of the user's own, or in a list."""
    return get_origin(field.annotation) in (Mapping, tuple) and _repeated(field) is None


def _repeated(field: FieldInfo) -> type[BaseModel] | None:
    """The model whose keys its mapping may repeat."""
    return next((each.model for each in field.metadata if isinstance(each, KeysOf)), None)


def _inner(field: FieldInfo) -> type[BaseModel] | None:
    """The model of its value, or of each of its values; None where these are no mappings."""
    return _repeated(field) or next(_models(field.annotation), None)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    # What brings a schema of its own is a model in our hands only, and a scalar in a file.
    elif not any(
        isinstance(each, WithJsonSchema) for each in getattr(annotation, "__metadata__", ())
    ):
        for part in get_args(annotation):
            yield from _models(part)
