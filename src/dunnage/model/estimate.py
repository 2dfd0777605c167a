"""A number with its interval: the only way in which an estimate travels."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema, field_serializer

from dunnage.model.value import Value

_NUMBER_OR_NULL = {"anyOf": [{"type": "number"}, {"type": "null"}]}


def _known(value: Any) -> Any:
    return 0.0 if value is None else value


class Estimate(Value):
    """A value with its interval. `n` is the number of blocks; `method` says how it was made.

    `low` and `high` are None where there are too few blocks for an interval.
    In files `value` is null where `n` is 0: nothing was compared.
    """

    value: Annotated[float, BeforeValidator(_known), WithJsonSchema(_NUMBER_OR_NULL)]
    low: float | None
    high: float | None
    n: int
    unit: str
    method: str
    level: float = 0.95
    """Coverage of the interval, simultaneous over the family it belongs to."""

    @property
    def without_zero(self) -> bool:
        """Whether there is an interval and zero lies outside it."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @field_serializer("value", when_used="json")
    def _null_without_blocks(self, value: float) -> float | None:
        return value if self.n else None
