"""A made-up study with everything that a report may have to say; the same one at every call."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from dunnage.model.analysis import Analysis, Parity
from dunnage.model.plan import Plan, Skipped
from dunnage.model.record import StayRecord
from dunnage.model.study import Study
from report_numbers import analysis_of
from report_study import plan_of, stays_of, study_of

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>&\"'"
"""What a name must never be able to do."""

HOSTILE_ERROR = "server said: [red]\x1b[31m<b>& \"quoted\" 'too'</b>\u202e {{ 7 * 7 }} </style>"


@dataclass(frozen=True)
class Sample:
    """What the writers of a report are given."""

    study: Study
    plan: Plan
    analysis: Analysis
    stays: tuple[StayRecord, ...]
    source: str


def sample(blocks: int = 8, hostile: bool = False) -> Sample:
    """The study over this many blocks; `hostile` puts markup into every free text."""
    study, source = study_of(blocks)
    plan = plan_of(study)
    analysis = analysis_of(study, plan)
    stays = stays_of(plan)
    if hostile:
        analysis = Analysis.model_validate(_renamed(analysis.model_dump()))
        plan = Plan.model_validate(_renamed(plan.model_dump()))
        stays = tuple(StayRecord.model_validate(_renamed(stay.model_dump())) for stay in stays)
        source = source + "# " + HOSTILE + "\n"
    return Sample(study, plan, analysis, stays, source)


def poisoned(payload: str) -> Sample:
    """The study with `payload` as the name of a deployment and in every text from outside.

    Those are what servers, kernels, tools and users say: facts, settings, arguments, addresses,
    reasons, differences, sentences made of them.
    """
    made = sample()
    return Sample(
        study=made.study,
        plan=Plan.model_validate(_poisoned(made.plan.model_dump(), payload)),
        analysis=Analysis.model_validate(_poisoned(made.analysis.model_dump(), payload)),
        stays=tuple(
            StayRecord.model_validate(_poisoned(stay.model_dump(), payload)) for stay in made.stays
        ),
        source=f"{made.source}# {payload}\n",
    )


_FROM_OUTSIDE = {"reason", "reasons", "sentence", "better", "skipped", "differences", "factors"} | {
    *("compared", "absent", "refused", "notes", "environment", "left_out", "title", "facts"),
    *("network", "endpoint", "argv", "role", "member", "parity", "seen", "allowed"),
}

_OURS = {"what", "unit"}
"""Words of our own below them."""

_NAMED_BY_OTHERS = {"facts", "environment", "left_out"}
"""Mappings of which the keys come from outside too."""


def _poisoned(value: Any, payload: str, key: str = "", *, outside: bool = False) -> Any:
    if isinstance(value, Enum):  # a word of ours
        return value
    if isinstance(value, str):
        return payload if value == "docker-bridge" else value + payload * outside
    if isinstance(value, dict):
        theirs = {name: outside or name in _FROM_OUTSIDE for name in value}
        return {
            _poisoned(name, payload, outside=key in _NAMED_BY_OTHERS): _poisoned(
                item, payload, name, outside=theirs[name] and name not in _OURS
            )
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return tuple(_poisoned(item, payload, outside=outside) for item in value)
    return value


def nothing_measured() -> Analysis:
    """A study of which no run was ever finished."""
    return Analysis(
        study="empty",
        answers=(),
        comparisons=(),
        twin=(),
        summaries=(),
        order=(),
        runs=(),
        curves=(),
        shares=(),
        parity=Parity(compared=(), reference="native", differences=()),
        planned=60,
        valid=0,
        invalid=0,
        unknown=0,
        missing=60,
        environment={},
        skipped=(Skipped(deployment="docker-bridge", reason="no dockerd could be found"),),
    )


def _renamed(value: Any) -> Any:
    """The same value with a hostile deployment and hostile reasons in place of tame ones."""
    if isinstance(value, str):
        if "client-busy" in value or "IPVS" in value or "libc" in value:
            return value + " " + HOSTILE_ERROR
        return value.replace("docker-bridge", HOSTILE)
    if isinstance(value, dict):
        return {_renamed(key): _renamed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_renamed(item) for item in value)
    return value
