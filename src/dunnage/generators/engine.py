"""The engine as a generator: its plans, and the sum of what its parts left."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any, ClassVar

from hdrh.codec import HdrCookieException, HdrLengthException

from dunnage.errors import RunError
from dunnage.generators.ycsb_core import CORE
from dunnage.model.choices import Phase
from dunnage.model.histogram import latency, merged
from dunnage.model.load import Command, LoadOrder
from dunnage.model.metrics import QUANTILES
from dunnage.model.offer import PartOffer
from dunnage.model.record import Measurement, OperationStats, Window

LOAD_VERSION = 2
"""Version of the plan and of the result; what changed with each stands in `crates/wire`."""

RESULT = "result.json"
LOG = "latency.hlog"
APART = 0.05
"""Share of the window that the parts of a load may begin apart."""
EDGE = 0.0005
"""Seconds by which windows of the time line may overlap that only meet."""
KEPT_QUANTILES = (*QUANTILES, "p99.99")
_UNREADABLE = (ValueError, TypeError, zlib.error, HdrCookieException, HdrLengthException)
"""What a damaged histogram can end in."""


class EngineGenerator:
    """Makes load with `dunnage-engine load`; see `schema/engine-load.schema.json`."""

    offer: ClassVar[PartOffer] = PartOffer()
    connecting: ClassVar[float] = 5.0

    def commands(
        self, order: LoadOrder, engine: str, directories: Sequence[str]
    ) -> tuple[Command, ...]:
        """One command for each part; threads, rate and records are divided over them.

        Raises RunError when there are more parts than operations in flight.
        """
        most = order.connections if order.level.open else order.level.threads or 1
        parts = len(directories)
        if not 1 <= parts <= most:
            raise RunError(
                f"{parts} engines cannot share {most} operations in flight",
                where=order.level.label,
            )
        return tuple(
            Command(
                argv=(engine, "load", "--plan", f"{directory}/plan.json", "--out", directory),
                directory=directory,
                files={"plan.json": json.dumps(plan(order, index, parts), indent=1)},
                artefacts=(RESULT, LOG),
                begun=LOG,
            )
            for index, directory in enumerate(directories)
        )

    def progress(self, log: bytes) -> int:
        """What the last whole line of progress tells; other lines are messages."""
        for line in reversed(log.splitlines()):
            with suppress(ValueError, TypeError, KeyError):
                return int(json.loads(line)["operations"])
        return 0

    def parse(self, artefacts: Sequence[Mapping[str, bytes]]) -> Measurement:
        """Add the parts' results.

        Raises RunError when one is missing or cannot be read, and when parts did not run together.
        """
        results = [_result(index, files) for index, files in enumerate(artefacts)]
        complete(results)
        _together(results)
        try:
            operations = _operations(results, [part[LOG] for part in artefacts])
        except _UNREADABLE as error:
            raise RunError(f"a histogram cannot be read: {error}", where=LOG) from error
        seconds = max(result["seconds"] for result in results)
        intended = [r["intended"] for r in results if r["intended"] is not None]
        verified = [r["verified"] for r in results if r["verified"] is not None]
        started = [r["started"] for r in results if r.get("started") is not None]
        return Measurement(
            began=min(result["began"] for result in results),
            seconds=seconds,
            operations=operations,
            windows=windows(results),
            remotes=tuple(sorted({remote for result in results for remote in result["remotes"]})),
            client_cpu=sum(result["cpu_user"] + result["cpu_system"] for result in results),
            client_busy=max(r["cpu_busiest_thread"] / r["seconds"] for r in results),
            client_limited=max(r["limited"] / r["seconds"] for r in results),
            offered=sum(intended) / seconds if intended else None,
            backlog=sum(result["backlog"] for result in results),
            parts=len(results),
            starts=tuple(started) if len(started) == len(results) else (),
            shape=_alike(results, "shape"),
            consistency=_alike(results, "consistency"),
            encryption=tuple(sorted({way for r in results for way in r.get("encryption", ())})),
            saturated=any(result["saturated"] for result in results),
            verified=sum(verified) if verified else None,
        )


def plan(order: LoadOrder, index: int, parts: int) -> dict[str, Any]:
    """The plan of one part, as the engine reads it."""
    level: dict[str, Any] = (
        {"kind": "threads", "threads": order.level.threads}
        if order.level.rate is None
        else {
            "kind": "rate",
            "rate": order.level.rate,
            "connections": order.connections,
            "arrivals": order.arrivals.value,
        }
    )
    until_all_are_in = order.phase is Phase.LOAD and order.duration is None is order.operations
    return {
        "version": LOAD_VERSION,
        "phase": order.phase.value,
        "workload": {
            "kind": "ycsb",
            "records": order.workload.records,
            **CORE[order.workload.core],
        },
        "target": {
            "driver": order.target.driver,
            "topology": order.target.topology,
            "addresses": [str(address) for address in order.target.addresses],
            "options": dict(order.target.options),
            "credentials": None,
            "tls": None,
        },
        "level": level,
        "policy": "queue",
        "part": {"index": index, "of": parts},
        "start": order.starts[index] if order.starts else None,
        # Records that go in during a warm-up would not be counted.
        "warmup": 0.0 if until_all_are_in else order.warmup,
        "duration": order.duration,
        "until_told": order.until_told,
        "operations": order.operations,
        "interval": order.interval,
        "latencies": order.latencies,
        "timeout": order.timeout,
        "seed": order.seed,
    }


def _result(index: int, artefacts: Mapping[str, bytes]) -> dict[str, Any]:
    for name in (RESULT, LOG):
        if name not in artefacts:
            raise RunError(f"engine {index} left no `{name}`", where=f"part {index}")
    try:
        result: dict[str, Any] = json.loads(artefacts[RESULT])
        version = result["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"`{RESULT}` cannot be read: {error}", where=f"part {index}") from error
    if version != LOAD_VERSION:
        raise RunError(f"`{RESULT}` is of version {version}", where=f"part {index}")
    return result


def complete(results: Sequence[Mapping[str, Any]]) -> None:
    """Every part of the load must be there exactly once."""
    present = sorted(result["part"]["index"] for result in results)
    wanted = {result["part"]["of"] for result in results}
    if wanted != {len(results)} or present != list(range(len(results))):
        raise RunError(f"parts {present} are not all parts of one load of {sorted(wanted)}")


def _together(results: Sequence[Mapping[str, Any]]) -> None:
    """The parts' windows must be one window, or their sum would be of no time at all.

    Parts that each ended by themselves, known by windows of different lengths, have none in common.
    """
    lengths = {result["seconds"] for result in results}
    began = [result["began"] for result in results]
    apart = max(began) - min(began)
    if len(lengths) == 1 and apart > APART * max(lengths):
        raise RunError(
            f"the parts began {apart:.2f} s apart, more than {APART:.0%} of their window of "
            f"{max(lengths):g} s",
            hint="dunnage doctor",
        )


def _operations(
    results: Sequence[Mapping[str, Any]], logs: Sequence[bytes]
) -> dict[str, OperationStats]:
    """Counts are summed and histograms added; nothing is ever averaged."""
    counts, late, unsent, dropped, unfinished = (
        _added(results, kind) for kind in ("operations", "late", "unsent", "dropped", "unfinished")
    )
    errors: dict[str, Counter[str]] = {}
    for result in results:
        for operation, kinds in result["errors"].items():
            errors.setdefault(operation, Counter()).update(kinds)

    def stats(operations: Sequence[str]) -> OperationStats:
        kinds: Counter[str] = Counter()
        for operation in operations:
            kinds.update(errors.get(operation, {}))
        service, response = (
            latency(merged(logs, *(f"{name}.{kind}" for name in operations)), KEPT_QUANTILES)
            for kind in ("service", "response")
        )
        return OperationStats(
            count=sum(counts[operation] for operation in operations),
            errors=dict(kinds),
            service=service,
            response=response,
            late=sum(late[operation] for operation in operations),
            unsent=sum(unsent[operation] for operation in operations),
            dropped=sum(dropped[operation] for operation in operations),
            unfinished=sum(unfinished[operation] for operation in operations),
        )

    named = sorted({*counts, *errors, *late, *dropped, *unfinished})
    return {**{operation: stats([operation]) for operation in named}, "all": stats(named)}


def _added(results: Sequence[Mapping[str, Any]], kind: str) -> Counter[str]:
    """Numbers of operations by type, of all parts."""
    total: Counter[str] = Counter()
    for result in results:
        total.update(result.get(kind, {}))
    return total


def _alike(results: Sequence[Mapping[str, Any]], key: str) -> Any:
    """What all parts tell of a load; they have one plan but for their part of it."""
    first, *others = (result[key] for result in results)
    if any(other != first for other in others):
        raise RunError(f"the parts do not tell the same `{key}`", where=RESULT)
    return first


def windows(results: Sequence[Mapping[str, Any]]) -> tuple[Window, ...]:
    """Add the parts' time lines. Those of windows that overlap become one: of a long load one part
    may have put two and two windows together before another did."""
    every = [window for result in results for window in result["windows"]]
    joined: list[Window] = []
    for window in map(Window.model_validate, sorted(every, key=itemgetter("start"))):
        last = joined[-1] if joined else None
        if last is None or window.start > last.start + last.length - EDGE:
            joined.append(window)
            continue
        end = max(last.start + last.length, window.start + window.length)
        joined[-1] = Window(
            start=last.start,
            length=end - last.start,
            operations=last.operations + window.operations,
            errors=last.errors + window.errors,
        )
    return tuple(joined)
