"""Comparisons as plain sentences. The wording claims no more than the verdict allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dunnage.analysis.groups import grouped
from dunnage.analysis.intervals import MINIMUM_BLOCKS
from dunnage.model.analysis import Analysis, Comparison, QuestionAnswer, Verdict
from dunnage.model.choices import Cores, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import METRICS, Better
from dunnage.model.plan import Plan
from dunnage.model.study import QuestionSpec, Study
from dunnage.units import duration
from dunnage.wording import numbers, terms
from dunnage.wording.verdict import reason

STORAGES: Mapping[Storage, str] = {
    Storage.BIND: "",
    Storage.VOLUME: " and data on a volume",
    Storage.CONTAINER: " and data inside the container",
    Storage.TMPFS: " and data in memory",
}


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
    database = _database(study, plan)
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
        _clause(alike, names.get(deployment, terms.plain(deployment)), _database(study, plan))
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


def _database(study: Study, plan: Plan) -> str:
    named = next((each.parts.database for each in plan.deployments), "")
    return terms.plain(named or study.database.kind)


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
    )


def _twins(apart: float | None) -> str:
    """What identical deployments say of the instrument, where they say something."""
    if apart is None:
        return "; how far two identical deployments differ is not known"
    if not apart:
        return ""
    return f"; two identical deployments differ by {numbers.least(apart)} at least"


def setting(study: Study, plan: Plan) -> str:
    """What was done, for somebody who has never seen a study."""
    ways = [deployment for deployment in plan.deployments if deployment.twin_of is None]
    twins = [deployment.twin_of for deployment in plan.deployments if deployment.twin_of]
    database = _database(study, plan)
    workloads = sorted({run.workload.name for run in plan.runs()})
    levels = terms.levels(run.level for run in plan.runs())
    noun = "workload" if len(workloads) == 1 else "workloads"
    again = ", one of them twice to see how far identical deployments differ" if twins else ""
    one = len(plan.blocks) == 1
    rounds = f"In {'one round (block)' if one else f'each of {len(plan.blocks)} rounds (blocks)'}"
    if study.load.turns is not None:
        rounds += (
            " all are started at the same time, each on its own hosts, and driven in turns of "
            f"{duration(study.load.turns)}"
        )
    else:
        rounds += " each one is started, measured and stopped"
    if not one:
        rounds += ", in balanced random orders"
    text = (
        f"This study runs {database} in {numbers.count(len(ways), 'way')}{again}. {rounds}, under "
        f"YCSB {noun} {terms.listed(workloads)} with {levels}."
    )
    return terms.plain(text)


def invented(analysis: Analysis) -> str:
    """That nothing was measured, where hosts are fakes; else nothing."""
    if not analysis.invented:
        return ""
    return (
        "These numbers are invented: hosts, platform and database of this study are fakes that "
        "show what a study and its report look like."
    )


def shared(study: Study) -> str:
    """That clients could slow the servers that they measured, where the study wanted it so."""
    if study.testbed.cores is not Cores.SHARED:
        return ""
    return (
        "Clients and servers shared their processors in this study (`cores: shared`), so the "
        "processor time of clients is part of every number."
    )


def asks(question: QuestionSpec | None, plan: Plan) -> str:
    """A question in words, as a heading."""
    if question is None:
        return ""
    names = subjects(plan)
    against = [names.get(name, name) for name in question.against]
    listed = f"each of {len(against)} deployments" if len(against) > 2 else " and ".join(against)
    verb = "do" if len(against) == 2 else "does"
    return (
        f"What {verb} {listed} cost in {terms.phrase(question.metric)}, "
        f"compared with {question.baseline}?"
    )


def subjects(plan: Plan) -> Mapping[str, str]:
    """Deployment → what to call it: its platform and network where that is unique."""
    phrases = {deployment.name: _phrase(deployment) for deployment in plan.deployments}
    uses = Counter(
        phrases[deployment.name] for deployment in plan.deployments if deployment.twin_of is None
    )
    return {
        name: phrase if phrase and uses[phrase] == 1 else terms.plain(name)
        for name, phrase in phrases.items()
    }


def headline(study: Study, plan: Plan) -> str:
    """What the study is about, as a title: `What Docker costs Redis`; else its name."""
    used = dict.fromkeys(deployment.parts.platform for deployment in plan.deployments)
    platforms = [platform for platform in used if platform]
    if not platforms:
        return terms.plain(study.name)
    verb = "costs" if len(platforms) == 1 else "cost"
    return f"What {terms.listed(platforms)} {verb} {_database(study, plan)}"


def better(metric: str) -> tuple[str, str]:
    """What lies to the left and to the right of zero for a metric."""
    worse_left = METRICS[metric].better.value == "higher"
    return ("worse", "better") if worse_left else ("better", "worse")


def _phrase(deployment: Deployment) -> str:
    parts = deployment.parts
    slowed = deployment.slowdown or deployment.loss
    if not parts.platform or not parts.network or slowed or deployment.twin_of:
        return ""
    return f"{parts.platform} {parts.network}{STORAGES[deployment.storage]}"


def _place(alike: Sequence[Comparison]) -> str:
    conditions = [f"{terms.plain(found.workload)} ({terms.level(found.level)})" for found in alike]
    return f" under workload {' and '.join(conditions)}"
