"""What a class's fields are and mean, read from its source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """One field, or one value of an enumeration, as its class says it."""

    name: str
    kind: str
    default: str
    meaning: str


def fields(kind: type) -> tuple[Field, ...]:
    """Return the fields of a class in their order, those of its bases first."""
    ours = [each for each in reversed(kind.__mro__) if each.__module__.startswith("dunnage.")]
    return tuple(field for each in ours for field in _own_fields(each))


def _own_fields(kind: type) -> Iterator[Field]:
    source = ast.parse(inspect.getsource(kind)).body
    (definition,) = (node for node in source if isinstance(node, ast.ClassDef))
    after = [*definition.body[1:], ast.Pass()]
    for statement, follower in zip(definition.body, after, strict=True):
        meaning = _docstring(follower)
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            default = "" if statement.value is None else ast.unparse(statement.value)
            yield Field(name, ast.unparse(statement.annotation), default, meaning)
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            (target,) = statement.targets
            yield Field(ast.unparse(target), "", str(statement.value.value), meaning)


def _docstring(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        text = statement.value.value
        return " ".join(text.split()) if isinstance(text, str) else ""
    return ""
