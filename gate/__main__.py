"""`python -m gate TIER`: carry out every stage of a tier, and name everything at the end."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from gate.carry import carry_out
from gate.closing import closing, stage_line
from gate.outcome import State
from gate.processes import adopt_orphans
from gate.progress import Progress
from gate.proofs import write_proofs
from gate.stages import TIERS

LOGS = Path("target/gate")


def main(tier: str) -> int:
    """0 when nothing failed, else 1."""
    adopt_orphans()
    LOGS.mkdir(parents=True, exist_ok=True)
    stages, carried = TIERS[tier], []
    for place, stage in enumerate(stages, start=1):
        progress = Progress(place, len(stages), stage)
        carried.append(carry_out(stage, LOGS, progress))
        progress.clear()
        print(stage_line(place, len(stages), carried[-1]), flush=True)
    if tier == "proofs":
        write_proofs(carried[-1].outcomes)
    print("\n".join(closing(carried)))
    failed = any(each.state is State.FAILED for one in carried for each in one.outcomes)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in TIERS:
        sys.exit(f"usage: python -m gate {' | '.join(TIERS)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends it ends its stages
    try:
        sys.exit(main(sys.argv[1]))
    except KeyboardInterrupt:
        sys.exit(130)
