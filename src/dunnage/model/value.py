"""The base of every value that is read from or written to a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value. An unknown key is an error, never a silent default.

    No error of the validation quotes what was given: it may be a secret.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Condition(Value):
    """A deployment under one workload and level: where something was measured or compared."""

    deployment: str
    workload: str
    level: str


def _on_one_line(schema: dict[str, Any]) -> None:
    for each in schema["properties"].values():
        if "description" in each:
            each["description"] = " ".join(each["description"].split())


class Spec(Value):
    """A value that a person writes: its schema says what its docstrings say."""

    model_config = ConfigDict(use_attribute_docstrings=True, json_schema_extra=_on_one_line)


Scalar = str | int | float | bool | None
"""What a fact or a setting can be."""
Option = Scalar | Mapping[str, object]
"""What an option of a network can be."""


@dataclass(frozen=True)
class KeysOf:
    """Marks a mapping that takes the keys of a model, none of which must be there."""

    model: type[BaseModel]
