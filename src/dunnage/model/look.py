"""A look: blocks were added after the results of finished blocks were seen."""

from __future__ import annotations

from dunnage.model.value import Value

LOOK_VERSION = 2
"""1: first. 2: whether it was free."""


class Look(Value):
    """One line of `looks.jsonl`, written before the plan of the blocks that were added."""

    version: int = LOOK_VERSION
    time: float
    """Unix time, in seconds."""
    plan: int
    """Number of the resulting plan file: 2 for `plan-2.json`."""
    complete: int
    """Blocks with a valid run, complete or not. At 0 there was no result to see, and the look
    has no cost."""
    planned: int
    """Total blocks planned before the look."""
    added: int
    """Blocks planned in addition."""
    spare: bool = False
    """Whether the study's `spare` added them, in place of blocks with a missing or disturbed run.
    This uses no measured value."""
    free: bool = False
    """Whether it has no cost: fewer than six blocks were seen, which allow no claim, and the total
    after it was fixed before: the study's own number, at least six."""
