"""What a study must make sense of beyond its shape: everything that is named has to exist and fit.

Every rule is a generator of findings over the usable parts of a study.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from dunnage.errors import shown
from dunnage.model.choices import Phase
from dunnage.model.load_spec import LoadSpec
from dunnage.model.metrics import COMPARED, METRICS, SEARCHED
from dunnage.model.offer import Offer
from dunnage.model.study import CLIENT_GROUP, QuestionSpec, WorkloadSpec
from dunnage.study.document import Path
from dunnage.study.draft import Draft
from dunnage.study.grammar import Finding, unknown
from dunnage.study.keys import example
from dunnage.study.matrix import FACTORS, TWIN_SUFFIX, Variant, levels, variants
from dunnage.study.rules_data import data_rules
from dunnage.study.rules_deployment import deployment_rules
from dunnage.study.rules_fake import fake_rules
from dunnage.study.rules_load import load_rules
from dunnage.study.rules_loss import loss_rules
from dunnage.study.rules_nodes import nodes_rules
from dunnage.study.rules_primary import primary_rules
from dunnage.study.rules_soft_interrupts import soft_interrupts_rules
from dunnage.study.rules_turns import turns_rules
from dunnage.study.suggest import hint, listed
from dunnage.units import percent

MOST_DEPLOYMENTS = 100
MOST_RUNS = 20_000
"""More than a month of runs; a larger number is a typing error."""

OPERATIONS = {
    "A": ("read", "update"),
    "B": ("read", "update"),
    "C": ("read",),
    "D": ("read", "insert"),
    "E": ("scan", "insert"),
    "F": ("read", "update", "read-modify-write"),
}
"""Operation types of each YCSB core workload in its run phase."""


def find_mistakes(draft: Draft, offer: Offer) -> list[Finding]:
    """Return everything that a study names wrongly or that does not fit together."""
    multiplied = len(draft.deployments) * prod(len(each) for each in draft.factors.values())
    if multiplied > MOST_DEPLOYMENTS:
        what = f"this makes {multiplied} deployments; a study compares at most {MOST_DEPLOYMENTS}"
        return [Finding(("factors",) if draft.factors else ("deployments",), what)]
    every = variants(draft.deployments, draft.factors)
    found = [
        *_size(draft, len(every)),
        *_kinds(draft, offer),
        *fake_rules(draft, every, offer),
        *_hosts(draft),
        *_quantities(draft),
        *_factors(draft, every),
        *deployment_rules(draft, every, offer),
        *_workloads(draft),
        *data_rules(draft),
        *(load_rules(draft.load, draft) if draft.load else ()),
        *turns_rules(draft, every),
        *nodes_rules(draft, every, offer),
        *soft_interrupts_rules(draft, offer),
        *loss_rules(draft, every),
        *_questions(draft, every),
    ]
    return list(dict.fromkeys(found))


def _kinds(draft: Draft, offer: Offer) -> Iterator[Finding]:
    if draft.testbed and draft.testbed.kind not in offer.testbeds:
        yield unknown(("testbed", "kind"), "testbed", draft.testbed.kind, offer.testbeds)
    if draft.generator and draft.generator not in offer.generators:
        yield unknown(("generator",), "generator", draft.generator, offer.generators)
    if draft.sampler and draft.sampler.kind not in offer.samplers:
        yield unknown(("sampler", "kind"), "sampler", draft.sampler.kind, offer.samplers)


def _size(draft: Draft, deployments: int) -> Iterator[Finding]:
    settings = len(levels(draft.load)) if draft.load else 1
    runs = draft.repetitions * deployments * len(draft.workloads) * settings
    if runs > MOST_RUNS:
        yield Finding(
            ("blocks",),
            f"this makes {runs} runs; a study has at most {MOST_RUNS}",
            "write fewer `blocks`, or make several studies",
        )


def _hosts(draft: Draft) -> Iterator[Finding]:
    if draft.groups is not None and CLIENT_GROUP not in draft.groups:
        yield Finding(
            ("testbed", "hosts"),
            f"the testbed has no group `{CLIENT_GROUP}` for the load generator",
            f"write for example `{example(('testbed', 'hosts'))}`",
        )


def _quantities(draft: Draft) -> Iterator[Finding]:
    if "time" in draft.keys and "blocks" in draft.keys:
        yield Finding(
            ("blocks",),
            "`time` chooses the number of blocks, so `blocks` is not allowed",
            "remove `blocks` or `time`",
        )


def _factors(draft: Draft, every: tuple[Variant, ...]) -> Iterator[Finding]:
    for key, values in draft.factors.items():
        if len(set(map(str, values))) < len(values):
            yield Finding(("factors", key), f"the factor `{key}` has a value twice")
    names = [variant.name for variant in every]
    for variant in every:
        where: Path = ("factors",) if draft.factors else ("deployments", variant.origin)
        if len(variant.name + TWIN_SUFFIX) > 63:
            yield Finding(
                where,
                f"the name {shown(variant.name)} is too long",
                "use at most 58 characters for a deployment's name with its factors",
            )
        if names.count(variant.name) > 1 and draft.factors:
            yield Finding(where, f"two deployments would have the name {shown(variant.name)}")


def factor_rules(factors: Mapping[str, object]) -> Iterator[Finding]:
    """Yield a finding for every factor that no deployment has, or that has no values."""
    for key, values in factors.items():
        place = ("factors", key)
        if key not in FACTORS:
            yield unknown(place, "factor", key, FACTORS)
        elif values == []:
            what = f"the factor `{key}` has no values"
            yield Finding(place, what, "name two or more, or remove it")


def _workloads(draft: Draft) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, workload in draft.workloads.items():
        if workload.name in seen:
            yield Finding(
                ("workloads", index),
                f"two workloads have the name {shown(workload.name)}",
                "give one of them another name: `{name: A-again, core: A}`",
            )
        seen.add(workload.name)


def _questions(draft: Draft, every: tuple[Variant, ...]) -> Iterator[Finding]:
    names = [variant.name for variant in every]
    renamed: dict[str, list[str]] = {}
    for variant in every if draft.factors else ():
        renamed.setdefault(variant.origin, []).append(variant.name)
    if draft.twin in renamed:
        copies = [f"{name}{TWIN_SUFFIX}" for name in renamed[draft.twin]]
        renamed[f"{draft.twin}{TWIN_SUFFIX}"] = copies
    yield from _renamed(draft, renamed)
    if draft.twin is not None and _is_unknown(draft.twin, [*names, *renamed], draft):
        yield unknown(("twin",), "deployment", draft.twin, names)
    if draft.twin is not None and draft.twin + TWIN_SUFFIX in names:
        yield Finding(
            ("twin",),
            f"the name of the twin, {shown(draft.twin + TWIN_SUFFIX)}, is already used",
            "rename that deployment",
        )
    if draft.twin in names:
        names.append(f"{draft.twin}{TWIN_SUFFIX}")
    known = [*names, *renamed]
    for name, question in draft.questions.items():
        path: Path = ("questions", name)
        if _is_unknown(question.baseline, known, draft):
            yield unknown((*path, "baseline"), "deployment", question.baseline, names)
        for index, against in enumerate(question.against):
            if against == question.baseline:
                yield Finding(
                    (*path, "against", index),
                    f"{shown(against)} is compared with itself",
                    "remove it from `against`; write `twin:` to measure the noise of the method",
                )
            elif against in question.against[:index]:
                yield Finding((*path, "against", index), f"{shown(against)} appears twice")
            elif _is_unknown(against, known, draft):
                yield unknown((*path, "against", index), "deployment", against, names)
        yield from _metric((*path, "metric"), question.metric, draft)
        yield from _precise(path, question, draft)
        yield from primary_rules((*path, "primary"), question, draft)


def _renamed(draft: Draft, renamed: Mapping[str, list[str]]) -> Iterator[Finding]:
    """Yield a finding for each deployment that is named as before factors made others of it, at the
    first of these places."""
    places: dict[str, Path] = {}
    if draft.twin is not None:
        places.setdefault(draft.twin, ("twin",))
    for name, question in draft.questions.items():
        places.setdefault(question.baseline, ("questions", name, "baseline"))
        for index, against in enumerate(question.against):
            places.setdefault(against, ("questions", name, "against", index))
    every = {name for names in renamed.values() for name in names}
    for name, place in places.items():
        if name in renamed and name not in every:
            yield Finding(
                place,
                f"`factors` make other deployments of {shown(name)}, so none has this name",
                f"name one of these in its place, here and elsewhere: {listed(renamed[name])}",
            )


def _is_unknown(name: str, names: list[str], draft: Draft) -> bool:
    """Whether no deployment has this name, nor could one that was not understood."""
    for broken in draft.broken:
        if name in (broken, broken + TWIN_SUFFIX):
            return False
        if draft.factors and name.startswith(f"{broken}-"):
            return False
    return name not in names


def _metric(path: Path, name: str, draft: Draft) -> Iterator[Finding]:
    metric = METRICS.get(name)
    if metric is None:
        yield unknown(path, "metric", name, COMPARED)
        return
    if not metric.compared:
        yield Finding(
            path,
            f"a question cannot compare `{name}`; it is only shown for every run",
            hint(name, COMPARED),
        )
        return
    if draft.load and not any(draft.touched("load", key) for key in ("threads", "rate", "search")):
        yield from _measured(path, name, draft.load)
    parts = name.split(".")
    done = sorted({each for spec in draft.workloads.values() for each in _operations(spec)})
    if len(parts) > 2 and done and parts[0] not in done:
        yield Finding(
            path,
            f"no workload of this study has the operation `{parts[0]}`",
            f"its workloads have: {listed(done)}",
        )


def _measured(path: Path, name: str, load: LoadSpec) -> Iterator[Finding]:
    """Whether some level of the load measures a metric."""
    if name == "saturation":
        if load.search is None:
            yield Finding(
                path,
                "`saturation` needs a search, and the load has none",
                "write `search: {}` under `load`, or `throughput` here",
            )
    elif METRICS[name].open_only and load.threads and not load.rate:
        yield Finding(
            path,
            f"`{name}` needs intended starts, and a closed loop (`threads`) has none",
            f"write `{name.replace('response', 'service')}`, or load with `rate: [2000]`",
        )
    elif load.search and not (load.threads or load.rate) and name not in SEARCHED:
        yield Finding(
            path,
            f"a search does not measure `{name}`",
            f"its metrics are {listed(SEARCHED)}; or load with `rate: [2000]`",
        )


def _precise(path: Path, question: QuestionSpec, draft: Draft) -> Iterator[Finding]:
    """A search that may be wrong by more than the tolerance can show no equivalence."""
    search = draft.load.search if draft.load else None
    if question.metric != "saturation" or search is None or question.tolerance >= search.precision:
        return
    place = (*path, "tolerance") if "tolerance" in question.model_fields_set else (*path, "metric")
    least, most = percent(question.tolerance), percent(search.precision)
    yield Finding(
        place,
        f"a search with a precision of {most} cannot show a difference of {least}, the tolerance "
        "of this question",
        f"write `tolerance: {_written(most)}` here, or `search: {{precision: {_written(least)}}}`",
    )


def _written(share: str) -> str:
    """A share as a study file says it."""
    return share.replace(" ", "").replace(".0%", "%")


def _operations(workload: WorkloadSpec) -> tuple[str, ...]:
    return ("insert",) if workload.phase is Phase.LOAD else OPERATIONS[workload.core]
