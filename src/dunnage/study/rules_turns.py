"""Rules of load in turns: all deployments run together, and latencies are not compared."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dunnage.errors import shown
from dunnage.model.choices import ClientPlace, Data, Phase
from dunnage.model.deployment import PAUSE_PERIOD
from dunnage.model.load import SETTLING
from dunnage.model.metrics import IN_TURNS
from dunnage.model.study import CLIENT_GROUP, INSERTING
from dunnage.study.draft import Draft
from dunnage.study.grammar import Finding
from dunnage.study.matrix import Variant
from dunnage.study.suggest import listed
from dunnage.units import duration

LEAST_TURNS = 4
"""Turns of each deployment in a run."""
READINGS = 2
"""Readings that must fall into a wait: what a deployment uses there is the difference of two."""
_WHOLE = SETTLING + 2 * PAUSE_PERIOD
_ROUNDING = 1e-6


def turns_rules(draft: Draft, every: tuple[Variant, ...]) -> Iterator[Finding]:
    """Yield everything that does not go with load in turns; nothing where there are none."""
    load = draft.load
    if load is None or load.turns is None:
        return
    if load.duration is not None and load.duration < LEAST_TURNS * load.turns:
        least = LEAST_TURNS * load.turns
        yield Finding(
            ("load", "duration"),
            f"`duration` is too short: each deployment needs {LEAST_TURNS} turns, "
            f"{duration(least)} in total",
            f"write at least `duration: {least:g}s`",
        )
    for key in ("rate", "search", "operations"):
        if getattr(load, key):
            yield Finding(
                ("load", key),
                f"`{key}` is not possible with `turns`: waiting for a turn would delay operations",
                f"remove `{key}`, or `turns`",
            )
    if (draft.groups or {}).get(CLIENT_GROUP, 1) > 1:
        yield Finding(
            ("testbed", "hosts"),
            "clients on several hosts cannot switch turns at the same moment",
            "write `client: 1`, or remove `turns`",
        )
    if draft.sampler is not None and draft.sampler.soft_interrupts:
        yield Finding(
            ("sampler", "soft_interrupts"),
            "with `turns` soft interrupts cannot be charged: they are of all deployments together",
            "remove `soft_interrupts`, or `turns`",
        )
    if draft.data is Data.RESTORE:
        yield Finding(("data",), "with `turns` every stay loads its records", "write `data: load`")
    for index, workload in draft.workloads.items():
        if workload.phase is Phase.LOAD or workload.core in INSERTING:
            yield Finding(
                ("workloads", index),
                f"{shown(workload.name)} inserts records, which is not possible with `turns`",
                "use A, B, C or F here, or remove `turns`",
            )
    yield from _readings(draft, every, load.turns)
    yield from _deployments(draft, every, load.turns)
    for name, question in draft.questions.items():
        if question.metric not in IN_TURNS:
            yield Finding(
                ("questions", name, "metric"),
                f"load in turns does not measure `{question.metric}`",
                f"its metrics are {listed(IN_TURNS)}; or remove `turns`",
            )


def _readings(draft: Draft, every: tuple[Variant, ...], turn: float) -> Iterator[Finding]:
    """Whether hosts are read often enough to see what each uses in the others' turns."""
    if faster := _sampler(draft, every, turn):
        rate = draft.sampler.rate if draft.sampler is not None else 0.0
        yield Finding(
            ("load", "turns"),
            f"a sampler rate of {rate:g} Hz is too low to see what a deployment uses in the "
            f"{duration(_wait(draft, every, turn))} of the others' turns",
            f"write {faster}",
        )


def _wait(draft: Draft, every: tuple[Variant, ...], turn: float) -> float:
    """Seconds of the others' turns between two of one deployment, as far as they count."""
    deployments = len(every) + (draft.twin is not None)
    return max(deployments - 1, 1) * turn - SETTLING


def _sampler(draft: Draft, every: tuple[Variant, ...], turn: float) -> str:
    """What must be written for the sampler where turns last so long; empty where it is right."""
    wait = _wait(draft, every, turn)
    if draft.sampler is None or draft.sampler.rate * wait >= READINGS - _ROUNDING:
        return ""
    return f"`sampler: {{rate: {math.ceil(READINGS / wait - _ROUNDING)}Hz}}`"


def _deployments(draft: Draft, every: tuple[Variant, ...], turn: float) -> Iterator[Finding]:
    counted = (turn - SETTLING) / PAUSE_PERIOD
    whole = abs(counted - round(counted)) < _ROUNDING
    faster = _sampler(draft, every, _WHOLE)
    with_it = f", with {faster}" if faster else ""
    for variant in every:
        place = ("deployments", variant.origin)
        if variant.keys.get("client") == ClientPlace.CONTAINER:
            yield Finding(
                (*place, "client"),
                "a client in a container cannot be paused between turns",
                "remove `client`, or `turns`",
            )
        stopped = "loss" if variant.keys.get("loss") else "slowdown"
        if variant.keys.get(stopped) and not whole:
            yield Finding(
                (*place, stopped),
                f"servers stop every {duration(PAUSE_PERIOD)}; a turn of {duration(turn)}, "
                f"without its first {duration(SETTLING)}, does not have the same number of stops "
                "each time",
                f"write for example `turns: {_WHOLE * 1000:.0f}ms`{with_it}",
            )
