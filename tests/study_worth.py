"""Whether a study can be judged: it is whole, has an answer, or was disturbed from outside."""

from __future__ import annotations

from collections import Counter

import pytest

from dunnage.findings.checks.reasons import Reason, of_run
from dunnage.model.analysis import Analysis, RunSummary

TOLERATED = 0.1
"""Share of the runs that may be spoilt."""
BLOCKS = 6
"""Complete blocks without which there is no interval."""


def insist_it_answered(seen: Analysis) -> None:
    """Fail where a study has too few valid runs or complete blocks by a fault of its own.

    It is skipped where the records show that steal or other load spoilt more than one run of ten,
    or that nothing else spoilt the blocks which an interval needs.
    """
    assert seen.missing == 0
    assert seen.unknown == 0
    spoilt = [run for run in seen.runs if run.status != "valid"]
    assert all(of_run(run) for run in spoilt)
    outside = [run for run in spoilt if all(map(from_outside, of_run(run)))]
    own = [[reason.text for reason in of_run(run)] for run in spoilt if run not in outside]
    assert len(own) <= TOLERATED * seen.planned, f"{len(own)} of {seen.planned} runs: {own}"
    blocks = [one.complete_blocks for one in seen.answers]
    lost_to_outside = min(blocks) < BLOCKS and outside and not own
    if len(outside) > TOLERATED * seen.planned or lost_to_outside:
        pytest.skip(
            f"{len(outside)} of {seen.planned} runs were disturbed from outside, complete blocks "
            f"{blocks}: {'; '.join(map(first_reasons, outside))}"
        )
    assert min(blocks) >= BLOCKS, f"complete blocks: {blocks}"


def insist_it_is_whole(seen: Analysis) -> None:
    """Fail where a shipped study is not what it promises, whoever is to blame.

    All of its blocks were carried out to the end, so that its orders are balanced; at least nine of
    ten runs are valid; and each question has the complete blocks which an interval needs.
    """
    assert seen.missing == seen.unknown == 0, in_short(seen)
    assert seen.valid >= (1 - TOLERATED) * seen.planned, in_short(seen)
    assert all(one.complete_blocks >= BLOCKS for one in seen.answers), in_short(seen)


def from_outside(reason: Reason) -> bool:
    """Whether a gate blames what other machines or other programs of this one did."""
    return reason.gate in {"steal", "other load"}


def first_reasons(run: RunSummary) -> str:
    """Why a run is not valid, each reason without its details."""
    return "; ".join(f"{reason.gate}: {reason.seen}" for reason in of_run(run))


def in_short(seen: Analysis) -> str:
    """Valid runs, their share and what spoilt others; blocks that were carried out to the end, and
    those of each question that are complete, without a spoilt run; how often was which verdict."""
    known = Counter(run.block for run in seen.runs if run.status != "unknown")
    every = {run.block for run in seen.runs}
    whole = [block for block in every if known[block] == max(known.values())]
    blocks = ", ".join(f"{one.question} {one.complete_blocks}" for one in seen.answers)
    verdicts = Counter(each.verdict for one in seen.answers for each in one.comparisons)
    counted = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    gates = Counter(reason.gate for run in seen.runs for reason in of_run(run))
    spoilt = ", ".join(f"{gate} {count} ×" for gate, count in sorted(gates.items()))
    valid = f"{seen.valid} of {seen.planned} runs valid, {seen.valid / seen.planned:.1%}"
    ended = f"{len(whole)} of {len(every)} blocks carried out to the end"
    why = f" ({spoilt})" if spoilt else ""
    return f"{valid}{why}; {ended}; complete blocks: {blocks}; {counted}"
