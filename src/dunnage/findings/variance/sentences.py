"""What would settle questions, and what parts of a variance do not say, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dunnage.analysis.intervals import MINIMUM_BLOCKS
from dunnage.model.analysis import Analysis, Ground, QuestionAnswer
from dunnage.model.study import Study
from dunnage.model.variance import Inseparable, QuestionAdvice, VarianceSplit
from dunnage.study.masked import is_masked
from dunnage.units import duration
from dunnage.wording import damage, terms
from dunnage.wording.verdict import ON_AN_EDGE, reason

REPEAT = (
    "Most of the noise that pairs in a block do not cancel is between runs of one stay: a higher "
    "`repeat` helps more than blocks."
)
NO_RUN_YET = (
    "No run has a record yet: `dunnage run --resume RESULT` carries out those that are planned."
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


class _Said(NamedTuple):
    """A sentence that may be true of several questions, which it names if it is `named`."""

    before: str
    after: str
    named: bool = True

    def of(self, questions: Sequence[str]) -> str:
        return f"{self.before}{terms.listed(questions) if self.named else ''}{self.after}"


def next_steps(analysis: Analysis, study: Study, scale: float | None) -> tuple[str, ...]:
    """What to do next: measure damaged runs again, which is no look; only else add blocks, which is
    one. Nothing is added to a result that is not known to be of this study, nor to a quick try,
    whose `scale` is the share that its study was made shorter to."""
    if scale is not None or not damage.whole(analysis.damages):
        return ()
    grows = not is_masked(study)
    if any(found.run for found in analysis.damages):
        again = damage.lost_runs(analysis.damages) if grows else ""
        return tuple(filter(None, [again]))
    if grows and analysis.missing == analysis.planned:
        return (NO_RUN_YET,)
    return recommendations(analysis.advice, analysis.answers, grows=grows)


def recommendations(
    advice: Iterable[QuestionAdvice], answers: Iterable[QuestionAnswer], *, grows: bool = True
) -> tuple[str, ...]:
    """What would settle the questions that are open, and how long that takes.

    What is the same for several questions is said once. `grows` says whether blocks can be added to
    the result.
    """
    answered = {answer.question: answer for answer in answers}
    open_ = [found for found in advice if found.settled < found.comparisons]
    asked: dict[_Said, list[str]] = {}
    for found in open_:
        for said in (*_blocks(found, grows), *_stuck(found, answered[found.question])):
            asked.setdefault(said, []).append(found.question)
    repeated = [found.question for found in open_ if found.repeat_helps]
    if repeated:
        every = len(repeated) == len(open_)
        asked[_Said("", REPEAT if every else f": {REPEAT}", named=not every)] = repeated
    texts: dict[tuple[str, ...], list[str]] = {}
    for said, questions in asked.items():
        texts.setdefault(tuple(questions), []).append(said.of(questions))
    return tuple(" ".join(text) for text in texts.values())


def _blocks(advised: QuestionAdvice, grows: bool) -> Iterator[_Said]:
    """How many blocks would help, where any do."""
    more = advised.more_blocks
    if more is None:
        return
    deed = "allow an interval for" if advised.short else "settle"
    rest = "the rest of " if advised.unsettled else ""
    time = "" if advised.seconds is None else f", about {duration(advised.seconds)}"
    blocks = "1 more block" if more == 1 else f"{more} more blocks"
    how = f"`--blocks +{more}`" if grows else "in a new result, as this one masks a secret"
    yield _Said(f"{blocks} would {deed} {rest}", f" ({how}{time}).")


def _stuck(advised: QuestionAdvice, answer: QuestionAnswer) -> list[_Said]:
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
        return [_Said("", f": {why}") for why in reasons]
    return [_Said(f"{'; '.join(names)}: {why}", "", named=False) for why, names in reasons.items()]


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
