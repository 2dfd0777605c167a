"""What parts of a variance do not say, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.analysis.estimate import MINIMUM_BLOCKS
from dunnage.model.variance import Inseparable, VarianceSplit

_SENTENCES: Mapping[Inseparable, str] = {
    Inseparable.ONE_STAY: "A block's variance cannot be separated from its stays': every block has "
    "one stay only; `twin:` would separate them.",
    Inseparable.TOO_FEW_BLOCKS: f"Parts of the variance need {MINIMUM_BLOCKS} complete blocks of "
    "{deployments}: there are {blocks}.",
    Inseparable.NO_REPEAT: "A run's own variance cannot be separated from its stay's: each stay "
    "has one run of this; `repeat: 2` would separate them.",
    Inseparable.NO_TWIN: "A stay's own variance cannot be separated from how each deployment "
    "reacts to a block: no deployment has a twin; `twin:` would separate them.",
}


def inseparable(split: VarianceSplit) -> tuple[str, ...]:
    """One sentence for each part that is not known: why, and what would help."""
    known = {"deployments": ", ".join(split.deployments), "blocks": split.blocks}
    negative = (
        f"The estimated variance of each {part.part} in {split.metric} is negative, as chance can "
        "make it. It is shown as 0."
        for part in split.parts
        if part.truncated
    )
    return (*(_SENTENCES[reason].format(**known) for reason in split.absent), *negative)
