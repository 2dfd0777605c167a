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
    *,
    family: int = 1,
    unbounded: str = "",
    own: bool = False,
) -> Judgement:
    """Decide between equivalent, overhead, gain and inconclusive.

    `limit` is the A/A bound and `twin` the pairs it came from, both of the same metric, workload
    and level; None for `twin` means that the study has no twin, and then nothing is claimed,
    because nobody knows by how much identical deployments differ. `unbounded` says why there is no
    bound although there is a twin. `family` counts the comparisons whose intervals hold together.

    `own` says that `pairs` are the twin's: no interval lies beyond a bound that is made of itself,
    so that a question about the twins is judged by the tolerance alone and can fail.
    """
    if difference is None or difference.low is None or difference.high is None:
        return _open(_too_few(pairs.n, "complete blocks"), MINIMUM_BLOCKS)
    if limit is None:
        if twin is None:
            return _open("The study has no twin, so there is no A/A bound to hold this against.")
        if unbounded:
            return _open(unbounded)
        lacking = MINIMUM_BLOCKS - twin.n
        return _open(_too_few(twin.n, "complete blocks of the twin"), pairs.n + lacking)
    low, high = difference.low, difference.high
    interval = f"the interval {percent(low, sign=True)} to {percent(high, sign=True)}"
    inside = -tolerance <= low and high <= tolerance
    aside = " These are the twins, so the A/A bound is no edge here." if own else ""
    if inside and (own or limit <= tolerance):
        within = "lies inside" if own else f"and the A/A bound of {percent(limit)} lie inside"
        return Judgement(
            verdict=Verdict.EQUIVALENT,
            reason=f"{_capital(interval)} {within} ±{percent(tolerance)}.{aside}",
        )
    edge = tolerance if own else max(tolerance, limit)
    which = "tolerance" if tolerance >= edge else "A/A bound"
    if low > edge or high < -edge:
        worse = (low > edge) == (better is Better.LOWER)
        return Judgement(
            verdict=Verdict.OVERHEAD if worse else Verdict.GAIN,
            reason=f"{_capital(interval)} lies beyond the {which} of ±{percent(edge)}.{aside}",
        )
    against = None if own else twin
    blocks = blocks_needed(pairs, against, tolerance, difference.level, family)
    why = _hopeless(pairs, against, tolerance) if blocks is None else ""
    if inside:
        return _open(
            f"{_capital(interval)} lies inside ±{percent(tolerance)}, but identical deployments "
            f"differed by up to {percent(limit)}.{why}",
            blocks,
        )
    where = "stays within" if -edge <= low and high <= edge else "reaches across"
    return _open(
        f"{_capital(interval)} {where} the {which} of ±{percent(edge)}.{why}{aside}", blocks
    )


def blocks_needed(
    pairs: Paired,
    twin: Paired | None,
    tolerance: float,
    level: float = CONFIDENCE,
    family: int = 1,
) -> int | None:
    """Blocks in all that would settle this, if estimates and spreads stay what they are.

    On logarithms, with d the estimate, s its standard deviation, r² the `effort`, d', s' and r'
    the same of the twin, and h the distance from the estimate to the tolerance:

    - Inside the tolerance it heads for equivalent, which interval and A/A bound must both reach:
      n is the larger of (r s/h)² and (r' s'/h')².
    - Beyond it heads for overhead or gain. The interval must leave the tolerance, n = (r s/h)²,
      and leave a bound that shrinks meanwhile: |d| - r s/√n > |d'| + r' s'/√n, which makes
      n = ((r s + r' s')/(|d| - |d'|))². The larger one counts.

    That is `effort`'s n = r² (s/h)², at least 6, and one more than there are where those were not
    enough although the formula says so. `twin` is None where the tolerance alone is the edge. None
    comes back where no number of blocks would do: the estimate lies on the edge, the twins differ
    by more than the tolerance, or by more than the estimate that is to be told from them.
    """
    if not pairs.logs:
        return MINIMUM_BLOCKS
    reach = math.sqrt(effort(level, family)) * pairs.sd
    room = _room(pairs, tolerance)
    needs = [(reach, abs(room), 0)]
    if twin is not None:
        lost = max(0, pairs.n - twin.n)
        apart = math.sqrt(effort(level)) * twin.sd
        if room > 0:
            needs.append((apart, _room(twin, tolerance), lost))
        else:
            needs.append((reach + apart, abs(pairs.mean) - abs(twin.mean), lost))
    if any(distance <= 0 for _, distance, _ in needs):
        return None
    wanted = [math.ceil((spread / distance) ** 2) + lost for spread, distance, lost in needs]
    return max(MINIMUM_BLOCKS, pairs.n + 1, *wanted)


def _room(pairs: Paired, tolerance: float) -> float:
    """From the estimate to the nearest edge of the tolerance, on logarithms; outside negative."""
    low = math.log1p(-tolerance) if tolerance < 1 else -math.inf
    return min(math.log1p(tolerance) - pairs.mean, pairs.mean - low)


def _hopeless(pairs: Paired, twin: Paired | None, tolerance: float) -> str:
    """Why `blocks_needed` names no number."""
    room = _room(pairs, tolerance)
    why = "the estimate lies on the edge of the tolerance"
    if twin is not None and room != 0:
        apart = percent(math.expm1(twin.mean), sign=True)
        than = "which is outside the tolerance" if room > 0 else "which is no less than this"
        why = f"identical deployments differed by {apart} on average, {than}"
    return f" No number of blocks can be named: {why}."


def _open(reason: str, blocks: int | None = None) -> Judgement:
    return Judgement(verdict=Verdict.INCONCLUSIVE, reason=reason, blocks_needed=blocks)


def _too_few(found: int, noun: str) -> str:
    missing = MINIMUM_BLOCKS - found
    are = "is" if missing == 1 else "are"
    return f"An interval needs {MINIMUM_BLOCKS} {noun}: there are {found}, {missing} {are} missing."


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
