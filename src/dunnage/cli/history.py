"""How often twins were told apart on this machine, over its studies."""

from __future__ import annotations

import platform
import time

from dunnage import catalog
from dunnage.analysis.estimate import CONFIDENCE
from dunnage.cli.terminal import say
from dunnage.model.analysis import Analysis
from dunnage.report.numbers import count
from dunnage.store.history import Said, remember, remembered, said

KEPT = 200
"""Results of a machine that are told of: the latest."""


def keep(analysis: Analysis, result: str) -> None:
    """Keep what the twins of a result said; one that cannot be kept is told, and no more."""
    found = said(analysis, result, time.time())
    if found is None:
        return
    try:
        remember(catalog.twin_history(), _machine(), found)
    except OSError as error:
        say((f"what the twins said was not kept: {error}", "dim"))


def show() -> None:
    """Say how often this instrument was wrong here; nothing where there is no history."""
    known = remembered(catalog.twin_history(), _machine())[-KEPT:]
    if known:
        say((told(known), "dim"))


def told(known: tuple[Said, ...]) -> str:
    """In how many metrics identical deployments were told apart, and in how many they should be."""
    metrics = sum(each.metrics for each in known)
    apart = sum(len(each.apart) for each in known)
    return (
        f"twins on this machine, over {count(len(known), 'study', 'studies')}: told apart in "
        f"{apart} of {count(metrics, 'metric')}; by chance it would be {metrics * (1 - CONFIDENCE):.1f}"
    )


def _machine() -> str:
    return f"{platform.node()}-{platform.release()}"
