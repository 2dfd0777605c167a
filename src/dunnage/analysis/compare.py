"""What may be said of a difference: the verdict, and how many blocks would settle it."""

from __future__ import annotations

import math

from dunnage.analysis.estimate import CONFIDENCE, MINIMUM_BLOCKS, Paired
from dunnage.analysis.looks import effort
from dunnage.model.analysis import Estimate, Verdict
from dunnage.model.metrics import Better
from dunnage.model.value import Value
from dunnage.units import percent


class Judgement(Value):
    """A verdict with its reason and, where it is open, the blocks that would settle it."""

    verdict: Verdict
    reason: str
    blocks_needed: int | None = None


def bound(twin: Estimate | None) -> float | None:
    """A/A bound: the larger absolute end of the twin's interval; None where it has none."""
    if twin is None or twin.low is None or twin.high is None:
        return None
    return max(abs(twin.low), abs(twin.high))


def judge(
    pairs: Paired,
    difference: Estimate | None,
    twin: Paired | None,
    limit: float | None,
    tolerance: float,
    better: Better,
) -> Judgement:
    """Decide between equivalent, overhead, gain and inconclusive.

    `limit` is the A/A bound and `twin` the pairs it came from, both of the same metric, workload
    and level; None for `twin` means that the study has no twin, and then nothing is claimed,
    because nobody knows by how much identical deployments differ.
    """
    if difference is None or difference.low is None or difference.high is None:
        return _open(_too_few(pairs.n, "complete blocks"), MINIMUM_BLOCKS)
    if limit is None:
        if twin is None:
            return _open("The study has no twin, so there is no A/A bound to hold this against.")
        return _open(_too_few(twin.n, "complete blocks of the twin"), MINIMUM_BLOCKS)
    low, high = difference.low, difference.high
    interval = f"the interval {percent(low, sign=True)} to {percent(high, sign=True)}"
    inside = -tolerance <= low and high <= tolerance
    if inside and limit <= tolerance:
        return Judgement(
            verdict=Verdict.EQUIVALENT,
            reason=f"{_capital(interval)} and the A/A bound of {percent(limit)} lie inside "
            f"±{percent(tolerance)}.",
        )
    edge = max(tolerance, limit)
    which = "tolerance" if tolerance >= limit else "A/A bound"
    if low > edge or high < -edge:
        worse = (low > edge) == (better is Better.LOWER)
        return Judgement(
            verdict=Verdict.OVERHEAD if worse else Verdict.GAIN,
            reason=f"{_capital(interval)} lies beyond the {which} of ±{percent(edge)}.",
        )
    if inside:
        return _open(
            f"{_capital(interval)} lies inside ±{percent(tolerance)}, but identical deployments "
            f"differed by up to {percent(limit)}.",
            blocks_needed(twin, tolerance, difference.level) if twin else None,
        )
    where = "stays within" if -edge <= low and high <= edge else "reaches across"
    return _open(
        f"{_capital(interval)} {where} the {which} of ±{percent(edge)}.",
        blocks_needed(pairs, edge, difference.level),
    )


def blocks_needed(pairs: Paired, edge: float, level: float = CONFIDENCE) -> int | None:
    """Blocks in all until the interval clears the nearest of ±`edge`: n ≈ 8 (s/h)², at least 6.

    `effort` says what 8 is, and what it grows to where blocks were added before. Where these blocks
    were not enough although the formula says so, it is one more than there are. None when the
    estimate lies on the edge, so that no number of blocks would do.
    """
    if not pairs.logs:
        return MINIMUM_BLOCKS
    edges = [math.log1p(edge)] + ([math.log1p(-edge)] if edge < 1 else [])
    distance = min(abs(pairs.mean - end) for end in edges)
    if distance == 0:
        return None
    wanted = math.ceil(effort(level) * (pairs.sd / distance) ** 2)
    return max(MINIMUM_BLOCKS, wanted, pairs.n + 1)


def _open(reason: str, blocks: int | None = None) -> Judgement:
    return Judgement(verdict=Verdict.INCONCLUSIVE, reason=reason, blocks_needed=blocks)


def _too_few(found: int, noun: str) -> str:
    missing = MINIMUM_BLOCKS - found
    are = "is" if missing == 1 else "are"
    return f"An interval needs {MINIMUM_BLOCKS} {noun}: there are {found}, {missing} {are} missing."


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
