"""What this machine is remembered for: how often its twins were told apart, and its pace."""

from __future__ import annotations

import time

from dunnage.analysis.intervals import CONFIDENCE
from dunnage.analysis.pace import paces
from dunnage.cli.shared.terminal import say
from dunnage.findings.differences.twins_said import latest, twins_said
from dunnage.model.remembered import TwinsSaid
from dunnage.opened import OpenedResult
from dunnage.software.cache import default_root
from dunnage.store.machine_log import remember, remembered, this_machine
from dunnage.wording.numbers import count

KEPT = 200
"""Results of a machine that are told of: the latest."""


def keep(opened: OpenedResult) -> None:
    """Keep what a result says of this machine; what cannot be kept is told, and no more."""
    twins = twins_said(opened.analysis, opened.path.name, time.time())
    try:
        if twins is not None:
            remember(default_root() / "twins", this_machine(), twins)
        for pace in paces(opened.study, opened.plan, opened.records, opened.stays):
            remember(default_root() / "pace", this_machine(), pace)
    except OSError as error:
        say((f"the history of this machine was not updated: {error}", "dim"))


def show() -> None:
    """Say how often this instrument was wrong here; nothing where there is no history."""
    lines = remembered(default_root() / "twins", this_machine(), TwinsSaid)
    known = latest(lines)[-KEPT:]
    if known:
        say((told(known), "dim"))


def told(known: tuple[TwinsSaid, ...]) -> str:
    """In how many metrics identical deployments were told apart, and in how many they should be."""
    metrics = sum(study.metrics for study in known)
    apart = sum(len(study.apart) for study in known)
    chance = metrics * (1 - CONFIDENCE)
    return (
        f"twins on this machine, over {count(len(known), 'study', 'studies')}: different in "
        f"{apart} of {count(metrics, 'metric')}; by chance it would be {chance:.1f}"
    )
