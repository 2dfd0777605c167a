"""A look: somebody saw what finished blocks say, and then blocks were added."""

from __future__ import annotations

from dunnage.model.value import Value

LOOK_VERSION = 1
"""1: first."""


class Look(Value):
    """One line of `looks.jsonl`, written before the plan of the blocks that were added."""

    version: int = LOOK_VERSION
    time: float
    """Unix time, in seconds."""
    plan: int
    """Number of the plan file that came of it: 2 for `plan-2.json`."""
    complete: int
    """Blocks with a valid run, whole or not. At 0 nothing could be seen yet, and then it costs
    nothing."""
    planned: int
    """Blocks planned in all until then."""
    added: int
    """Blocks planned in addition."""
    spare: bool = False
    """Whether a rule of the study added them in place of blocks in which a run is missing or was
    disturbed from outside: nobody saw a number."""
