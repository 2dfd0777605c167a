"""The generator of fake hosts: a plan in, counts and latencies out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from dunnage.errors import RunError
from dunnage.model.load import Command, LoadOrder
from dunnage.model.metrics import QUANTILES
from dunnage.model.offer import PartOffer
from dunnage.model.record import Latency, Measurement, OperationStats, Window

RESULT = "result.json"
Points = Sequence[Sequence[float]]
"""A distribution: pairs of seconds and how often."""


class FakeGenerator:
    """Drives the fake database by the built-in program `fake-load`."""

    offer: ClassVar[PartOffer] = PartOffer(fake=True)

    def commands(
        self,
        order: LoadOrder,
        engine: str,  # noqa: ARG002 - the program is a fake host's own
        directories: Sequence[str],
    ) -> tuple[Command, ...]:
        """One command for each part; records and threads are divided over them."""
        return tuple(
            _command(order, directory, index, len(directories))
            for index, directory in enumerate(directories)
        )

    def parse(self, artefacts: Sequence[Mapping[str, bytes]]) -> Measurement:
        """Add the parts' results. Raises RunError when a part is missing or unreadable."""
        results = [_result(number, files) for number, files in enumerate(artefacts, start=1)]
        if not results:
            raise RunError("no part of the load left a result")
        of = results[0]["part"]["of"]
        present = sorted(result["part"]["index"] for result in results)
        if present != list(range(of)):
            missing = sorted(set(range(of)) - set(present))
            raise RunError(f"parts {[index + 1 for index in missing]} of {of} left no result")
        return _added(results)


def _command(order: LoadOrder, directory: str, index: int, of: int) -> Command:
    plan = {
        "version": 1,
        "phase": str(order.phase),
        "core": order.workload.core,
        "records": order.workload.records,
        "level": {"threads": order.level.threads, "rate": order.level.rate},
        "addresses": [str(address) for address in order.target.addresses],
        "connections": order.connections,
        "arrivals": str(order.arrivals),
        "warmup": order.warmup,
        "duration": order.duration,
        "operations": order.operations,
        "interval": order.interval,
        "seed": order.seed,
        "part": {"index": index, "of": of},
    }
    return Command(
        argv=("fake-load", "--plan", f"{directory}/plan.json", "--out", directory),
        directory=directory,
        files={"plan.json": json.dumps(plan)},
        artefacts=(RESULT,),
    )


def _result(number: int, files: Mapping[str, bytes]) -> dict[str, Any]:
    try:
        result: dict[str, Any] = json.loads(files[RESULT])
    except KeyError:
        raise RunError(f"part {number} left no `{RESULT}`") from None
    except ValueError as error:
        raise RunError(f"part {number} left a `{RESULT}` that cannot be read: {error}") from None
    return result


def _added(results: Sequence[Mapping[str, Any]]) -> Measurement:
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
        windows=_windows(results),
        remotes=tuple(sorted({remote for result in results for remote in result["remotes"]})),
        client_cpu=sum(result["client_cpu"] for result in results),
        client_busy=max(result["client_busy"] for result in results),
        offered=sum(offered) if offered else None,
        backlog=sum(result["backlog"] for result in results),
        parts=len(results),
    )


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


def _windows(results: Sequence[Mapping[str, Any]]) -> tuple[Window, ...]:
    """The parts' time lines added, interval by interval."""
    return tuple(
        Window(
            start=beside[0]["start"],
            length=beside[0]["length"],
            operations=sum(window["operations"] for window in beside),
            errors=sum(window["errors"] for window in beside),
        )
        for beside in zip(*(result["windows"] for result in results), strict=False)
    )
