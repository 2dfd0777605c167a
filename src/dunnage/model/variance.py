"""The sources of variance of a study, and what would decide its questions."""

from __future__ import annotations

from enum import StrEnum

from dunnage.model.estimate import Estimate
from dunnage.model.value import Condition, Value


class Inseparable(StrEnum):
    """Why parts of a variance cannot be separated."""

    ONE_STAY = "one stay"
    """Every block has only one stay, so blocks and stays cannot be separated."""
    TOO_FEW_BLOCKS = "too few blocks"
    NO_REPEAT = "no repeat"
    """Each stay has one run, so runs and stays cannot be separated."""
    NO_TWIN = "no twin"
    """Stays and the reactions of deployments to a block cannot be separated."""


class VariancePart(Value):
    """One part of the variance of log values, by analysis of variance (method of moments)."""

    part: str
    """`block`, `stay`, `run`; `stay and run` if the design cannot separate them. `stay and
    reaction` without a twin: reactions of deployments to a block and stays cannot be separated.
    `all within` without twin and repetition."""
    variance: Estimate
    """Of natural logarithms, interval by Williams (1962) and Tukey; `n` is the blocks."""
    spread: float
    """The same as a standard deviation in share of one: exp(√variance) − 1."""
    share: float
    """Of the sum of all parts, 0 to 1."""
    truncated: bool
    """Whether the estimate was negative and is set to 0."""


class VarianceSplit(Value):
    """Variance of one metric between blocks, stays and runs."""

    metric: str
    workload: str
    level: str
    parts: tuple[VariancePart, ...]
    """Longest lifetime first; empty if even blocks cannot be separated."""
    deployments: tuple[str, ...]
    """Deployments whose runs are used: the twins if there are any, else all."""
    blocks: int
    """Blocks with the runs of all these deployments."""
    absent: tuple[Inseparable, ...]
    """Why some parts are not separate."""


class QuestionAdvice(Value):
    """What would decide one question of the study."""

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
    """Open comparisons that 1000 blocks would not decide: the estimate is near an edge, or there
    is no twin."""
    seconds: float | None
    """Estimated time for them, from the blocks of this result; None when none is complete, and
    for fakes, whose clock is not ours."""
    detectable: float | None
    """Largest of the comparisons' minimum detectable effects, in share of one; None below six
    blocks."""
    repeat_helps: bool = False
    """Whether repeating runs inside a stay would help more than blocks."""
