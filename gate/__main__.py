"""`python -m gate TIER`: carry out every stage of a tier, and name everything at the end.

Where the variable `ONLY` names proofs, separated by spaces, the proofs are these.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gate.carry import Carried, carry_out, interrupted
from gate.closing import closing, failures, stage_line
from gate.outcome import State
from gate.processes import adopt_orphans
from gate.progress import Progress
from gate.proofs import Rows, named, needed, unknown
from gate.stages import TIERS

LOGS = Path("target/gate")


def main(tier: str, only: Sequence[str] = (), proofs: Sequence[str] = ()) -> int:
    """Carry out a tier, or `only` some tests of the `proofs`; 0 when nothing failed, else 1.

    What passes by chance is what the hunt is for, so there it is a failure. An interrupted gate
    tells what it knows by then.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of commands load the same modules
    os.environ.pop("PYTEST_ADDOPTS", None)  # might leave tests out
    adopt_orphans()
    LOGS.mkdir(parents=True, exist_ok=True)
    *before, last = TIERS[tier]
    stages = [*needed(before, only), replace(last, argv=(*last.argv, *only))]
    carried: list[Carried] = []
    for place, stage in enumerate(stages, start=1):
        progress = Progress(place, len(stages), stage)
        rows = Rows(progress) if tier == "proofs" and place == len(stages) else None
        try:
            carried.append(carry_out(stage, LOGS, rows or progress))
        except KeyboardInterrupt:
            progress.clear()
            print("\n".join(closing([*carried, interrupted(stage, LOGS, progress.told)])))
            raise
        progress.clear()
        if rows:
            rows.finish(carried[-1].outcomes, proofs)
        print(stage_line(place, len(stages), carried[-1]))
        print("".join(f"{line}\n" for line in failures(carried[-1])), end="", flush=True)
    print("\n".join(closing(carried)))
    bad = {State.FAILED, State.FLAKY} if tier == "hunt" else {State.FAILED}
    return 1 if any(each.state in bad for one in carried for each in one.outcomes) else 0


if __name__ == "__main__":
    tier, more = "".join(sys.argv[1:2]), sys.argv[2:]
    if tier not in TIERS or more:
        sys.exit(f"usage: python -m gate {' | '.join(TIERS)}")
    only = os.environ.pop("ONLY", "").split() if tier == "proofs" else []
    proofs = named() if only else []
    if strange := unknown(only, proofs):
        print(
            "\n".join(["The proofs:", *proofs, f"dunnage: no proof is named: {', '.join(strange)}"])
        )
        sys.exit(2)
    # Whoever ends the gate ends its stages, and a shell that let it ignore Ctrl-C changes nothing.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        sys.exit(main(tier, only, proofs))
    except KeyboardInterrupt:
        sys.exit(130)
