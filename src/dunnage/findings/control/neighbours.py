"""What it costs a deployment that others live beside it, where load comes in turns.

In each block one deployment is measured by itself as well, another one in every block. What the
others cost all alike cancels in a comparison. What they cost one more than another would be taken
for something that platforms do, so the cost of each is held against that of the baseline, too.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean

from dunnage.analysis import looks
from dunnage.analysis.distributions import t_quantile
from dunnage.analysis.gather import Gathered
from dunnage.analysis.intervals import Paired, as_ratio, block_logs
from dunnage.analysis.values import values
from dunnage.model.check import Status
from dunnage.model.control import NeighbourCost
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import IN_TURNS
from dunnage.model.record import Record

LEAST_FREEDOM = 3
"""Degrees of freedom below which the spread inside deployments is not known."""
METHOD = (
    "difference of mean paired log ratios, simultaneous t interval with the variance of all "
    "deployments"
)


def neighbours(
    gathered: Gathered,
    alone: Iterable[Record],
    originals: Mapping[str, str],
    base: str,
    look: int = 1,
) -> tuple[NeighbourCost, ...]:
    """In turns over alone, paired over blocks, of every metric that turns tell.

    Workloads and levels of a block are averaged. `originals` maps each deployment to the one that
    it is a twin of, or to itself: twins are one here, as their neighbours cannot cost one more than
    the other. Empty where nothing was measured alone.
    """
    valid = {run.run for run in gathered.runs if run.status == Status.VALID}
    single = [record for record in alone if record.status is Status.VALID]
    keys = {_key(record) for record in single}
    beside = [
        record
        for name, record in gathered.records.items()
        if name in valid and _key(record) in keys
    ]
    both = {_key(record) for record in beside}
    of = {record.block: record.deployment for record in single}
    found = []
    for metric in IN_TURNS:
        together, by_itself = (
            block_logs(
                (record.block, values(record)[metric])
                for record in side
                if _key(record) in both and metric in values(record)
            )
            for side in (beside, single)
        )
        difference = looks.difference(Paired.of(together, by_itself), look)
        if difference is not None:
            costs: dict[str, list[float]] = defaultdict(list)
            for block in together.keys() & by_itself.keys():
                costs[originals[of[block]]].append(together[block] - by_itself[block])
            uneven = _uneven(costs, originals[base], looks.coverage(look))
            found.append(NeighbourCost(metric=metric, difference=difference, uneven=uneven))
    return tuple(found)


def _uneven(costs: Mapping[str, list[float]], base: str, level: float) -> Mapping[str, Estimate]:
    """Deployment → what neighbours cost it over what they cost the baseline, ratio minus one.

    All intervals hold together, by Bonferroni's inequality.
    """
    freedom = sum(len(logs) - 1 for logs in costs.values())
    if base not in costs or freedom < LEAST_FREEDOM:
        return {}
    squares = [(log - fmean(logs)) ** 2 for logs in costs.values() for log in logs]
    sd = math.sqrt(math.fsum(squares) / freedom)
    reach = t_quantile(1 - (1 - level) / 2 / max(1, len(costs) - 1), freedom) * sd
    found = {}
    for name, logs in sorted(costs.items()):
        if name != base:
            mean = fmean(logs) - fmean(costs[base])
            half = reach * math.sqrt(1 / len(logs) + 1 / len(costs[base]))
            ends = mean - half, mean + half
            found[name] = as_ratio(mean, ends, len(logs), METHOD, level)
    return found


def _key(record: Record) -> tuple[int, str, str, str]:
    return record.block, record.deployment, record.workload.name, record.level.name
