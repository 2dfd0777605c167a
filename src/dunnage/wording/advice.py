"""What would settle a question, and how long that takes, in sentences."""

from __future__ import annotations

from dunnage.model.analysis import Ground, QuestionAnswer
from dunnage.model.variance import QuestionAdvice
from dunnage.units import duration
from dunnage.wording.verdict import ON_AN_EDGE, reason

REPEAT = (
    "Most of the noise that pairs in a block do not cancel is between runs of one stay: a higher "
    "`repeat` helps more than blocks."
)


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
