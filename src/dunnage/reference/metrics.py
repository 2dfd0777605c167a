"""`metrics.md`: what is measured, and what a run must keep to."""

from __future__ import annotations

from dunnage.analysis.checks import DISTURBANCES, GATES, Bounds
from dunnage.model.metrics import METRICS, OPERATIONS, Metric
from dunnage.reference.fields import fields
from dunnage.reference.markdown import code, codes, table

_HEAD = """
# Metrics and gates

A question of a study names one metric (`metric: service.p95`). Each run gives one value of it; the
values of a block are paired, and the block is the unit of inference.

- *service* times count from the actual start of an operation.
- *response* times count from its intended start. They exist only under an open load (`rate`):
  a closed loop (`threads`) has no intended starts.
"""
_GATES = """
## Gates

Gates judge every run. A run that fails one gate is *invalid*: it stays in the record and in the
count, with the reason, and no estimate uses it. A gate that cannot be judged makes the run
*unknown*.
"""


def metrics_page() -> str:
    whole = [metric for metric in METRICS.values() if metric.name.split(".")[0] not in OPERATIONS]
    words = [code(metric.name) for metric in METRICS.values() if metric.name.startswith("read.")]
    shown = [metric.name for metric in METRICS.values() if not metric.compared]
    bounds = Bounds()
    return "\n".join(
        (
            _HEAD,
            table(("metric", "what it is", "unit", "better", "how"), map(_row, whole)),
            f"{codes(shown)} are shown for every run, but no question may name them: a ratio of "
            "two of them says nothing.\n",
            f"Each time also exists for one type of operation: put {codes(OPERATIONS)} before it, "
            f"as in {words[0]} or {words[-1]}.\n",
            _GATES,
            f"The gates: {codes(GATES)}. A run that fails one of {codes(sorted(DISTURBANCES))} was "
            "disturbed from outside, and is measured again while the study's `patience` lasts.\n",
            table(
                ("bound", "value", "meaning"),
                (
                    (code(bound.name), code(getattr(bounds, bound.name)), bound.meaning)
                    for bound in fields(Bounds)
                ),
            ),
        )
    )


def _row(metric: Metric) -> tuple[str, ...]:
    return code(metric.name), metric.title, metric.unit, metric.better.value, metric.method
