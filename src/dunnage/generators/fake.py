"""The generator of fake hosts: the engine's plan in, counts and latencies out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from dunnage.errors import RunError
from dunnage.generators.engine import RESULT, EngineGenerator, complete, windows
from dunnage.model.load import Command, LoadOrder
from dunnage.model.metrics import QUANTILES
from dunnage.model.offer import PartOffer
from dunnage.model.record import Latency, Measurement, OperationStats

Points = Sequence[Sequence[float]]
"""A distribution: pairs of seconds and how often."""


class FakeGenerator(EngineGenerator):
    """Drives the fake database by the built-in program `fake-load`."""

    offer: ClassVar[PartOffer] = PartOffer(fake=True)
    connecting: ClassVar[float] = 0.0
    """It is connected at once, so that its loads last as long with several clients as with one."""

    def commands(
        self, order: LoadOrder, engine: str, directories: Sequence[str]
    ) -> tuple[Command, ...]:
        return tuple(
            replace(command, argv=("fake-load", *command.argv[2:]), artefacts=(RESULT,), begun="")
            for command in super().commands(order, engine, directories)
        )

    def parse(self, artefacts: Sequence[Mapping[str, bytes]]) -> Measurement:
        """Add the parts' results. Raises RunError when a part is missing or unreadable."""
        results = [_result(number, files) for number, files in enumerate(artefacts, start=1)]
        complete(results)
        names = sorted({name for result in results for name in result["operations"]})
        entries = {name: [result["operations"].get(name) for result in results] for name in names}
        operations = {name: _stats([e for e in parts if e]) for name, parts in entries.items()}
        every = [entry for parts in entries.values() for entry in parts if entry]
        seconds = max(result["seconds"] for result in results)
        offered = [result["offered"] for result in results if result["offered"] is not None]
        return Measurement(
            began=min(result["began"] for result in results),
            seconds=seconds,
            operations={**operations, "all": _stats(every)},
            windows=windows(results),
            remotes=tuple(sorted({remote for result in results for remote in result["remotes"]})),
            client_cpu=sum(result["client_cpu"] for result in results),
            client_busy=max(result["client_busy"] for result in results),
            offered=sum(offered) if offered else None,
            backlog=sum(result["backlog"] for result in results),
            parts=len(results),
            starts=tuple(result["started"] for result in results),
        )


def _result(number: int, files: Mapping[str, bytes]) -> dict[str, Any]:
    try:
        result: dict[str, Any] = json.loads(files[RESULT])
    except KeyError:
        raise RunError(f"part {number} left no `{RESULT}`") from None
    except ValueError as error:
        raise RunError(f"part {number} left a `{RESULT}` that cannot be read: {error}") from None
    return result


def _stats(entries: Sequence[Mapping[str, Any]]) -> OperationStats:
    errors: Counter[str] = Counter()
    for entry in entries:
        errors.update(entry["errors"])
    return OperationStats(
        count=sum(entry["count"] for entry in entries),
        errors=dict(errors),
        service=_latency(entry["service"] for entry in entries),
        response=_latency(entry["response"] for entry in entries if entry["response"] is not None),
    )


def _latency(distributions: Iterable[Points]) -> Latency | None:
    """Quantiles of distributions added together, by nearest rank; None if they are empty."""
    points = sorted((value, int(count)) for points in distributions for value, count in points)
    total = sum(count for _, count in points)
    if not total:
        return None
    return Latency(
        count=total,
        mean=sum(value * count for value, count in points) / total,
        minimum=points[0][0],
        maximum=points[-1][0],
        quantiles={name: _quantile(points, float(name[1:]) / 100 * total) for name in QUANTILES},
    )


def _quantile(points: Sequence[tuple[float, int]], rank: float) -> float:
    below = 0
    for value, count in points:
        below += count
        if below >= rank:
            return value
    return points[-1][0]
