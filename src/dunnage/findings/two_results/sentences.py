"""What stands against comparing two results, what changed, and how to read that, in words."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence

from dunnage.analysis.groups import grouped
from dunnage.analysis.intervals import MINIMUM_BLOCKS
from dunnage.findings.two_results import keys
from dunnage.model.between import (
    Change,
    ChangeVerdict,
    LeftOut,
    Mismatch,
    MismatchKind,
    ResultComparison,
    WhyLeftOut,
)
from dunnage.wording import numbers, parity, terms

METHOD = (
    "Welch's t interval on the logarithms of block means, unpaired. Those that decide hold "
    "together (Šidák). A regression or improvement is beyond the tolerance and the A/A bound of "
    "both results."
)
CAUTION = (
    "The results were measured at different times, and a machine changes between days: where the "
    "cause matters, measure both in one study. The change of an overhead is free of what all "
    "deployments of a result share."
)
"""What a reader must not conclude."""
RESULTS = ("the first result", "the second result")


_WEIGHT = (
    "database.kind",
    "database.version",
    "database.topology",
    "database.members",
    "testbed",
    "workloads",
    "records",
    "load",
    "cpu.accelerator",
    "cpu.model",
    "kernel",
    "memory",
)
"""Keys of the facts that weigh most, or how these begin; the others follow in their order."""


def differing(compared: ResultComparison, *, anyway: bool) -> tuple[str, str]:
    """What stands above the facts that differ: what must be seen, and the rest of the line."""
    differ = numbers.count(len(compared.mismatches), "fact differs", "facts differ")
    if anyway:
        return f"compared although {differ}, so no change has a known cause:", ""
    if any(fact.key == "database.kind" for fact in compared.mismatches):
        one, other = terms.plain(compared.a.study), terms.plain(compared.b.study)
        return "not comparable:", f" `{one}` and `{other}` are of different databases; {differ}"
    return "not comparable:", f" {differ}"


def weightiest(facts: Iterable[Mismatch]) -> list[Mismatch]:
    """The facts that differ, those that change numbers most first."""
    return sorted(facts, key=_weight)


def _weight(fact: Mismatch) -> int:
    places = (place for place, key in enumerate(_WEIGHT) if fact.key.startswith(key))
    return next(places, len(_WEIGHT))


def mismatch(fact: Mismatch) -> str:
    """One fact in which they differ: `environment: kernel: 6.1.0 → 6.12.3`."""
    return ": ".join(filter(None, (fact.kind.value, ", ".join(fact.deployments), _what(fact))))


def not_known(compared: ResultComparison) -> Iterator[str]:
    """What may differ without anybody seeing it."""
    if compared.masked:
        some = terms.listed(compared.masked)
        yield f"whether these secrets are the same, as both results mask them: {some}"
    if compared.unseen:
        some = terms.listed(compared.unseen)
        yield f"whether the same software ran with the same settings, as nobody saw it: {some}"
    if compared.unread:
        some = terms.listed(compared.unread)
        yield f"whether these facts of the network are the same, as a result lacks them: {some}"


def left_out(left: LeftOut) -> str:
    """What decides and cannot be compared, with the reason."""
    named = (left.deployment, left.metric, left.workload, left.level)
    return f"{', '.join(filter(None, named))}: {_why(left)}"


def all_left_out(every: Iterable[LeftOut]) -> Iterator[str]:
    """What decides and cannot be compared; what is the same for all metrics is said once."""
    for alike in grouped(every, lambda left: (left.workload, left.level, _why(left))).values():
        deployments = list(dict.fromkeys(left.deployment for left in alike if left.deployment))
        metrics = list(dict.fromkeys(left.metric for left in alike if left.metric))
        if len(alike) == len(deployments) * max(1, len(metrics)):
            named = (*deployments, *metrics, alike[0].workload, alike[0].level)
            yield f"{', '.join(named)}: {_why(alike[0])}"
        else:
            yield from map(left_out, alike)


def regressed(compared: ResultComparison) -> str:
    """What decides and became worse; empty where nothing did."""
    worse = [c for c in compared.changes if c.gate and c.verdict is ChangeVerdict.REGRESSION]
    return f"{numbers.count(len(worse), 'regression')}: {_names(worse)}" if worse else ""


def unjudged(compared: ResultComparison) -> tuple[str, ...]:
    """Why the gate found nothing out about some of what decides; nothing where it did."""
    deciding = [change for change in compared.changes if change.gate]
    short = [change for change in deciding if change.change.low is None]
    loose = [each for each in deciding if each not in short and each.bound is None]
    what = "not everything" if deciding else "nothing"
    broken = any(not found.run for side in (compared.a, compared.b) for found in side.damages)
    told = (
        (broken, "files of a whole result are damaged, so nothing that they say is certain"),
        (
            compared.left_out or not deciding,
            f"{what} could be compared, so no regression is ruled out",
        ),
    )
    return (
        *(text for found, text in told if found),
        *_lacking("interval", short, lambda change: _few(compared, (change.a.n, change.b.n))),
        *_lacking("A/A bound", loose, lambda change: _twins(compared, change)),
    )


def _lacking(what: str, changes: Iterable[Change], why: Callable[[Change], str]) -> Iterator[str]:
    for reason, alike in grouped(changes, why).items():
        yield f"no {what} for {_names(alike)}: {reason}"


def _few(compared: ResultComparison, blocks: Sequence[int | None], of: str = "") -> str:
    """Which results have too few blocks, and the commands that add them."""
    told, commands = [], []
    for name, side, present in zip(RESULTS, (compared.a, compared.b), blocks, strict=True):
        if present is not None and present < MINIMUM_BLOCKS:
            told.append(f"{name} has {numbers.count(present, 'block')}{of}")
            result, more = shlex.quote(side.path), MINIMUM_BLOCKS - present
            commands.append(f"`dunnage run --resume {result} --blocks +{more}`")
    if not told:
        return ""
    return f"{' and '.join(told)}, {MINIMUM_BLOCKS} are needed; to add them: {', '.join(commands)}"


def _twins(compared: ResultComparison, change: Change) -> str:
    """Why it is not known in both results how far identical deployments differ."""
    without = [
        name for name, blocks in zip(RESULTS, change.twin_blocks, strict=True) if blocks is None
    ]
    if without:
        return f"{' and '.join(without)} {'have' if len(without) > 1 else 'has'} no twin"
    few = _few(compared, change.twin_blocks, " with both twins")
    return few or "a twin could not keep up with the load"


def _names(changes: Iterable[Change]) -> str:
    return ", ".join(dict.fromkeys(f"{change.deployment} ({change.metric})" for change in changes))


def _what(fact: Mismatch) -> str:
    if fact.difference is not None:
        return parity.sentence(fact.difference, RESULTS)
    if not fact.key:
        return f"measured in the {'second' if fact.a is None else 'first'} result only"
    if fact.kind is not MismatchKind.STUDY:
        return f"{fact.key}: {parity.arrow(fact.a, fact.b)}"
    sides = (keys.reading(fact.key, side) for side in (fact.a, fact.b))
    return f"{keys.words(fact.key)}: {parity.arrow(*sides)}"


def _why(left: LeftOut) -> str:
    results = terms.listed([f"the {name}" for name in left.results])
    if left.why is WhyLeftOut.OTHER_RATE and left.rates is not None:
        one, other = left.rates
        return (
            "not the same load, as the same share of each result's own capacity is "
            f"{one:,.0f} and {other:,.0f} op/s; `dunnage run --rates-of` uses the rates of "
            "an earlier result"
        )
    if left.why is WhyLeftOut.OVER_CAPACITY:
        return f"over capacity in {results} result"
    if left.why is WhyLeftOut.NO_VALUE:
        return f"{results} result has no value"
    return "neither result has a valid run"
