"""Whether two results measured the same thing in the same place, or in what they differ."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dunnage.analysis.runs import Setting
from dunnage.findings.networks.between import between
from dunnage.findings.parity.compare import compare
from dunnage.findings.parity.factors import factors, leaves, unequal
from dunnage.model.between import Mismatch, MismatchKind
from dunnage.model.calibration import Calibration
from dunnage.model.parity import Cause
from dunnage.model.plan import Plan, RunPlan
from dunnage.model.process import ProcessFacts
from dunnage.model.record import Record, StayRecord
from dunnage.model.study import Study, hosts_of
from dunnage.model.value import Scalar
from dunnage.secrets.names import MASK

_LAB = re.compile(r"(/dunnage/(?:labs/)?)[0-9a-f]{8}(?=[/\"])")
_ARCHIVE = ".jsa"
"""How a class-data archive's path ends."""
FREE = frozenset({"name", "seed", "blocks", "spare"})
"""Keys of a study in which two results may differ: how much was measured and in which order."""


@dataclass(frozen=True)
class Circumstances:
    """Everything about a result that bears on its numbers but was not measured."""

    study: Study
    plan: Plan
    environment: Mapping[str, Scalar]
    stays: Sequence[StayRecord]
    calibration: Calibration | None = None
    """What a share of the capacity means in this result; None where no rate is a share."""
    driven: Mapping[str, str] = field(default_factory=dict)
    """How the generator drove, as it tells; empty where it does not."""


def mismatches(a: Circumstances, b: Circumstances) -> tuple[Mismatch, ...]:
    """Every fact in which two results differ, `b` from `a`.

    Of processes the first stay of each deployment speaks: inside a result parity has compared the
    others with it.
    """
    sides = (each.study.model_dump(mode="json", exclude=set(FREE)) for each in (a, b))
    return (
        *_unequal(MismatchKind.STUDY, *(dict(leaves(side, labelled=True)) for side in sides)),
        *_deployments(a.plan, b.plan),
        *_unequal(MismatchKind.ENVIRONMENT, a.environment, b.environment),
        *_stays(a, b),
        *(_unequal(MismatchKind.LOAD, a.driven, b.driven) if a.driven and b.driven else ()),
    )


def driven(records: Iterable[Record]) -> dict[str, str]:
    """How the generator drove in all runs that tell it: what it kept records as, how many members
    had to answer, and how it was encrypted. Results that differ in it measured different work."""
    found: dict[str, set[str]] = {}
    for record in records:
        measured = record.measurement
        if measured is None or not measured.shape:
            continue
        told = {"shape": measured.shape, "encryption": ", ".join(measured.encryption) or "none"}
        told |= {f"consistency of a {verb}": each for verb, each in measured.consistency.items()}
        for key, text in told.items():
            found.setdefault(key, set()).add(text)
    return {key: " and ".join(sorted(texts)) for key, texts in sorted(found.items())}


def masked_in_both(a: Circumstances, b: Circumstances) -> tuple[str, ...]:
    """Keys and variables of secrets that both results have: their masks are the same, whatever they
    hide."""
    return tuple(sorted(_masked(a) & _masked(b)))


def unseen_in_both(a: Circumstances, b: Circumstances) -> tuple[str, ...]:
    """Deployments with a member that neither result saw the process of: nothing tells whether it is
    the same software with the same settings."""
    return tuple(sorted(_unseen(a) & _unseen(b)))


def unread_in_one(a: Circumstances, b: Circumstances) -> tuple[str, ...]:
    """Facts of networks that one of two results does not know, or did not read: nothing tells
    whether they are the same."""
    left, right, hosts = _first(a.stays), _first(b.stays), _hosts(a, b)
    pairs = ((left[name], right[name]) for name in left.keys() & right.keys())
    return tuple(sorted({key for pair in pairs for key in between(*pair, hosts).unread}))


def _hosts(a: Circumstances, b: Circumstances) -> tuple[str, ...]:
    """Names of the hosts of both testbeds."""
    both = (hosts_of(each.study.testbed.hosts) for each in (a, b))
    return tuple(dict.fromkeys(name for names in both for name in names))


def _unseen(one: Circumstances) -> set[str]:
    return {stay.deployment for stay in _first(one.stays).values() if stay.unseen}


def _masked(one: Circumstances) -> set[str]:
    study = leaves(one.study.model_dump(mode="json"))
    found = {key for key, value in (*study, *one.environment.items()) if MASK in str(value)}
    for stay in one.stays:
        found |= {key for key, value in stay.facts.items() if MASK in str(value)}
        for process in stay.processes:
            variables = process.environment.items()
            found |= {f"environment variable {key}" for key, value in variables if MASK in value}
    return found


def _unequal(
    kind: MismatchKind, a: Mapping[str, object], b: Mapping[str, object]
) -> Iterator[Mismatch]:
    for key, values in unequal(a, b):
        yield _mismatch(kind, key, *values)


def _deployments(a: Plan, b: Plan) -> Iterator[Mismatch]:
    left = {deployment.name: deployment for deployment in a.deployments}
    right = {deployment.name: deployment for deployment in b.deployments}
    for name in sorted(left.keys() ^ right.keys()):
        one, other = (name if name in side else None for side in (left, right))
        yield Mismatch(kind=MismatchKind.DEPLOYMENT, deployments=(name,), a=one, b=other)
    for name in sorted(left.keys() & right.keys()):
        for factor in factors(left[name], right[name]):
            yield Mismatch(
                kind=MismatchKind.DEPLOYMENT,
                deployments=(name,),
                key=factor.key,
                a=factor.baseline,
                b=factor.deployment,
            )


def _stays(a: Circumstances, b: Circumstances) -> Iterator[Mismatch]:
    left, right, hosts = _first(a.stays), _first(b.stays), _hosts(a, b)
    # Deployments mostly share what differs, such as a server's version: it is told once for all.
    alike: dict[Mismatch, list[str]] = {}
    for name in left:
        if name in right:
            pair = _anywhere(left[name], a.study.name), _anywhere(right[name], b.study.name)
            for mismatch in _pair(*pair, hosts):
                alike.setdefault(mismatch, []).append(name)
    for mismatch, names in alike.items():
        yield mismatch.model_copy(update={"deployments": tuple(names)})


def _pair(a: StayRecord, b: StayRecord, hosts: Collection[str]) -> Iterator[Mismatch]:
    for difference in compare(a, b, ()):
        sides = (difference.baseline, difference.deployment)
        if difference.cause is Cause.UNSEEN and None not in sides:
            continue  # neither is known, so nothing is known to differ
        yield Mismatch(kind=MismatchKind.PROCESS, difference=difference)
    for key in sorted(between(a, b, hosts).differing):
        yield _mismatch(MismatchKind.NETWORK, key, a.network.get(key), b.network.get(key))


def _first(stays: Sequence[StayRecord]) -> dict[str, StayRecord]:
    backwards = sorted(stays, key=lambda stay: (stay.started, stay.stay), reverse=True)
    return dict(sorted({stay.deployment: stay for stay in backwards}.items()))


def _anywhere(stay: StayRecord, study: str) -> StayRecord:
    """The stay as any lab would have had it: what a lab is called stands in its paths.

    A lab of namespaces has a name of its own, fake hosts have that of the study.
    """
    text = _LAB.sub(r"\1<lab>", stay.model_dump_json())
    text = text.replace(f"/scratch/{study}/", "/scratch/<lab>/")
    elsewhere = StayRecord.model_validate_json(text)
    processes = tuple(map(_as_built_anywhere, elsewhere.processes))
    return elsewhere.model_copy(update={"processes": processes})


def _as_built_anywhere(process: ProcessFacts) -> ProcessFacts:
    """The process without the bytes of its class-data archives, which are others in every cache.

    Java writes them anew from the very jars whose hashes stay, so results of two caches differ in
    whether an archive was in use, not in its hash. Within a result one cache serves all, and parity
    compares their hashes, too.
    """
    mapped = {
        path: "an archive" if path.endswith(_ARCHIVE) else digest
        for path, digest in process.mapped.items()
    }
    return process.model_copy(update={"mapped": mapped})


def _mismatch(kind: MismatchKind, key: str, one: object, other: object) -> Mismatch:
    return Mismatch(kind=kind, key=key, a=_text(one), b=_text(other))


def _text(item: object) -> str | None:
    return None if item is None else str(item)


def other_rates(
    runs: Iterable[RunPlan], a: Calibration | None, b: Calibration | None
) -> Mapping[Setting, tuple[float, float]]:
    """Loads that are shares of two capacities → their rates in operations per second, `a`'s first.

    Each result finds the capacity anew, so that the same share is hardly ever the same rate.
    Throughput then differs by construction, the cost of an operation may, and latencies near the
    capacity differ by far more than the rates: nothing is compared there. Only those whose rates
    are not the same; empty where a result has no calibration.
    """
    if a is None or b is None:
        return {}
    known = a.capacities.keys() & b.capacities.keys()
    differing: dict[Setting, tuple[float, float]] = {}
    for run in runs:
        if run.level.share is not None and run.workload.name in known:
            workload = run.workload.name
            one, other = (side.made(run.level, workload).rate or 0.0 for side in (a, b))
            if one != other:
                differing[Setting(workload, run.level.name)] = one, other
    return differing
