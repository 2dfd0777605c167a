"""What would settle a question, and what parts of a variance do not say, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.analysis.intervals import MINIMUM_BLOCKS
from dunnage.model.analysis import Ground, QuestionAnswer
from dunnage.model.variance import Inseparable, QuestionAdvice, VarianceSplit
from dunnage.units import duration
from dunnage.wording.verdict import ON_AN_EDGE, reason

REPEAT = (
    "Most of the noise that pairs in a block do not cancel is between runs of one stay: a higher "
    "`repeat` helps more than blocks."
)
_INSEPARABLE: Mapping[Inseparable, str] = {
    Inseparable.ONE_STAY: "A block's variance cannot be separated from its stays': every block has "
    "one stay only; `twin:` would separate them.",
    Inseparable.TOO_FEW_BLOCKS: f"Parts of the variance need {MINIMUM_BLOCKS} complete blocks of "
    "{deployments}: there are {blocks}.",
    Inseparable.NO_REPEAT: "A run's own variance cannot be separated from its stay's: each stay "
    "has one run of this; `repeat: 2` would separate them.",
    Inseparable.NO_TWIN: "A stay's own variance cannot be separated from how each deployment "
    "reacts to a block: no deployment has a twin; `twin:` would separate them.",
}


def recommendation(advised: QuestionAdvice, answer: QuestionAnswer) -> str:
    """What would settle a question, and how long that takes."""
    if not advised.comparisons:
        return f"{advised.question} compares nothing that was measured."
    if advised.more_blocks == 0:
        return f"{advised.question} is settled."
    said = []
    if advised.more_blocks is not None:
        deed = "allow an interval for" if advised.short else "settle"
        what = f"the rest of {advised.question}" if advised.unsettled else advised.question
        time = "" if advised.seconds is None else f", about {duration(advised.seconds)}"
        more = advised.more_blocks
        blocks = "1 more block" if more == 1 else f"{more} more blocks"
        said.append(f"{blocks} would {deed} {what} (`--blocks +{more}`{time}).")
    said += _stuck(advised, answer)
    if advised.repeat_helps:
        said.append(REPEAT)
    return " ".join(said)


def _stuck(advised: QuestionAdvice, answer: QuestionAnswer) -> list[str]:
    """Why blocks do not settle the comparisons that they do not settle."""
    reasons: dict[str, list[str]] = {}
    unsettled = {(each.deployment, each.workload, each.level) for each in advised.unsettled}
    for each in answer.comparisons:
        place = (each.deployment, each.workload, each.level)
        if each.primary and place in unsettled:
            edge = each.blocks_needed is not None or each.ground is Ground.ON_AN_EDGE
            why = ON_AN_EDGE if edge else reason(each)
            reasons.setdefault(why, []).append(", ".join(place))
    if len(advised.unsettled) == advised.comparisons and len(reasons) == 1:
        return [f"{advised.question}: {why}" for why in reasons]
    return [f"{'; '.join(names)}: {why}" for why, names in reasons.items()]


def inseparable(split: VarianceSplit) -> tuple[str, ...]:
    """One sentence for each part that is not known: why, and what would help."""
    known = {"deployments": ", ".join(split.deployments), "blocks": split.blocks}
    negative = (
        f"The estimated variance of each {part.part} in {split.metric} is negative, as chance can "
        "make it. It is shown as 0."
        for part in split.parts
        if part.truncated
    )
    return (*(_INSEPARABLE[why].format(**known) for why in split.absent), *negative)
