"""The base of every value that is read from or written to a file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value. An unknown key is an error, never a silent default."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Scalar = str | int | float | bool | None
"""What a fact, a setting or an option can be."""
