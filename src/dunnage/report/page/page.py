"""The report as one page that needs nothing else: no network, no files beside it.

Its one script unfolds before printing and sorts the runs; without it everything can be read.
"""

from __future__ import annotations

import base64
import hashlib
import statistics
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from dunnage.analysis.intervals import MINIMUM_BLOCKS
from dunnage.analysis.looks import number as look_number
from dunnage.findings.checks import reasons
from dunnage.findings.checks.sentences import besides_the_plan, managed, moving, trend, trouble
from dunnage.findings.conditions.members import held
from dunnage.findings.control.sentences import control_differs, control_holds
from dunnage.findings.counters.associations import beside
from dunnage.findings.cpu.bars import cpu_bars, part_title
from dunnage.findings.cpu.sentences import charged
from dunnage.findings.cpu.shares import NETWORK_SOFT, OUTSIDE, PARTS, SOFT
from dunnage.findings.differences import answer, sentences
from dunnage.findings.differences.forests import forests
from dunnage.findings.losses.sentences import losses
from dunnage.findings.networks.sentences import networks_that_changed
from dunnage.findings.paths import sentences as ways
from dunnage.findings.paths.recorded import DeploymentPaths, recorded
from dunnage.findings.restarts.sentences import stays_with_restarts
from dunnage.findings.rules.sentences import rules_stay
from dunnage.findings.rungs.figures import ladders
from dunnage.findings.rungs.sentences import APART, READING
from dunnage.findings.saturation.open_levels import open_levels
from dunnage.findings.saturation.searches import searches
from dunnage.findings.saturation.sentences import capacities, over_capacity
from dunnage.findings.scalability.growth import growths
from dunnage.findings.snapshots.sentences import restored
from dunnage.findings.study import sentences as about
from dunnage.findings.tails.figures import shifts, tails
from dunnage.findings.timeline.figures import times
from dunnage.findings.variance.bars import variance_bars
from dunnage.findings.variance.sentences import inseparable, next_steps
from dunnage.findings.variance.sequels import sequels
from dunnage.model.analysis import Analysis
from dunnage.model.metrics import HEADLINE, METRICS
from dunnage.model.plan import Plan
from dunnage.model.record import StayRecord
from dunnage.model.study import Study
from dunnage.model.value import Scalar
from dunnage.report.page import places
from dunnage.report.terminal.notes import left_out
from dunnage.units import duration
from dunnage.wording import absent, alike, checks, damage, numbers, parity, terms, verdict

TEMPLATES = Path(__file__).parent / "templates"
RUN_METRICS = (*HEADLINE, "cpu.client", "memory.database")
"""Metrics of the table of runs, beside those that questions ask for."""


def page(
    analysis: Analysis,
    study: Study,
    plan: Plan,
    stays: Sequence[StayRecord],
    *,
    source: str = "",
    failures: Sequence[str] = (),
    scale: float | None = None,
) -> str:
    """The report of a study. `source` is the study file as it was given.

    `failures` are the journal's reasons why stays or runs did not happen, `scale` the share to
    which the study was made smaller.
    """
    script = (TEMPLATES / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = _environment().get_template("page.html")
    return template.render(
        **_told(analysis, study, plan, failures),
        advice=next_steps(analysis, study, scale),
        scaled=about.scaled(scale),
        **_drawn(analysis, plan),
        analysis=analysis,
        study=study,
        plan=plan,
        measured=_measured(stays),
        style=Markup((TEMPLATES / "page.css").read_text(encoding="utf-8")),  # noqa: S704  ours
        script=Markup(script),  # noqa: S704  ours
        script_hash=digest,
        source=source or study.model_dump_json(indent=2, exclude_defaults=True),
        run_metrics=_run_metrics(analysis),
        slowed=any(run.paused is not None for run in analysis.runs),
        moved=any(run.trend is not None for run in analysis.runs),
        servers=_servers(plan, stays),
        paths=_paths(plan, stays),
        facts=sorted(analysis.environment.items()),
        fewest=MINIMUM_BLOCKS,
    )


def _told(
    analysis: Analysis, study: Study, plan: Plan, failures: Sequence[str]
) -> Mapping[str, Any]:
    return {
        "headline": about.headline(study, plan),
        "setting": about.setting(study, plan),
        "invented": about.invented(analysis),
        "emulated": about.emulated(analysis),
        "shared": about.shared(study),
        "damaged": damage.brief(analysis.damages),
        "trouble": trouble(analysis, failures),
        "nothing": sentences.nothing_compared(analysis, study, plan),
        "reached": answer.reached(analysis),
        "questions": _questions(analysis, study, plan),
        "besides_the_plan": besides_the_plan(analysis),
        "reasons": reasons.why_not_valid(analysis),
        "failures": alike.grouped(failures),
        "reading": sentences.reading(analysis),
        "looked": sentences.looks(analysis),
        "looks_before": look_number(analysis.looks) - 1,
        "undecided": answer.unsettled(analysis),
        "together": sentences.together(analysis),
        "lead": sentences.lead(analysis.answers[0], study, plan) if analysis.answers else "",
        "overloaded": over_capacity(analysis),
        "capacities": capacities(analysis),
        "losses": losses(analysis),
        "restored": restored(analysis),
        "restarted": stays_with_restarts(analysis.restarted),
        "rules_stay": rules_stay(analysis.rules_left),
        "networks_changed": networks_that_changed(analysis.networks_changed),
        "moving": moving(analysis),
        "managed": managed(analysis),
        "thinned": sentences.thinned(analysis),
        "skipped": left_out(analysis.skipped),
        "trend": trend(analysis),
        "control_broken": control_differs(analysis),
        "control_held": control_holds(analysis),
        "own_secrets": about.own_secrets(study),
        "parity": parity.shown(analysis.parity.differences, analysis.parity.reference),
        "not_compared": parity.not_compared(analysis.parity.differences),
        "absent": absent.metrics(analysis.absent_metrics),
    }


def _drawn(analysis: Analysis, plan: Plan) -> Mapping[str, Any]:
    drawn = forests(analysis)
    first = next(
        (found.comparisons[0].metric for found in analysis.answers if found.comparisons), ""
    )
    return {
        "picture": next((forest for forest in drawn if forest.metric == first), None),
        "forests": [forest for forest in drawn if forest.metric != first],
        "growths": growths(analysis),
        "searches": searches(analysis),
        "open_levels": open_levels(analysis),
        "tails": tails(analysis),
        "shifts": shifts(analysis),
        "times": times(analysis),
        "sequels": sequels(analysis),
        "bars": cpu_bars(analysis),
        "ladders": ladders(analysis),
        "ladders_read": (READING, APART),
        "variance": variance_bars(analysis),
        "unseparated": tuple(
            dict.fromkeys(text for split in analysis.variance for text in inseparable(split))
        ),
        "twins": [found for found in analysis.twin if found.difference.n],
        "beside": beside(analysis),
        "outside": part_title(OUTSIDE),
        "cpu_parts": (*PARTS, SOFT, NETWORK_SOFT),
        "held": held(analysis),
        "has_outside": any(share.part == OUTSIDE for share in analysis.shares),
        "charged": charged(analysis),
        "series": {
            terms.plain(deployment.name): number
            for number, deployment in enumerate(plan.deployments)
        },
    }


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_clean,
    )
    words = {
        "n": numbers,
        "w": terms,
        "s": sentences,
        "c": checks,
        "p": parity,
        "v": verdict,
        "ways": ways,
    }
    environment.globals.update(words, at=places, why_not=reasons.of_run, METRICS=METRICS)
    environment.filters.update(plain=terms.plain, fact=_fact, coded=_coded)
    return environment


def _clean(value: Any) -> Any:
    """Every text that reaches the page loses its control characters; our own markup stays."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return terms.plain(value)


def _coded(text: str) -> Markup:
    """A sentence with what stands between backticks set as code; every part is escaped."""
    parts = [escape(terms.plain(part)) for part in text.split("`")]
    if len(parts) % 2 == 0:
        return escape(terms.plain(text))
    code = Markup("<code>{}</code>")
    return Markup("").join(
        code.format(part) if place % 2 else part for place, part in enumerate(parts)
    )


def _questions(analysis: Analysis, study: Study, plan: Plan) -> list[dict[str, Any]]:
    advice = {found.question: found for found in analysis.advice}
    reached = answer.reached_by(analysis)
    return [
        {
            "name": found.question,
            "id": f"question-{number}",
            "asks": about.asks(study.questions.get(found.question), plan),
            "claims": sentences.claims(found, study, plan, reached),
            "advice": advice.get(found.question),
            "answer": found,
            "spec": study.questions.get(found.question),
        }
        for number, found in enumerate(analysis.answers, start=1)
    ]


def _measured(stays: Sequence[StayRecord]) -> str:
    """The day of the first stay, in UTC: `21 November 2026`."""
    if not stays:
        return ""
    day = datetime.fromtimestamp(min(stay.started for stay in stays), tz=UTC)
    return f"{day.day} {day:%B %Y}"


def _run_metrics(analysis: Analysis) -> tuple[str, ...]:
    present = {metric for run in analysis.runs for metric in run.values}
    asked = answer.metrics(analysis)
    beside_latency = (name for name in METRICS if not METRICS[name].compared)
    wanted = dict.fromkeys((*RUN_METRICS, *asked, *beside_latency))
    return tuple(name for name in wanted if name in present)


def _servers(plan: Plan, stays: Sequence[StayRecord]) -> list[dict[str, Any]]:
    """What each deployment's servers said of themselves, by its first stay.

    Facts of the first deployment are listed in full, of the others what differs from it.
    """
    found: list[dict[str, Any]] = []
    like = ""
    usual: Mapping[str, Scalar] = {}
    for deployment in plan.deployments:
        own = [stay for stay in stays if stay.deployment == deployment.name]
        if not own:
            continue
        facts = sorted(own[0].facts.items())
        ready = statistics.median(stay.ready - stay.started for stay in own)
        found.append(
            {
                "deployment": deployment,
                "ready": duration(max(ready, 0.0)),
                "stays": len(own),
                "facts": [(key, value) for key, value in facts if usual.get(key, ...) != value],
                "alike": sum(1 for key, value in facts if usual.get(key, ...) == value),
                "like": like,
                "network": sorted(own[0].network.items()),
                "client": own[0].client.value if own[0].client else "",
                "rules": sorted(own[0].rules.items()),
                "endpoint": own[0].endpoint,
                "processes": own[0].processes,
            }
        )
        like, usual = like or deployment.name, usual or own[0].facts
    return found


def _paths(plan: Plan, stays: Sequence[StayRecord]) -> list[DeploymentPaths]:
    """What each deployment's stays recorded of the way to its members."""
    found = (recorded(deployment.name, stays) for deployment in plan.deployments)
    return [each for each in found if each is not None]


def _fact(value: Scalar) -> str:
    """A fact for people: absent, yes, no, or itself."""
    words_of: Mapping[Scalar, str] = {None: "not known", True: "yes", False: "no"}
    if value is None or isinstance(value, bool):
        return words_of[value]
    return f"{value:,}" if isinstance(value, int) else str(value)
