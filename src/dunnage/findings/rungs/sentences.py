"""What is added up in a ladder, what is not, and what must be known to read one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dunnage.analysis.groups import grouped
from dunnage.analysis.intervals import MINIMUM_BLOCKS
from dunnage.model.rungs import Rungs
from dunnage.wording import terms
from dunnage.wording.quantity import Unit

PER_OPERATION = Unit("µs/op", 1e-6)
"""What every time per operation is written in."""
REST = "the rest"
"""What the rest of a ladder is called whose steps have not all the same blocks."""
READING = (
    "The deployments in the order of the study, each against the one before it. A bar starts where "
    "the last one ended; its line is the interval of this step alone, 95 % each, paired over "
    "blocks. The lowest bar is the first deployment against the last, measured by itself. "
    "Hatched is what the steps do not add up to, where they have other blocks."
)
READING_TABLE = (
    "What each deployment adds to the one before it, each step with its own 95 % interval, paired "
    "over blocks:"
)
APART = (
    "Service time and CPU time are added up each for itself, and neither explains the other. Hosts "
    "also work beside the path of an operation (replicas, background work), and an operation also "
    "waits: for the network, and for others that are served at the same time. How much of a step "
    "in service time is processor time cannot be told from them."
)


def notes(every: Sequence[Rungs]) -> tuple[str, ...]:
    """What the steps add up to, and what is not known or left out in the ladders of one picture."""
    return (*_unexplained(every), *_unknown(every), *_left_out(every), *_few(every))


def _unexplained(every: Sequence[Rungs]) -> Iterator[str]:
    rest = [found for found in every if found.unexplained]
    if not rest and all(found.unexplained is not None for found in every):
        yield (
            "Every step has the same blocks, so that the steps add up to the whole by arithmetic, "
            "whatever the cause of each. So a step holds all in which its two deployments differ, "
            "also what nobody has named, and the last one holds what the others leave of the whole."
        )
    for found in rest:
        yield (
            f"{terms.title(found.metric)}: the steps add up to {_shown(found.total)} and the whole "
            f"is {_shown(found.whole.difference.value)}, because not all of them have the same "
            f"blocks. {_shown(found.unexplained or 0.0)} come of {_origin(found)}."
        )
    for found in every:
        if found.unexplained is None:
            yield (
                f"{terms.title(found.metric)}: no block has valid runs of both "
                f"{terms.plain(found.whole.baseline)} and {terms.plain(found.whole.deployment)}, "
                "so that the whole is not known."
            )


def _origin(found: Rungs) -> str:
    """What a rest comes of."""
    known = all(step.difference.n for step in found.steps)
    return "that, not of a deployment" if known else "that, and of what is not known of a step"


def _unknown(every: Sequence[Rungs]) -> Iterator[str]:
    for found in every:
        for step in found.steps:
            if not step.difference.n:
                yield (
                    f"{terms.title(found.metric)}: no block has valid runs of both "
                    f"{terms.plain(step.baseline)} and {terms.plain(step.deployment)}, so that "
                    "this step is not known and adds nothing."
                )


def _left_out(every: Sequence[Rungs]) -> Iterator[str]:
    for names, alike in grouped(every, lambda found: found.left_out).items():
        if names:
            metrics = terms.listed([terms.phrase(found.metric) for found in alike])
            left = terms.listed([terms.plain(name) for name in names])
            yield f"Left out of {metrics}, without a valid run that tells it: {left}."


def _few(every: Sequence[Rungs]) -> Iterator[str]:
    steps = [step.difference for found in every for step in (*found.steps, found.whole)]
    fewest = min((step.n for step in steps if step.n), default=0)
    if 0 < fewest < MINIMUM_BLOCKS:
        yield f"Below {MINIMUM_BLOCKS} blocks that have both sides there is no interval."


def _shown(seconds: float) -> str:
    return f"{PER_OPERATION.signed(seconds)} {PER_OPERATION.label}"
