"""What rates are shares of, as sentences: the capacity that was found, and whether to doubt it."""

from __future__ import annotations

from dunnage.model.analysis import Analysis
from dunnage.model.calibration import Capacity
from dunnage.report import numbers, words


def capacities(analysis: Analysis) -> tuple[str, ...]:
    """One sentence for each workload; none where no rate is a share."""
    found = analysis.calibration
    if found is None:
        return ()
    of = f"{words.plain(found.deployment)} at {numbers.count(found.threads, 'thread')}"
    where = f" in {words.plain(found.taken_from)}" if found.taken_from else ""
    return tuple(
        f"rates are shares of what {of} reached{where}, workload {words.plain(workload)}: "
        f"{numbers.value('throughput', capacity.throughput)}{_doubt(capacity)}"
        for workload, capacity in found.capacities.items()
    )


def _doubt(capacity: Capacity) -> str:
    if not capacity.spoilt:
        return ""
    reasons = "; ".join(dict.fromkeys(map(words.plain, capacity.spoilt.values())))
    if capacity.doubtful:
        return f"; to be doubted, as none of its {_runs(capacity)} is valid ({reasons})"
    return f"; {len(capacity.spoilt)} of {_runs(capacity)} left out ({reasons})"


def _runs(capacity: Capacity) -> str:
    return numbers.count(len(capacity.runs), "run")
