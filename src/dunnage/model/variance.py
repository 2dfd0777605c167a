"""Where the variance of a study lies, and what would settle its questions."""

from __future__ import annotations

from enum import StrEnum

from dunnage.model.estimate import Estimate
from dunnage.model.value import Value


class Inseparable(StrEnum):
    """Why parts of a variance cannot be told apart."""

    ONE_STAY = "one stay"
    """Every block has one stay only, so that blocks are not told from stays."""
    TOO_FEW_BLOCKS = "too few blocks"
    NO_REPEAT = "no repeat"
    """Each stay has one run, so that runs are not told from stays."""
    NO_TWIN = "no twin"
    """A stay is not told from deployments that react to a block each in its own way."""


class VariancePart(Value):
    """One part of the variance of log values, by analysis of variance (method of moments)."""

    part: str
    """`block`, `stay`, `run`; `stay and run` where the design cannot tell them apart; `stay and
    reaction` where, without a twin, a stay's own variance cannot be told from deployments reacting
    to a block each in its own way; `all within` where neither twin nor repetition is there."""
    variance: Estimate
    """Of natural logarithms, interval by Williams (1962) and Tukey; `n` is the blocks."""
    spread: float
    """The same as a standard deviation in share of one: exp(√variance) − 1."""
    share: float
    """Of the sum of all parts, 0 to 1."""
    truncated: bool
    """Whether the estimate was negative and is set to 0."""


class VarianceSplit(Value):
    """How much of the variance of one metric lies between blocks, stays and runs."""

    metric: str
    workload: str
    level: str
    parts: tuple[VariancePart, ...]
    """Widest life time first; empty where even blocks cannot be told from what is within."""
    deployments: tuple[str, ...]
    """Whose runs it is made of: the twins where there are some, else all."""
    blocks: int
    """Blocks that have all of these deployments' runs."""
    absent: tuple[Inseparable, ...]
    """Why some parts are not there by themselves."""


class Condition(Value):
    """Where a deployment is compared."""

    deployment: str
    workload: str
    level: str


class QuestionAdvice(Value):
    """What would settle one question of the study."""

    question: str
    comparisons: int
    settled: int
    """Comparisons with a verdict other than inconclusive."""
    more_blocks: int | None
    """Blocks to add to the study so that every comparison that blocks can settle is settled; 0 when
    all are; None when no practicable number would settle any, or nothing was compared."""
    short: bool
    """Whether a comparison has too few blocks for an interval, so that blocks would first allow
    one."""
    unsettled: tuple[Condition, ...]
    """Open comparisons that no practicable number of blocks would settle (at most 1000), because
    the estimate lies almost on an edge or there is no twin."""
    seconds: float | None
    """Estimated time for them, from the blocks of this result; None when none is complete."""
    detectable: float | None
    """Largest of the comparisons' minimum detectable effects, in share of one; None below six
    blocks."""
    repeat_helps: bool = False
    """Whether repeating runs inside a stay would help more than blocks."""
