"""What a study is about and how it was carried out, as sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from dunnage.analysis.groups import grouped
from dunnage.findings.parity.factors import leaves
from dunnage.model.accelerator import is_emulated
from dunnage.model.analysis import Analysis
from dunnage.model.choices import Cores, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.plan import Plan
from dunnage.model.study import QuestionSpec, Study
from dunnage.secrets.names import MASK
from dunnage.units import duration
from dunnage.wording import numbers, terms

STORAGES: Mapping[Storage, str] = {
    Storage.BIND: "",
    Storage.VOLUME: " and data on a volume",
    Storage.CONTAINER: " and data inside the container",
    Storage.TMPFS: " and data in memory",
}


def setting(study: Study, plan: Plan) -> str:
    """What was done, for somebody who has never seen a study."""
    ways = [deployment for deployment in plan.deployments if deployment.twin_of is None]
    twins = [deployment.twin_of for deployment in plan.deployments if deployment.twin_of]
    database = database_name(study, plan)
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


def emulated(analysis: Analysis) -> str:
    """That the processors are no real ones, where it is known; else nothing."""
    if not is_emulated(analysis.environment):
        return ""
    return (
        "The processors were emulated by QEMU (`TCG`). This shows that the study works; do not use "
        "its numbers."
    )


def shared(study: Study) -> str:
    """That clients could slow the servers that they measured, where the study wanted it so."""
    if study.testbed.cores is not Cores.SHARED:
        return ""
    return (
        "Clients and servers shared their processors in this study (`cores: shared`), so the "
        "processor time of clients is part of every number."
    )


def scaled(share: float | None) -> str:
    """That a study was made smaller for a quick try, to which share; else nothing."""
    if share is None:
        return ""
    return (
        f"This study was made smaller (`--scale {share * 100:g}%`): it shows that the study works; "
        "do not use its numbers."
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
    return f"What {terms.listed(platforms)} {verb} {database_name(study, plan)}"


def _phrase(deployment: Deployment) -> str:
    parts = deployment.parts
    slowed = deployment.slowdown or deployment.loss
    if not parts.platform or not parts.network or slowed or deployment.twin_of:
        return ""
    return f"{parts.platform} {parts.network}{STORAGES[deployment.storage]}"


def database_name(study: Study, plan: Plan) -> str:
    named = next((each.parts.database for each in plan.deployments), "")
    return terms.plain(named or study.database.kind)


def own_secrets(study: Study) -> tuple[str, ...]:
    """Secrets that deployments have of their own, each key once: they are masked, so nobody sees
    whether they are the same. What the study gives to all is the same."""
    keys = [
        (key, name)
        for name, deployment in study.deployments.items()
        for key, value in leaves(deployment.database, "database.")
        if MASK in str(value)
    ]
    return tuple(
        f"whether `{key}` of {terms.listed([name for _, name in found])} is that of other "
        "deployments: it is a secret, and masked"
        for key, found in grouped(keys, lambda each: each[0]).items()
    )
