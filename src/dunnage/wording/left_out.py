"""How many runs of a deployment were left out, and by which gates."""

from __future__ import annotations

from dunnage.model.analysis import LeftOut
from dunnage.wording import numbers, terms


def runs(side: LeftOut) -> str:
    """`3 of 18 runs of kubernetes (control 2 ×, steal 1 ×)`."""
    every = numbers.count(side.of_runs, "run")
    return f"{side.runs} of {every} of {terms.plain(side.deployment)}{_gates(side)}"


def blocks(side: LeftOut) -> str:
    """The same of blocks with such a run: `2 of 18 blocks of kubernetes (control 2 ×)`."""
    every = numbers.count(side.of_blocks, "block")
    return f"{side.blocks} of {every} of {terms.plain(side.deployment)}{_gates(side)}"


def blocks_of_all(side: LeftOut) -> str:
    """The same of a platform: `9 of 72 blocks of all deployments on kubernetes (steady 9 ×)`."""
    return blocks(side.model_copy(update={"deployment": f"all deployments on {side.deployment}"}))


def _gates(side: LeftOut) -> str:
    told = ", ".join(f"{gate} {times} ×" for gate, times in side.gates.items())
    return f" ({told})" if told else ""
