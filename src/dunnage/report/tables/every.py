"""Every table of the report; those of words alone are made here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dunnage.findings.checks import reasons
from dunnage.findings.differences import answer
from dunnage.model.analysis import Analysis
from dunnage.model.metrics import METRICS
from dunnage.model.plan import Plan
from dunnage.model.value import Value
from dunnage.report.tables import flatten
from dunnage.report.tables.column import Cell, joined
from dunnage.report.tables.comparisons import comparisons
from dunnage.report.tables.means import cpu, latency_curves, shown_summaries
from dunnage.report.tables.rungs import rungs
from dunnage.report.tables.runs import runs
from dunnage.report.tables.table import Table, untyped
from dunnage.wording import checks, parity

Rows = Iterator[Mapping[str, Cell]]
_OTHERWISE = frozenset(
    {
        *("answers", "comparisons", "twin", "runs", "curves", "shares", "summaries"),
        *("gates", "rungs", "skipped"),
    }
)
"""Parts of the analysis that have a table of their own here; every other is flattened."""


def tables(analysis: Analysis, plan: Plan) -> list[Table[Any]]:
    """All tables that have a row, each under a name that is unique without regard to case."""
    parity_title = "Differences that are no factor under study"
    machine = ({"fact": fact, "value": value} for fact, value in analysis.environment.items())
    found: tuple[Table[Any], ...] = (
        comparisons(analysis),
        runs(analysis),
        shown_summaries(analysis),
        untyped("factors", "What each question compares", _factors(analysis)),
        latency_curves(analysis),
        cpu(analysis),
        rungs(analysis),
        untyped("deployments", "Deployments", _deployments(plan)),
        untyped("checks", "Why runs are not valid", _reasons(analysis)),
        untyped("gates", "What every gate saw", _gates(analysis)),
        untyped("parity", parity_title, _parity(analysis)),
        untyped("environment", "The machine", machine),
        untyped("counts", "How many runs count", _counts(analysis)),
        untyped("metrics", "What each metric is", _metrics(analysis)),
        *_others(analysis),
    )
    return [table for table in found if table.rows]


def _others(analysis: Analysis) -> Iterator[Table[Any]]:
    """Whatever else an analysis holds as lists of values."""
    for field in type(analysis).model_fields:
        values = getattr(analysis, field)
        if field not in _OTHERWISE and isinstance(values, tuple) and values:
            found = [value for value in values if isinstance(value, Value)]
            name = field.replace("_", "-")
            yield from flatten.tables(name, name.replace("-", " ").capitalize(), found)


def _factors(analysis: Analysis) -> Rows:
    for question in analysis.answers:
        for deployment, factors in question.factors.items():
            others = question.differences.get(deployment, ())
            yield {
                "question": question.question,
                "deployment": deployment,
                "factors": joined(map(parity.factor, factors)),
                "other differences": joined(
                    parity.sentence(each) + parity.origin(each) for each in others
                ),
                "complete blocks": question.complete_blocks,
            }


def _deployments(plan: Plan) -> Rows:
    for deployment in plan.deployments:
        yield {
            "deployment": deployment.name,
            "title": deployment.title,
            "twin of": deployment.twin_of,
            "platform": deployment.platform,
            "network": deployment.network,
            "endpoint": deployment.endpoint,
            "storage": deployment.storage.value,
            "client": deployment.client.value,
            "database": deployment.database.kind,
            "version": deployment.database.version,
            "topology": deployment.database.topology,
            "members": deployment.database.members,
        }


def _reasons(analysis: Analysis) -> Rows:
    for run in analysis.runs:
        for reason in reasons.of_run(run):
            seen = {"seen": reason.seen, "wanted": reason.allowed}
            yield {"run": run.run, "gate": reason.gate, **seen}


def _gates(analysis: Analysis) -> Rows:
    for found in analysis.gates:
        yield {
            **found.model_dump(include={"gate", "judged", "fired", "unknown", "nearest"}),
            "seen": joined(found.unseen) if found.nearest is None else checks.seen(found.example),
            "wanted": checks.allowed(found.example),
        }


def _parity(analysis: Analysis) -> Rows:
    for found in analysis.parity.differences:
        yield {
            "deployment": found.deployment,
            "baseline": found.baseline,
            "difference": parity.sentence(found.difference),
            "cause": found.difference.cause.value,
            "comes with": found.difference.comes_with,
        }


def _counts(analysis: Analysis) -> Rows:
    for kind in ("planned", "valid", "invalid", "unknown", "missing"):
        yield {"runs": kind, "number": getattr(analysis, kind), "why": ""}
    for skipped in analysis.skipped:
        why = f"{skipped.deployment}: {skipped.reason}"
        yield {"runs": "skipped", "number": None, "why": why}
    for gate, number in analysis.disturbed.items():
        yield {"runs": "measured again", "number": number, "why": gate}


def _metrics(analysis: Analysis) -> Rows:
    used = {name for run in analysis.runs for name in run.values}
    used |= set(answer.metrics(analysis))
    for metric in METRICS.values():
        if metric.name in used:
            yield {
                "metric": metric.name,
                "title": metric.title,
                "unit": metric.unit,
                "better": metric.better.value,
                "made from": metric.method,
            }
