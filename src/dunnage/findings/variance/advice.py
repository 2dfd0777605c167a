"""The planner's advice: what would settle each question, and how long that would take.

The only source of these numbers: terminal, page and the command line's hints take them from here;
`sentences.py` has the words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median

from dunnage.findings.variance.variance import RUN, STAY
from dunnage.model.analysis import Comparison, QuestionAnswer, Verdict
from dunnage.model.record import Record, StayRecord
from dunnage.model.value import Condition
from dunnage.model.variance import QuestionAdvice, VarianceSplit

PRACTICABLE = 1000
"""More blocks than that are no advice: the estimate lies almost on the edge of its tolerance."""


def advise(
    answer: QuestionAnswer,
    splits: Sequence[VarianceSplit],
    block_seconds: float | None,
    repeat: int = 1,
    rest: int = 0,
) -> QuestionAdvice:
    """Aggregate the primary comparisons of one question.

    The blocks to add are the most that any of them needs; `block_seconds` is how long one block of
    this result took, None when none is known, `repeat` how often a stay made each of its runs, and
    `rest` how many blocks the study asks for that were not planned: going that far is no choice by
    what was seen, and so costs nothing below six blocks.
    """
    deciding = [c for c in answer.comparisons if c.primary]
    open_ = [c for c in deciding if c.verdict is Verdict.INCONCLUSIVE]
    needs = [more for c in open_ if (more := _needed(c)) is not None]
    stuck = [c for c in open_ if _needed(c) is None]
    more = max(needs, default=None if open_ or not deciding else 0)
    short = any(c.difference.low is None for c in deciding)
    if short and more:
        more = max(more, rest)
    seconds = more * block_seconds if more is not None and block_seconds is not None else None
    known = [c.detectable for c in deciding if c.detectable is not None]
    return QuestionAdvice(
        question=answer.question,
        comparisons=len(deciding),
        settled=len(deciding) - len(open_),
        more_blocks=more,
        short=short,
        unsettled=tuple(
            Condition(deployment=c.deployment, workload=c.workload, level=c.level) for c in stuck
        ),
        seconds=seconds,
        detectable=max(known, default=None),
        repeat_helps=bool(open_) and _repeat_helps(open_, splits, repeat),
    )


def block_seconds(records: Sequence[Record], stays: Sequence[StayRecord]) -> float | None:
    """Median time from the start of one block to the start of the next, in seconds.

    Where there is only one block, from its start to its end. A break between two blocks, as after
    an interruption, is one value among many. None without a finished run.
    """
    began: dict[int, float] = {}
    ended: dict[int, float] = {}
    for record in records:
        began[record.block] = min(record.started, began.get(record.block, record.started))
        ended[record.block] = max(record.ended, ended.get(record.block, record.ended))
    for stay in stays:
        if stay.block in began:
            began[stay.block] = min(stay.started, began[stay.block])
    steps = [
        began[later] - began[earlier]
        for earlier, later in pairwise(sorted(began))
        if later == earlier + 1 and began[later] > began[earlier]
    ]
    return median(steps or [ended[block] - began[block] for block in began]) if began else None


def _repeat_helps(
    comparisons: Sequence[Comparison], splits: Sequence[VarianceSplit], repeat: int
) -> bool:
    """Blocks cancel in a pair, so what widens an interval is the stays' part and the runs'.

    A stay's mean has the stay's variance and the runs' over `repeat`. Only twins tell the stays'
    own part; without them it is not known which is the larger, and nothing is said.
    """
    parts: Mapping[tuple[str, str, str], Mapping[str, float]] = {
        (split.metric, split.workload, split.level): {
            part.part: part.variance.value for part in split.parts
        }
        for split in splits
    }
    seen = [parts.get((c.metric, c.workload, c.level), {}) for c in comparisons]
    known = [found for found in seen if RUN in found and STAY in found]
    mostly = [found for found in known if found[RUN] / repeat > found[STAY]]
    return bool(mostly) and 2 * len(mostly) > len(known)


def _needed(comparison: Comparison) -> int | None:
    """Blocks to add for this comparison; None when that is more than anybody would measure."""
    if comparison.blocks_needed is None:
        return None
    more = max(1, comparison.blocks_needed - comparison.difference.n)
    return more if more <= PRACTICABLE else None
