"""Paired differences along a latency distribution: one for each quantile, by the same intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from dunnage.analysis import looks
from dunnage.analysis.runs import Setting
from dunnage.findings.differences.comparisons import Comparisons
from dunnage.findings.differences.scope import Pairing
from dunnage.model.explanation import LatencyDifference, QuantileDifference
from dunnage.model.histogram import MINIMUM_BEYOND
from dunnage.model.metrics import QUANTILES
from dunnage.model.record import Record


def latency_differences(
    comparisons: Comparisons, baseline: str, deployment: str, setting: Setting, kinds: Sequence[str]
) -> list[LatencyDifference]:
    """Log quantiles paired over blocks, simultaneous over the quantiles of one distribution.

    Intervals are those of this look, and pairs those of every comparison. A quantile beyond which
    some run has fewer than ten operations is left out and says so. Nothing is compared where a side
    was over capacity.
    """
    gathered = comparisons.gathered
    if any(gathered.over_capacity(name, setting) for name in (deployment, baseline)):
        return []
    sides = (gathered.valid_records(name, setting) for name in (deployment, baseline))
    records = list(chain(*sides))
    found = []
    for kind in kinds:
        fewest = _fewest(records, kind)
        if not fewest:
            continue
        left_out = {
            name: f"some run has only {fewest} operations, {round(fewest * (1 - share(name)))} of "
            f"them beyond it; {MINIMUM_BEYOND} are needed"
            for name in QUANTILES
            if fewest * (1 - share(name)) < MINIMUM_BEYOND - 1e-6
        }
        kept = [name for name in QUANTILES if name not in left_out]
        quantiles = tuple(
            QuantileDifference(quantile=name, share=share(name), difference=difference)
            for name in kept
            for pairing in (Pairing(baseline, deployment, f"{kind}.{name}", setting),)
            for pairs in (comparisons.pairs(pairing),)
            if (difference := looks.difference(pairs, comparisons.look, len(kept))) is not None
        )
        if quantiles:
            found.append(
                LatencyDifference(
                    deployment=deployment,
                    baseline=baseline,
                    workload=setting.workload,
                    level=setting.level,
                    kind=kind,
                    quantiles=quantiles,
                    left_out=left_out,
                )
            )
    return found


def share(quantile: str) -> float:
    """`p99.9` as a share of one."""
    return float(quantile.removeprefix("p")) / 100


def _fewest(records: Sequence[Record], kind: str) -> int:
    """Operations of the run that has the fewest; 0 where no run has this kind of latency."""
    stats = [each.measurement.operations.get("all") for each in records if each.measurement]
    latencies = [getattr(each, kind) for each in stats if each is not None]
    return min((int(each.count) for each in latencies if each is not None), default=0)
