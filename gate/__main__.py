"""`python -m gate TIER`: carry out every stage of a tier, and name everything at the end.

Where the variable `ONLY` names proofs, separated by spaces, the proofs are these. With the variable
`MINUTES` they are as many as fit into that time, oldest first.
"""

from __future__ import annotations

import math
import os
import signal
import sys

from gate.outcome import State
from gate.proofs.page import PageError
from gate.proofs.prove import prove
from gate.stages import TIERS
from gate.tier import Tier


def main(name: str) -> int:
    """Carry out a tier; 0 when nothing failed, else 1.

    What passes by chance is what the hunt is for, so there it is a failure.
    """
    tier = Tier()
    for stage in TIERS[name]:
        tier.carry_out(stage, len(TIERS[name]))
    return tier.close((State.FAILED, State.FLAKY) if name == "hunt" else (State.FAILED,))


def proofs() -> int:
    """Try the proofs that the variables ask for; 2 where these cannot be understood."""
    only, said = os.environ.pop("ONLY", "").split(), os.environ.pop("MINUTES", "").strip()
    minutes = _minutes(said)
    if minutes is None:
        print(f"dunnage: this is no number of minutes: {said}; type: make proofs MINUTES=150")
        return 2
    try:
        return prove(only, minutes)
    except PageError as error:
        print(f"dunnage: {error}")
        return 2


def _minutes(said: str) -> float | None:
    """A time, infinite where none is said; None where it cannot be understood."""
    try:
        found = float(said or math.inf)
    except ValueError:
        return None
    return found if found > 0 else None


if __name__ == "__main__":
    name, more = "".join(sys.argv[1:2]), sys.argv[2:]
    if name not in TIERS or more:
        sys.exit(f"usage: python -m gate {' | '.join(TIERS)}")
    # Whoever ends the gate ends its stages, and a shell that let it ignore Ctrl-C changes nothing.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        sys.exit(proofs() if name == "proofs" else main(name))
    except KeyboardInterrupt:
        sys.exit(130)
