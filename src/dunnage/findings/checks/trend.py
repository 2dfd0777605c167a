"""By how much throughput moved while it was measured."""

from __future__ import annotations

from statistics import median

from dunnage.model.analysis import Analysis
from dunnage.wording import numbers


def trend(analysis: Analysis) -> str:
    """What valid runs moved by, as a sentence with the bound; empty where no run tells it."""
    seen = [run.trend for run in analysis.runs if run.status == "valid" and run.trend is not None]
    if not seen:
        return ""
    return (
        "From the first to the last third of the measured window, the throughput of valid runs "
        f"moved by {numbers.difference(min(seen))} to {numbers.difference(max(seen))}, that of "
        f"half of them by at most {numbers.magnitudes([median(map(abs, seen))])}. A run that moved "
        "by more than chance explains, by this study's runs under the same load, is not steady and "
        "does not count."
    )
