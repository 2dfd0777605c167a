"""Comparisons as plain sentences. The wording claims no more than the verdict allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from dunnage.analysis.groups import grouped
from dunnage.analysis.intervals import MINIMUM_BLOCKS
from dunnage.analysis.looks import costs, coverage, number
from dunnage.findings.differences.answer import all_comparisons
from dunnage.findings.differences.lacking import Role, lacking
from dunnage.findings.study.sentences import database_name, subjects
from dunnage.model.analysis import Analysis, Comparison, LeftOut, QuestionAnswer, Verdict
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import METRICS, Better
from dunnage.model.plan import Plan
from dunnage.model.study import Study
from dunnage.wording import left_out, numbers, terms
from dunnage.wording.verdict import reason


@dataclass(frozen=True)
class Claim:
    """What alike comparisons of one deployment allow us to say, and the numbers beneath."""

    verdict: Verdict
    sentence: str
    deployment: str
    evidence: tuple[tuple[str, str], ...]
    """(condition, numbers) of each comparison that the sentence speaks of."""


Reached = Mapping[tuple[str, str, str, str], Estimate]
"""Deployment, workload, level and metric → what was reached there."""


def claims(
    question: QuestionAnswer, study: Study, plan: Plan, reached: Reached
) -> tuple[Claim, ...]:
    """One claim for each deployment and verdict of a question; what is settled comes first."""
    names = subjects(plan)
    database = database_name(study, plan)
    groups = grouped(question.comparisons, lambda found: (found.deployment, found.verdict))
    verdicts = Counter(deployment for deployment, _ in groups)
    order = list(verdicts)
    return tuple(
        Claim(
            verdict=verdict,
            sentence=sentence(
                alike,
                names.get(deployment, terms.plain(deployment)),
                database,
                "" if verdicts[deployment] == 1 else _place(alike),
            ),
            deployment=terms.plain(deployment),
            evidence=tuple(
                (terms.condition(found.workload, found.level), evidence(found, reached))
                for found in alike
            ),
        )
        for (deployment, verdict), alike in sorted(
            groups.items(),
            key=lambda item: (item[0][1] is Verdict.INCONCLUSIVE, order.index(item[0][0])),
        )
    )


def lead(question: QuestionAnswer, study: Study, plan: Plan) -> str:
    """What a question found out, in one sentence to repeat; empty where nothing was compared.

    Each deployment has one clause, over all its primary comparisons, whose intervals hold together.
    """
    names = subjects(plan)
    deciding = [found for found in question.comparisons if found.primary and found.difference.n]
    blocks = max((found.difference.n for found in deciding), default=MINIMUM_BLOCKS)
    if blocks < MINIMUM_BLOCKS:
        return f"{numbers.count(blocks, 'block')} so far: an answer needs {MINIMUM_BLOCKS}."
    clauses = [
        _clause(alike, names.get(deployment, terms.plain(deployment)), database_name(study, plan))
        for deployment, alike in sorted(
            grouped(deciding, lambda found: found.deployment).items(),
            key=lambda item: any(found.verdict is Verdict.INCONCLUSIVE for found in item[1]),
        )
    ]
    return f"{'; '.join(clauses)}." if clauses else ""


def _clause(alike: Sequence[Comparison], subject: str, database: str) -> str:
    """What all comparisons of one deployment say together; of those withheld, that they are."""
    kept = [found for found in alike if found.withheld]
    told = [found for found in alike if not found.withheld] or kept
    place = _place(told) if len(told) < len(alike) else ""
    if len({found.verdict for found in told}) == 1:
        text = sentence(told, subject, database, place).rstrip(".")
    else:
        text = f"{_limits(told, subject, database)}{place}"
    return f"{text}, and nothing is claimed{_place(kept)}" if place else text


def sentence(alike: Sequence[Comparison], subject: str, database: str, place: str = "") -> str:
    """The answer for one deployment: comparisons with one metric and one verdict, in a sentence.

    `place` names their conditions where the deployment has other verdicts elsewhere.
    """
    first = alike[0]
    if first.verdict is Verdict.EQUIVALENT:
        return (
            f"{subject} leaves the {terms.phrase(first.metric)} of {database} as it is{place}, "
            f"within {numbers.tolerance(first.tolerance)}."
        )
    if first.verdict is Verdict.INCONCLUSIVE:
        return f"{_limits(alike, subject, database)}{place}."
    amounts = [found.difference.value for found in alike]
    deed = _deed(first.metric, database, numbers.magnitudes(amounts), less=amounts[0] < 0)
    return f"{subject} {deed}{place}."


def _deed(metric: str, database: str, amount: str, *, less: bool) -> str:
    """`costs Redis 4.1 % of throughput`, `raises the service time (p95) of Redis by 4.1 %`."""
    if metric == "throughput":
        return (
            f"costs {database} {amount} of throughput"
            if less
            else f"gives {database} {amount} more throughput"
        )
    return f"{'lowers' if less else 'raises'} the {terms.phrase(metric)} of {database} by {amount}"


def _limits(alike: Sequence[Comparison], subject: str, database: str) -> str:
    """What intervals leave as possible, where they settle nothing: they hold together."""
    metric, phrase = alike[0].metric, terms.phrase(alike[0].metric)
    ends = [
        (found.difference.low, found.difference.high)
        for found in alike
        if found.difference.low is not None and found.difference.high is not None
    ]
    if len(ends) < len(alike):
        return f"What {subject} costs {database} in {phrase} is not known yet"
    if kept := next((reason(found) for found in alike if found.withheld), ""):
        why = f"{kept[0].lower()}{kept[1:]}".rstrip(".")
        return f"What {subject} costs {database} in {phrase} is not claimed: {why}"
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    worse_is_more = METRICS[metric].better is Better.LOWER
    most = numbers.most(high if worse_is_more else low)
    if low > 0 or high < 0:
        span = numbers.magnitudes((low, high))
        return f"{subject} {_deed(metric, database, span, less=high < 0)}"
    deed = _deed(metric, database, f"at most {most}", less=not worse_is_more)
    return f"{subject} {deed}, perhaps {'nothing' if metric == 'throughput' else 'not at all'}"


def evidence(comparison: Comparison, reached: Reached) -> str:
    """What it was and what it became, the difference in per cent, its interval, the blocks."""
    found = comparison.difference
    if not found.n:
        return "nothing could be compared"
    blocks = numbers.count(found.n, "block")
    place = (comparison.baseline, comparison.workload, comparison.level, comparison.metric)
    became = ""
    if place in reached:
        was = reached[place].value
        values = (was, was * (1 + found.value))
        became = f"{' becomes '.join(numbers.value(comparison.metric, each) for each in values)}: "
    if found.low is None or found.high is None:
        return f"{became}{numbers.change(found.value)} over {blocks}, too few for an interval"
    aside = "" if comparison.primary else ", secondary"
    return (
        f"{became}{numbers.change(found.value)}, {numbers.coverage(found)} interval "
        f"{numbers.reach(found.low, found.high)}, over {blocks}{aside}{_twins(comparison.apart)}"
        f"{_left_out(comparison)}"
    )


def _left_out(comparison: Comparison) -> str:
    """How many runs of each side do not count; empty in analyses that do not tell it."""
    if not comparison.left_out:
        return ""
    if not any(side.runs for side in comparison.left_out):
        return "; no run of either was left out"
    return f"; left out: {' and '.join(map(left_out.runs, comparison.left_out))}"


def thinned(analysis: Analysis) -> tuple[str, ...]:
    """Each two deployments of which unlike shares of the runs were left out, so that nothing is
    claimed where this is so."""
    found = (reason(each) for each in all_comparisons(analysis) if each.thinned is not None)
    return tuple(dict.fromkeys(found))


def left_out_of_answers(analysis: Analysis) -> str:
    """How many runs of each deployment do not count, of those behind answers; empty if all do."""
    known = {
        (side.deployment, found.workload, found.level): side
        for answer in analysis.answers
        for found in answer.comparisons
        for side in found.left_out
    }
    if not any(side.runs for side in known.values()):
        return ""
    sides = grouped(known.values(), lambda side: side.deployment).values()
    return ", ".join(map(left_out.runs, map(_together, sides)))


def _together(sides: Sequence[LeftOut]) -> LeftOut:
    """A deployment's runs over several workloads and levels."""
    gates = Counter[str]()
    for side in sides:
        gates.update(side.gates)
    added = {
        "runs": sum(side.runs for side in sides),
        "of_runs": sum(side.of_runs for side in sides),
        "gates": dict(gates.most_common()),
    }
    return sides[0].model_copy(update=added)


def _twins(apart: float | None) -> str:
    """What identical deployments say of the instrument, where they say something."""
    if apart is None:
        return "; how far two identical deployments differ is not known"
    if not apart:
        return ""
    return f"; two identical deployments differ by {numbers.least(apart)} at least"


def better(metric: str) -> tuple[str, str]:
    """What lies to the left and to the right of zero for a metric."""
    worse_left = METRICS[metric].better.value == "higher"
    return ("worse", "better") if worse_left else ("better", "worse")


def _place(alike: Sequence[Comparison]) -> str:
    conditions = [f"{terms.plain(found.workload)} ({terms.level(found.level)})" for found in alike]
    return f" under workload {' and '.join(conditions)}"


def reading(analysis: Analysis) -> str:
    """How the numbers are to be read, in one or two sentences."""
    estimates = [comparison.difference for comparison in all_comparisons(analysis)]
    with_interval = [estimate for estimate in estimates if estimate.low is not None]
    if not with_interval:
        return too_few(max((estimate.n for estimate in estimates), default=0))
    blocks = sorted({estimate.n for estimate in with_interval})
    span = str(blocks[0]) if len(blocks) == 1 else f"{blocks[0]} to {blocks[-1]}"
    text = (
        f"differences from the baseline with intervals over {span} blocks; those that decide a "
        f"question hold together at {numbers.coverage(with_interval[0])}, each other one "
        "alone"
    )
    if any(not comparison.primary for comparison in all_comparisons(analysis)):
        text += "; * secondary or exploratory"
    if errs := together(analysis):
        text += f"; {errs}"
    if told := look_brief(analysis):
        text += f"; {told}"
    return text


def together(analysis: Analysis) -> str:
    """What several questions may err in all, which no interval of one of them says."""
    asked = sum(1 for found in analysis.answers if found.comparisons)
    if asked < 2:
        return ""
    each = 1 - coverage(number(analysis.looks))
    return (
        f"each of the {asked} answers is wrong in at most {each * 100:.3g} % of studies like this, "
        f"at least one of them in at most {min(1.0, asked * each) * 100:.3g} %"
    )


def too_few(blocks: int) -> str:
    """Say that there are too few blocks for an interval, and how many are missing."""
    missing = max(MINIMUM_BLOCKS - blocks, 0)
    return (
        f"no interval below {MINIMUM_BLOCKS} blocks: {numbers.count(blocks, 'block')} so far, "
        f"{missing} more needed"
    )


def nothing_compared(analysis: Analysis, study: Study, plan: Plan) -> str:
    """Why there is no comparison at all, and what would make one; empty where there is one."""
    if any(comparison.difference.n for comparison in all_comparisons(analysis)):
        return ""
    if (found := lacking(study, plan)) is not None and found.role is not Role.TWIN:
        names = terms.listed([f"`{terms.plain(name)}`" for name in found.names])
        were = "was" if len(found.names) == 1 else "were"
        what = "the baseline " if found.role is Role.BASELINE else ""
        other = f", compared with `{terms.plain(found.baseline)}`," if not what else ""
        part = " ".join(f"--only {terms.plain(name)}" for name in found.part)
        return (
            f"No comparison could be made: {what}{names}{other} {were} not part of this run. "
            f"A part that can be compared: `{part}`"
        )
    known = [deployment.name for deployment in plan.deployments]
    wanted = dict.fromkeys(question.baseline for question in study.questions.values())
    skipped = {each.deployment for each in analysis.skipped}
    absent = [name for name in wanted if name not in known and name in skipped]
    if absent:
        names = terms.listed([f"`{terms.plain(name)}`" for name in absent])
        return f"No comparison could be made: the baseline {names} cannot run here."
    if len(known) == 1:
        return "No comparison could be made: only one deployment was run."
    if not analysis.runs:
        return "No comparison could be made: no run has ended."
    return "No comparison could be made: no block has a valid run of both sides."


def looks(analysis: Analysis) -> str:
    """Why intervals are wider than 95 %, and when somebody looked; empty at the first look."""
    current = number(analysis.looks)
    if current == 1:
        return ""
    seen = "; ".join(
        f"{numbers.count(look.complete, 'block')} of {look.planned} on "
        f"{datetime.fromtimestamp(look.time, tz=UTC):%Y-%m-%d %H:%M} UTC, then "
        f"{look.added} more were added"
        for look in analysis.looks
        if costs(look)
    )
    return (
        f"This is look {current} at the study: {seen}. Adding blocks until a difference "
        f"shows would always find one, so the error rate is divided over the looks: intervals of "
        f"verdicts cover {coverage(current) * 100:.6g} %. Those of all looks hold together with at "
        f"least 92.5 %, whatever the reason to stop."
    )


def look_brief(analysis: Analysis) -> str:
    """The same in half a sentence; empty at the first look."""
    current = number(analysis.looks)
    if current == 1:
        return ""
    return f"look {current}: the error rate is divided over the looks, so intervals are wider"
