"""Whether a share of the baseline's capacity is the same load in two results.

Each result finds the capacity anew, so that the same share is hardly ever the same rate. Throughput
then differs by construction, the cost of an operation may, and latencies near the capacity differ
by far more than the rates: nothing is compared there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dunnage.analysis.runs import Setting
from dunnage.model.calibration import Calibration
from dunnage.model.plan import RunPlan


def other_rates(
    runs: Iterable[RunPlan], a: Calibration | None, b: Calibration | None
) -> Mapping[Setting, tuple[float, float]]:
    """Loads that are shares of two capacities → their rates in operations per second, `a`'s first.

    Only those whose rates are not the same; empty where a result has no calibration.
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
