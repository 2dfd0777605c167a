"""Comparisons as plain sentences. The wording claims no more than the verdict allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dunnage.analysis.advice import PRACTICABLE
from dunnage.model.analysis import Comparison, QuestionAnswer, Verdict
from dunnage.model.metrics import METRICS
from dunnage.model.plan import Plan
from dunnage.model.study import Cores, Deployment, QuestionSpec, Storage, Study
from dunnage.report import numbers, words

DATABASES: Mapping[str, str] = {
    "cassandra": "Cassandra",
    "redis": "Redis",
    "fake": "the fake database",
}
NETWORKS: Mapping[str, str] = {
    "host": "with host networking",
    "bridge": "with a bridge network",
    "user-defined": "with a user-defined network",
}
STORAGES: Mapping[Storage, str] = {
    Storage.BIND: "",
    Storage.VOLUME: " and data on a volume",
    Storage.CONTAINER: " and data inside the container",
    Storage.TMPFS: " and data in memory",
}
PLATFORMS: Mapping[str, str] = {
    "docker": "Docker",
    "swarm": "Docker Swarm",
    "kubernetes": "Kubernetes",
}


@dataclass(frozen=True)
class Claim:
    """What alike comparisons of one deployment allow us to say, and the numbers beneath."""

    verdict: Verdict
    sentence: str
    deployment: str
    evidence: tuple[tuple[str, str], ...]
    """(condition, numbers) of each comparison that the sentence speaks of."""


def claims(question: QuestionAnswer, study: Study, plan: Plan) -> tuple[Claim, ...]:
    """One claim for each deployment and verdict of a question, in the order of the question."""
    names = subjects(plan)
    database = words.plain(DATABASES.get(study.database.kind, study.database.kind))
    groups: dict[tuple[str, Verdict], list[Comparison]] = {}
    for found in question.comparisons:
        groups.setdefault((found.deployment, found.verdict), []).append(found)
    order = list(dict.fromkeys(found.deployment for found in question.comparisons))
    everywhere = {
        deployment: sum(1 for found, _ in groups if found == deployment) == 1
        for deployment in order
    }
    return tuple(
        Claim(
            verdict=verdict,
            sentence=sentence(
                alike,
                names.get(deployment, words.plain(deployment)),
                database,
                "" if everywhere[deployment] else _place(alike),
            ),
            deployment=words.plain(deployment),
            evidence=tuple(
                (words.condition(found.workload, found.level), evidence(found)) for found in alike
            ),
        )
        for (deployment, verdict), alike in sorted(
            groups.items(), key=lambda item: order.index(item[0][0])
        )
    )


def sentence(alike: Sequence[Comparison], subject: str, database: str, place: str = "") -> str:
    """The answer for one deployment: comparisons with one metric and one verdict, in a sentence.

    `place` names their conditions where the deployment has other verdicts elsewhere.
    """
    first = alike[0]
    metric = words.phrase(first.metric)
    if first.verdict is Verdict.EQUIVALENT:
        return (
            f"{subject} leaves the {metric} of {database} as it is{place}, "
            f"within {numbers.tolerance(first.tolerance)}."
        )
    if first.verdict is Verdict.INCONCLUSIVE:
        return f"What {subject} costs {database} in {metric}{place} is not settled{rest(alike)}"
    amounts = [found.difference.value for found in alike]
    amount = numbers.magnitudes(amounts)
    if first.metric == "throughput":
        deed = (
            f"costs {database} {amount} of throughput"
            if amounts[0] < 0
            else f"gives {database} {amount} more throughput"
        )
    else:
        verb = "lowers" if amounts[0] < 0 else "raises"
        deed = f"{verb} the {metric} of {database} by {amount}"
    return f"{subject} {deed}{place}."


def rest(alike: Sequence[Comparison]) -> str:
    """What is missing for a verdict, as the end of a sentence."""
    needed = [
        found.blocks_needed
        for found in alike
        if found.blocks_needed is not None and found.difference.low is not None
    ]
    if not needed:
        reason = words.plain(alike[0].reason).rstrip(".")
        return f". {reason[:1].upper()}{reason[1:]}."
    practicable = [blocks for blocks in needed if blocks <= PRACTICABLE]
    if not practicable:
        return ", and no practicable number of blocks would settle it."
    least, most = min(practicable), max(practicable)
    blocks = numbers.count(most, "block") if least == most else f"{least:,} to {most:,} blocks"
    what = "it" if len(practicable) == len(needed) else "some of it"
    return f": {blocks} in all would settle {what}."


def evidence(comparison: Comparison) -> str:
    """The difference, its interval, the number of blocks and the A/A bound, in plain words."""
    found = comparison.difference
    if not found.n:
        return "nothing could be compared"
    blocks = numbers.count(found.n, "block")
    if found.low is None or found.high is None:
        return f"{numbers.change(found.value)} over {blocks}, too few for an interval"
    return (
        f"{numbers.change(found.value)}, {numbers.coverage(found)} interval "
        f"{numbers.reach(found.low, found.high)}, over {blocks}; {_twins(comparison.bound)}"
    )


def _twins(bound: float | None) -> str:
    """The A/A bound in plain words."""
    if bound is None:
        return "how far two identical deployments differ is not known"
    return f"two identical deployments differ by up to {numbers.bound(bound).lstrip('±')}"


def setting(study: Study, plan: Plan) -> str:
    """What was done, for somebody who has never seen a study."""
    ways = [deployment for deployment in plan.deployments if deployment.twin_of is None]
    twins = [deployment.twin_of for deployment in plan.deployments if deployment.twin_of]
    database = words.plain(DATABASES.get(study.database.kind, study.database.kind))
    workloads = sorted({run.workload.name for run in plan.runs()})
    levels = words.levels(run.level for run in plan.runs())
    noun = "workload" if len(workloads) == 1 else "workloads"
    again = ", one of them twice to see how far identical deployments differ" if twins else ""
    rounds = (
        f"In each of {len(plan.blocks)} rounds (blocks) every one is brought up, measured and "
        "taken down again, in balanced random orders"
        if len(plan.blocks) > 1
        else "Every one is brought up once, measured and taken down again"
    )
    text = (
        f"This study runs {database} in {numbers.count(len(ways), 'way')}{again}. {rounds}, under "
        f"YCSB {noun} {words.listed(workloads)} with {levels}."
    )
    return words.plain(text)


INVENTED = (
    "These numbers are invented: hosts, platform and database of this study are fakes that show "
    "what a study and its report look like."
)
"""Said wherever a fake study's numbers are shown."""


def invented(study: Study) -> str:
    """That nothing was measured, where the testbed is a fake; else nothing."""
    return INVENTED if study.testbed.kind == "fake" else ""


SHARED = (
    "Clients and servers shared their processors in this study (`cores: shared`), so what a client "
    "takes of them is part of every number."
)
"""Said wherever numbers of such a study are shown."""


def shared(study: Study) -> str:
    """That clients could slow the servers that they measured, where the study wanted it so."""
    return SHARED if study.testbed.cores is Cores.SHARED else ""


def asks(question: QuestionSpec | None, plan: Plan) -> str:
    """A question in words, as a heading."""
    if question is None:
        return ""
    names = subjects(plan)
    against = [names.get(name, name) for name in question.against]
    listed = f"each of {len(against)} deployments" if len(against) > 2 else " and ".join(against)
    verb = "do" if len(against) == 2 else "does"
    return (
        f"What {verb} {listed} cost in {words.phrase(question.metric)}, "
        f"compared with {question.baseline}?"
    )


def subjects(plan: Plan) -> Mapping[str, str]:
    """Deployment → what to call it: its platform and network where that is unique."""
    phrases = {deployment.name: _phrase(deployment) for deployment in plan.deployments}
    uses = Counter(
        phrases[deployment.name] for deployment in plan.deployments if deployment.twin_of is None
    )
    return {
        name: phrase if phrase and uses[phrase] == 1 else words.plain(name)
        for name, phrase in phrases.items()
    }


def headline(study: Study, plan: Plan) -> str:
    """What the study is about, as a title: `What Docker costs Redis`; else its name."""
    used = dict.fromkeys(deployment.platform for deployment in plan.deployments)
    platforms = [PLATFORMS[platform] for platform in used if platform in PLATFORMS]
    if not platforms or study.database.kind not in DATABASES:
        return words.plain(study.name)
    if len(platforms) == 1:
        return f"What {platforms[0]} costs {DATABASES[study.database.kind]}"
    listed = f"{', '.join(platforms[:-1])} and {platforms[-1]}"
    return f"What {listed} cost {DATABASES[study.database.kind]}"


def better(metric: str) -> tuple[str, str]:
    """What lies to the left and to the right of zero for a metric."""
    worse_left = METRICS[metric].better.value == "higher"
    return ("worse", "better") if worse_left else ("better", "worse")


def _phrase(deployment: Deployment) -> str:
    platform = PLATFORMS.get(deployment.platform)
    network = NETWORKS.get(deployment.network)
    if platform is None or network is None or deployment.slowdown or deployment.twin_of:
        return ""
    return f"{platform} {network}{STORAGES[deployment.storage]}"


def _place(alike: Sequence[Comparison]) -> str:
    conditions = [f"{words.plain(found.workload)} ({words.level(found.level)})" for found in alike]
    return f" under workload {' and '.join(conditions)}"
