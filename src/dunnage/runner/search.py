"""Look for the highest rate that a deployment sustains, probe by probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dunnage.findings.saturation.probe import first_rate, judged, next_rate, searched
from dunnage.model.level import Level, Search
from dunnage.model.load import LoadOrder
from dunnage.model.record import Measurement, Probe, Searched
from dunnage.runner.drive import drive
from dunnage.runner.fill import settle
from dunnage.runner.stay import Stay

WINDOWS = 10
"""Windows of a probe's time line, however short it is."""


@dataclass(frozen=True)
class Loaded:
    """A load that was made: as ordered, what its parts left by name, and what that says."""

    order: LoadOrder
    artefacts: tuple[tuple[str, Mapping[str, bytes]], ...]
    measurement: Measurement
    searched: Searched | None = None


def make_load(stay: Stay, order: LoadOrder, directory: str) -> Loaded:
    """Make the load that was ordered: at one rate or number of threads, or a whole search.

    Raises RunError when a part fails or leaves nothing, StayError when a member died meanwhile.
    """
    if order.level.search is not None:
        return _search(stay, order, order.level.search, directory)
    parts, measurement = drive(stay, order, directory)
    return Loaded(order, _named("", parts), measurement)


def _search(stay: Stay, order: LoadOrder, search: Search, directory: str) -> Loaded:
    """Make one load after the other until the rate is found, and return the one that counts.

    Before each the database has nothing left to do of the one before, which may have been too much.
    """
    first = first_rate(search, f"{order.seed}:{stay.deployment.name}")
    probes: list[Probe] = []
    made: list[Loaded] = []
    while (rate := next_rate(search, first, probes)) is not None:
        if probes:
            settle(stay)
        level = Level(rate=rate)
        asked = replace(
            order,
            level=level,
            duration=search.probe,
            operations=None,
            interval=min(order.interval, search.probe / WINDOWS),
        )
        number = len(probes) + 1
        parts, measurement = drive(stay, asked, f"{directory}/probe-{number}")
        probes.append(judged(search, asked, measurement))
        made.append(Loaded(asked, _named(f"probe-{number:02d}.", parts), measurement))
    found = searched(search, probes)
    best = max(
        (at for at, probe in enumerate(probes) if probe.sustained and probe.rate == found.rate),
        default=len(probes) - 1,
    )
    artefacts = tuple(each for load in made for each in load.artefacts)
    return replace(made[best], artefacts=artefacts, searched=found)


def _named(
    prefix: str, parts: list[dict[str, bytes]]
) -> tuple[tuple[str, Mapping[str, bytes]], ...]:
    return tuple((f"{prefix}part-{at}", files) for at, files in enumerate(parts, start=1))
