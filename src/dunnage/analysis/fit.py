"""How many blocks, and how long a run, where a study says only how long it may take.

More blocks and longer runs both narrow an interval, and both take time. What longer runs take away
is the chance inside a run; what differs from stay to stay only blocks average out. So the length is
chosen at which a given time ends with the narrowest interval, by what earlier results of this
machine showed.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ruamel.yaml import YAML

from dunnage.analysis.distributions import t_quantile
from dunnage.analysis.intervals import CONFIDENCE, MINIMUM_BLOCKS
from dunnage.model.deployment import Deployment
from dunnage.model.remembered import Pace
from dunnage.model.study import Study
from dunnage.study.expected_time import beside_seconds, block_seconds, known
from dunnage.study.plan import make_plan
from dunnage.study.rules_turns import LEAST_TURNS
from dunnage.study.williams import period
from dunnage.units import duration, percent

LENGTHS = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 60.0)
"""Seconds of a run that are considered; a shorter one could not be told to be steady."""
MOST_BLOCKS = 1000
SPREAD, WITHIN, MEASURED = 0.03, 0.5, 4.0
"""Taken for granted where no earlier result tells: log throughput of runs of 4 s spreads by 3 %,
half of its variance by chance inside the run."""


@dataclass(frozen=True)
class Fit:
    """What was chosen, and a sentence that says why."""

    blocks: int
    duration: float | None
    """Seconds of a run; None where the study counts operations."""
    why: str


def fit(study: Study, deployments: Sequence[Deployment], paces: Sequence[Pace] = ()) -> Fit:
    """Choose blocks and, unless the study says it, the measured time of a run for `study.time`.

    Whole Williams squares are taken where six blocks are left of them. Where not even six blocks
    fit, there are as many as fit, one at least, and the sentence says that this is no interval.
    """
    if study.time is None:
        raise ValueError("the study does not say how long it may take")
    own = study.load.duration if study.load.operations is None else None
    given = own is not None or study.load.operations is not None
    least = LEAST_TURNS * (study.load.turns or 0.0)
    lengths = (own,) if given else tuple(length for length in LENGTHS if length >= least)
    # What earlier results tell of noise is of runs one after another, and in turns most of it
    # cancels: there it is not known.
    turns = study.load.turns is not None
    noise = [] if turns else [p for each in deployments if (p := known(each, paces)) is not None]
    found = [_at(study, deployments, paces, noise, length) for length in lengths]
    blocks, length, half = min(found, key=lambda each: (each[2], each[1] or 0.0))
    return Fit(blocks, length, _why(blocks, length, half, noise, given=given))


def fitted(text: str, study: Study, chosen: Fit) -> str:
    """The text of a study with `time` replaced by what was chosen for it; comments stay.

    `text` is that of `study`, which was read without a problem. The first line says why.
    """
    yaml = YAML(typ="rt")
    yaml.width = 1000
    data = yaml.load(text)
    del data["time"]
    data["blocks"] = chosen.blocks
    if chosen.duration is not None and study.load.duration is None:
        data["load"]["duration"] = f"{chosen.duration:g}s"
    out = io.StringIO()
    yaml.dump(data, out)
    return f"# Chosen for `time: {study.time:g}s`: {chosen.why}\n{out.getvalue()}"


def _at(
    study: Study,
    deployments: Sequence[Deployment],
    paces: Sequence[Pace],
    noise: Sequence[Pace],
    length: float | None,
) -> tuple[int, float | None, float]:
    """Blocks that fit with runs of this length, and the half width they would give."""
    one = study.model_copy(
        update={"blocks": 1, "load": study.load.model_copy(update={"duration": length})}
    )
    plan = make_plan(one, deployments)
    before = beside_seconds(plan, one, paces)
    block = block_seconds(plan.blocks[0], plan, one, paces)
    fitting = int(((study.time or 0.0) - before) / block) if block > 0 else MOST_BLOCKS
    blocks = max(1, min(fitting, MOST_BLOCKS))
    even = blocks - blocks % period(len(deployments))
    if even >= MINIMUM_BLOCKS:
        blocks = even
    return blocks, length, _half(blocks, length, noise)


def _half(blocks: int, length: float | None, noise: Sequence[Pace]) -> float:
    """Half width of one interval of a pair on logarithms, as far as the noise is known.

    Fewer blocks than an interval needs are worse than any number that makes one.
    """
    known = [(each.spread, each.within, each.measured) for each in noise]
    worst = max(_variance(*each, length) for each in known or [(SPREAD, WITHIN, MEASURED)])
    if blocks < MINIMUM_BLOCKS:
        return 1e3 / blocks
    return t_quantile((1 + CONFIDENCE) / 2, blocks - 1) * math.sqrt(2 * worst / blocks)


def _variance(spread: float, within: float, measured: float, length: float | None) -> float:
    longer = 1.0 if length is None else measured / length
    return spread**2 * (1 - within + within * longer)


def _why(
    blocks: int, length: float | None, half: float, noise: Sequence[Pace], *, given: bool
) -> str:
    runs = "" if length is None else f" with runs of {duration(length)}"
    size = f"{blocks} block{'' if blocks == 1 else 's'}{runs}"
    if blocks < MINIMUM_BLOCKS:
        return f"{size}; an interval needs {MINIMUM_BLOCKS}, and this time is too short for that"
    by = (
        "as earlier results of this machine showed"
        if noise
        else "by a guess, because no earlier result of this machine has its pace and noise"
    )
    best = "" if given else ", the length at which they are narrowest in that time"
    return f"{size}{best}; an interval of one comparison would reach ±{percent(half)}, {by}"
