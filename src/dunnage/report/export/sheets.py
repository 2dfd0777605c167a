"""Every table of the report as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dunnage.findings.checks import reasons
from dunnage.findings.differences import answer
from dunnage.model.analysis import Analysis
from dunnage.model.metrics import METRICS
from dunnage.model.plan import Plan
from dunnage.model.value import Value
from dunnage.report.export import flatten
from dunnage.report.export.csv_files import answer_rows, run_rows
from dunnage.report.export.sheet import Cell, Sheet, joined
from dunnage.wording import checks, parity

_OTHERWISE = frozenset(
    {
        *("answers", "comparisons", "twin", "runs", "curves", "shares", "summaries"),
        *("gates", "skipped"),
    }
)
"""Parts of the analysis that have a table of their own here; every other is flattened."""


def sheets(analysis: Analysis, plan: Plan) -> tuple[Sheet, ...]:
    """All tables that have a row, each under a name that is unique without regard to case."""
    found = [*_own(analysis, plan), *_others(analysis)]
    return tuple(sheet for sheet in found if sheet.rows)


def _own(analysis: Analysis, plan: Plan) -> Iterator[Sheet]:
    yield Sheet.of("answers", "Differences from the baseline", answer_rows(analysis))
    yield Sheet.of("runs", "All runs", run_rows(analysis))
    yield Sheet.of("summaries", "Means over blocks", _summaries(analysis))
    yield Sheet.of("factors", "What each question compares", _factors(analysis))
    yield Sheet.of("latency-curves", "Latency distributions", _curves(analysis))
    yield Sheet.of("cpu", "Where the CPU time of an operation goes", _shares(analysis))
    yield Sheet.of("deployments", "Deployments", _deployments(plan))
    yield Sheet.of("checks", "Why runs are not valid", _reasons(analysis))
    yield Sheet.of("gates", "What every gate saw", _gates(analysis))
    yield Sheet.of("parity", "Differences that are no factor under study", _parity(analysis))
    yield Sheet.of("environment", "The machine", _environment(analysis))
    yield Sheet.of("counts", "How many runs count", _counts(analysis))
    yield Sheet.of("metrics", "What each metric is", _metrics(analysis))


def _others(analysis: Analysis) -> Iterator[Sheet]:
    """Whatever else an analysis holds as lists of values."""
    for field in type(analysis).model_fields:
        values = getattr(analysis, field)
        if field not in _OTHERWISE and isinstance(values, tuple) and values:
            found = [value for value in values if isinstance(value, Value)]
            name = field.replace("_", "-")
            yield from flatten.sheets(name, name.replace("-", " ").capitalize(), found)


def _summaries(analysis: Analysis) -> Iterator[Mapping[str, Cell]]:
    for found in analysis.summaries:
        metric = METRICS[found.metric]
        low, high = found.estimate.low, found.estimate.high
        yield {
            "deployment": found.deployment,
            "workload": found.workload,
            "level": found.level,
            "metric": found.metric,
            "value": found.estimate.value * metric.scale,
            "low": None if low is None else low * metric.scale,
            "high": None if high is None else high * metric.scale,
            "unit": metric.unit,
            "blocks": found.estimate.n,
            "method": found.estimate.method,
        }


def _factors(analysis: Analysis) -> Iterator[Mapping[str, Cell]]:
    for question in analysis.answers:
        for deployment, factors in question.factors.items():
            yield {
                "question": question.question,
                "deployment": deployment,
                "factors": joined([parity.factor(factor) for factor in factors]),
                "other differences": joined(
                    [
                        parity.sentence(found) + parity.origin(found)
                        for found in question.differences.get(deployment, ())
                    ]
                ),
                "complete blocks": question.complete_blocks,
            }


def _curves(analysis: Analysis) -> Iterator[Mapping[str, Cell]]:
    for curve in analysis.curves:
        for share, seconds in curve.points:
            yield {
                "deployment": curve.deployment,
                "workload": curve.workload,
                "level": curve.level,
                "kind": curve.kind,
                "quantile": share,
                "latency [ms]": seconds * 1e3,
                "operations": curve.count,
            }


def _shares(analysis: Analysis) -> Iterator[Mapping[str, Cell]]:
    for found in analysis.shares:
        estimate, difference = found.estimate, found.difference
        yield {
            "deployment": found.deployment,
            "workload": found.workload,
            "level": found.level,
            "part": found.part,
            "CPU [µs/op]": found.seconds_per_operation * 1e6,
            "low [µs/op]": _micro(estimate.low if estimate else None),
            "high [µs/op]": _micro(estimate.high if estimate else None),
            "difference [µs/op]": _micro(difference.value if difference else None),
            "difference low [µs/op]": _micro(difference.low if difference else None),
            "difference high [µs/op]": _micro(difference.high if difference else None),
        }


def _micro(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e6


def _deployments(plan: Plan) -> Iterator[Mapping[str, Cell]]:
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


def _reasons(analysis: Analysis) -> Iterator[Mapping[str, Cell]]:
    for run in analysis.runs:
        for reason in reasons.of_run(run):
            seen = {"seen": reason.seen, "wanted": reason.allowed}
            yield {"run": run.run, "gate": reason.gate, **seen}


def _gates(analysis: Analysis) -> Iterator[Mapping[str, Cell]]:
    for found in analysis.gates:
        yield {
            "gate": found.gate,
            "judged": found.judged,
            "fired": found.fired,
            "unknown": found.unknown,
            "nearest": found.nearest,
            "seen": "" if found.nearest is None else checks.seen(found.example),
            "wanted": checks.allowed(found.example),
        }


def _parity(analysis: Analysis) -> Iterator[Mapping[str, Cell]]:
    for found in analysis.parity.differences:
        difference = found.difference
        yield {
            "deployment": found.deployment,
            "baseline": found.baseline,
            "difference": parity.sentence(difference),
            "cause": difference.cause.value,
            "comes with": difference.comes_with,
        }


def _environment(analysis: Analysis) -> Iterator[Mapping[str, Cell]]:
    for fact, value in analysis.environment.items():
        yield {"fact": fact, "value": value}


def _counts(analysis: Analysis) -> Iterator[Mapping[str, Cell]]:
    for kind in ("planned", "valid", "invalid", "unknown", "missing"):
        yield {"runs": kind, "number": getattr(analysis, kind), "why": ""}
    for skipped in analysis.skipped:
        why = f"{skipped.deployment}: {skipped.reason}"
        yield {"runs": "skipped", "number": None, "why": why}
    for gate, number in analysis.disturbed.items():
        yield {"runs": "measured again", "number": number, "why": gate}


def _metrics(analysis: Analysis) -> Iterator[Mapping[str, Cell]]:
    used = {name for run in analysis.runs for name in run.values}
    used |= set(answer.metrics(answer.all_comparisons(analysis)))
    for name in METRICS:
        if name in used:
            metric = METRICS[name]
            yield {
                "metric": name,
                "title": metric.title,
                "unit": metric.unit,
                "better": metric.better.value,
                "made from": metric.method,
            }
