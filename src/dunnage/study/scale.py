"""A study made smaller for a quick try: the same questions, fewer records and blocks, less time."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, MutableMapping
from typing import Any

from ruamel.yaml import YAML

from dunnage.model.choices import Phase
from dunnage.model.study import Study
from dunnage.study.rules_turns import LEAST_TURNS
from dunnage.units import SHARES, quantity

_SAID = "# Made smaller for a quick try: --scale "
"""How the text of such a study begins."""
LEAST_RECORDS = 100
LEAST_SECONDS = 2.0
"""A shorter run is never valid: whether it was steady is unknown."""
LEAST_PROBE = 1.0
"""Seconds of a probe, which need not be steady."""


def scaled(text: str, study: Study, share: float) -> str:
    """The text of a study with records, measured time and blocks times `share`, a share of one.

    `text` is that of `study`, which was read without a problem. Nothing gets more than it had, and
    nothing less than a run needs; an answer may then have too few blocks for an interval, and says
    so. Comments stay, and the first line says what was done.
    """
    yaml = YAML(typ="rt")
    yaml.width = 1000
    data = yaml.load(text)
    # What ends when all is in or done lasts as long as any other run, at the highest rate too.
    fastest = max((rate.number or 0.0 for rate in study.load.rate), default=0.0)
    least_counted = max(LEAST_RECORDS, math.ceil(LEAST_SECONDS * fastest))
    loading = any(workload.phase is Phase.LOAD for workload in study.workloads)
    least_records = least_counted if loading else LEAST_RECORDS
    _scale(data, "records", study.records, share, least_records)
    _scale(data, "blocks", study.blocks, share, 1)
    for workload in data["workloads"]:
        if isinstance(workload, MutableMapping) and "records" in workload:
            _scale(workload, "records", workload["records"], share, least_records)
    load = data["load"]
    if study.load.operations is not None:
        least = max(least_counted, *study.load.threads, 0)
        _scale(load, "operations", study.load.operations, share, least)
    if study.load.conditioning:
        _scale(load, "conditioning", study.load.conditioning, share, 0.0, _seconds)
    if study.load.duration is not None:
        shortest = max(LEAST_SECONDS, LEAST_TURNS * (study.load.turns or 0.0))
        _scale(load, "duration", study.load.duration, share, shortest, _seconds)
    if study.load.search is not None:
        _scale(load["search"], "probe", study.load.search.probe, share, LEAST_PROBE, _seconds)
    out = io.StringIO()
    yaml.dump(data, out)
    return f"{_SAID}{share:g}\n{out.getvalue()}"


def _scale(
    data: MutableMapping[str, Any],
    key: str,
    full: float,
    share: float,
    least: float,
    write: Callable[[float], object] = round,
) -> None:
    data[key] = write(min(full, max(least, full * share)))


def _seconds(value: float) -> str:
    return f"{value:g}s"


def share_of(text: str) -> float | None:
    """The share to which a study was made smaller, by its text; None for one that is whole."""
    first = text.partition("\n")[0]
    if not first.startswith(_SAID):
        return None
    try:
        share = readable_share(first.removeprefix(_SAID))
    except ValueError:
        return None
    return share if share < 1 else None


def readable_share(written: str) -> float:
    """A share above zero and at most one, written `10%` or `0.1`; raises ValueError with why."""
    share = quantity(written, SHARES)
    if not 0 < share <= 1:
        raise ValueError(f"`{written}` does not make a study smaller; write for example `10%`")
    return share
