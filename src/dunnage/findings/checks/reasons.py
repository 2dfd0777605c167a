"""Why runs do not count: alike reasons once, with how many runs of what and over what range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dunnage.analysis.groups import grouped
from dunnage.model.analysis import Analysis, RunSummary
from dunnage.model.check import CheckResult, Status
from dunnage.model.parity import Cause, Difference
from dunnage.wording import alike, checks, parity

_ORDER = {kind: place for place, kind in enumerate(checks.CAUSES)}
What = CheckResult | Difference
"""What may stand against a run."""
Against = tuple[str, What]
"""A deployment, and what stands against a run of it."""


@dataclass(frozen=True)
class Reason:
    """One reason, with everything drawn together in which its runs differ."""

    gate: str
    """As it is shown."""
    seen: str
    allowed: str
    runs: int
    kind: checks.Kind
    deployments: tuple[str, ...] = ()
    """What it hit, each once: runs that are measured together are disturbed together."""

    @property
    def cause(self) -> str:
        """The gate in plain words."""
        return checks.cause(self.kind)

    @property
    def text(self) -> str:
        """What was seen and wanted, in one line."""
        text = f"{self.gate}: {self.seen}" if self.gate else self.seen
        return f"{text}; wanted {self.allowed}" if self.allowed else text


def of_run(run: RunSummary) -> tuple[Reason, ...]:
    """Every reason why one run is not valid."""
    return tuple(_reason([(run.deployment, what)]) for what in _against(run))


def why_not_valid(analysis: Analysis) -> tuple[Reason, ...]:
    """Every reason why a run is not valid, the most frequent first; a run with two reasons stands
    behind both."""
    return _ranked((run.deployment, what) for run in analysis.runs for what in _against(run))


def first_causes(analysis: Analysis) -> Mapping[str, tuple[Reason, ...]]:
    """Cause → reasons, every run that does not count under its first one only; most runs first."""
    bad = [run for run in analysis.runs if run.status != "valid"]
    return causes((run.deployment, _against(run)) for run in bad)


def causes(spoilt: Iterable[tuple[str, Sequence[What]]]) -> Mapping[str, tuple[Reason, ...]]:
    """The same for the deployments of runs and what stands against each."""
    bad = list(spoilt)
    found = list(_ranked((name, _first(against)) for name, against in bad if against))
    if silent := sum(not against for _, against in bad):
        kind = ("unknown", Status.INVALID)
        found.append(Reason("unknown", "no reason was recorded", "", silent, kind))
    by_cause = grouped(found, lambda reason: reason.cause)
    ranked = sorted(by_cause.items(), key=lambda item: -sum(reason.runs for reason in item[1]))
    return {cause: tuple(group) for cause, group in ranked}


def _first(against: Sequence[What]) -> What:
    """The reason behind a run's other reasons."""
    return min(against, key=_place)


def _place(what: What) -> int:
    """Where it stands among the causes; a gate that could not tell stands where it would have."""
    gate, _ = kind = _kind(what)
    return _ORDER.get(kind, _ORDER.get((gate, Status.INVALID), len(_ORDER)))


def _against(run: RunSummary) -> list[What]:
    return [*run.checks, *run.differences]


def _ranked(found: Iterable[Against]) -> tuple[Reason, ...]:
    reasons = map(_reason, grouped(found, lambda against: _key(against[1])).values())
    return tuple(sorted(reasons, key=lambda reason: -reason.runs))


def _key(what: What) -> tuple[str, ...]:
    """The same for reasons that differ in amounts and places only."""
    if isinstance(what, CheckResult):
        return checks.alike(what)
    return (_gate(what), alike.kind(parity.sentence(what)))


def _reason(group: Sequence[Against]) -> Reason:
    every = [what for _, what in group]
    first, deployments = every[0], tuple(dict.fromkeys(name for name, _ in group))
    if isinstance(first, Difference):
        said = alike.merged(
            [parity.sentence(what) for what in every if isinstance(what, Difference)]
        )
        return Reason(_gate(first), said, "", len(group), _kind(first), deployments)
    judged = [what for what in every if isinstance(what, CheckResult)]
    seen, allowed = checks.seen(*judged), checks.allowed(*judged)
    return Reason(first.check, seen, allowed, len(group), _kind(first), deployments)


def _gate(what: What) -> str:
    if isinstance(what, CheckResult):
        return what.check
    return "parity unknown" if what.cause is Cause.UNKNOWN else "parity"


def _kind(what: What) -> checks.Kind:
    if isinstance(what, CheckResult):
        return what.check, what.status
    unknown = what.cause is Cause.UNKNOWN
    return "parity", Status.UNKNOWN if unknown else Status.INVALID
