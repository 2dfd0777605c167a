"""Two results of the same study side by side: does the overhead of a deployment differ?"""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.analysis.intervals import CONFIDENCE, Paired
from dunnage.analysis.runs import Runs
from dunnage.analysis.welch import welch
from dunnage.findings.differences.scope import Cell, Pairing
from dunnage.model.analysis import Analysis
from dunnage.model.estimate import Estimate
from dunnage.model.metrics import HEADLINE


def overhead_changes(
    a: Analysis, b: Analysis, confidence: float = CONFIDENCE
) -> Mapping[Cell, Estimate]:
    """How the headline overheads that both results have differ, `b` against `a`.

    Ratio of the two ratios, minus one. The blocks of two results are not paired, so intervals are
    Welch's on the log ratios, made simultaneous over all comparisons (Šidák) at `confidence`.
    Overheads are compared rather than raw values: two days differ in what the machine does, and
    that is not a difference of the deployments. A latency of a side that was over capacity in
    either result is left out.
    """
    runs = Runs(a.runs), Runs(b.runs)
    both = {Pairing.of(comparison) for comparison in b.comparisons}
    wanted = [
        pairing
        for pairing in map(Pairing.of, a.comparisons)
        if pairing.metric in HEADLINE and pairing in both and not _lost(pairing, runs)
    ]
    changes = {}
    for baseline, deployment, metric, setting in wanted:
        one, other = (
            Paired.of(side.logs(deployment, setting, metric), side.logs(baseline, setting, metric))
            for side in runs
        )
        if one.logs and other.logs:
            changes[Cell(deployment, metric, setting)] = welch(
                one, other, family=len(wanted), confidence=confidence, what="log ratios"
            )
    return changes


def _lost(pairing: Pairing, runs: tuple[Runs, Runs]) -> bool:
    baseline, deployment, metric, setting = pairing
    return any(side.lost(name, setting, metric) for side in runs for name in (deployment, baseline))
