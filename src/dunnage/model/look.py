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
    """Blocks of which every run had its record and one at least was valid. At 0 nothing could be
    seen yet, and then it costs nothing."""
    planned: int
    """Blocks planned in all until then."""
    added: int
    """Blocks planned in addition."""
    spare: bool = False
    """Whether a rule of the study added them in place of spoilt blocks, by validity alone: nobody
    saw a number."""
