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
        """Whether there is an interval and it excludes zero."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @property
    def reach(self) -> float | None:
        """The larger absolute end of the interval; None without one."""
        if self.low is None or self.high is None:
            return None
        return max(abs(self.low), abs(self.high))

    @property
    def apart(self) -> float | None:
        """By how much the two sides of a ratio minus one differ at least.

        0 where the interval holds zero, else the ratio, minus one, of its end nearer to zero,
        whichever way; None without an interval. The far end would measure how little was seen.
        """
        if self.low is None or self.high is None:
            return None
        if self.low > 0:
            return self.low
        return 1 / (1 + self.high) - 1 if self.high < 0 else 0.0

    @field_serializer("value", when_used="json")
    def _null_without_blocks(self, value: float) -> float | None:
        return value if self.n else None
