"""One value per run and metric, in SI units, under the names of the table of metrics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dunnage.analysis.schedule import counted, flow, measured
from dunnage.analysis.soft_interrupts import by_metric, why_not
from dunnage.model.metrics import CHARGED, METRICS, OPERATIONS, SEARCHED
from dunnage.model.record import HostUsage, Measurement, Record
from dunnage.model.study import CLIENT_GROUP, NO_MEMBERS


def values(record: Record) -> dict[str, float]:
    """Every metric of the table that this run has.

    A metric whose counters could not be read on every host it adds up is left out, never taken
    as 0. The sampler's own use counts as the host's, alike for every deployment; `HostUsage`
    reports it apart.
    """
    if record.measurement is None:
        return {}
    found = dict(_all(record, record.measurement))
    if record.search is not None:
        found = {name: value for name, value in found.items() if name in SEARCHED}
    return {name: found[name] for name in METRICS if name in found}


def absent(record: Record) -> dict[str, str]:
    """Metric that this run lacks because a counter could not be read → the reason."""
    if record.measurement is None or record.search is not None:
        return {}
    hosts = database_hosts(record.usage)
    found = {
        metric: why
        for metric, counter in _COUNTERS.items()
        if (why := next((h.why(counter) for h in hosts if _lacks(h, counter)), ""))
    }
    if record.soft_interrupts is not None and (reason := why_not(record)):
        found |= dict.fromkeys(CHARGED, reason)
    return found


_COUNTERS = {"cpu.database": "cpu", "memory.database": "memory_resident"}
"""Metric → the counter of database hosts that it adds up."""


def _lacks(host: HostUsage, counter: str) -> bool:
    return getattr(host.whole, counter) is None and bool(host.why(counter))


def operations(record: Record) -> int:
    """Operations answered without error in the measured window of a run.

    Over capacity that is everything answered in that time, whenever it was intended: by the
    schedule, the answers that the warm-up's backlog took would be missing.
    """
    if record.measurement is None:
        return 0
    line = measured(record.measurement.windows)
    if record.over_capacity and line:
        return sum(window.operations for window in line)
    return answered(record.measurement)


def latencies(measurement: Measurement) -> dict[str, float]:
    """Every latency metric of a measurement."""
    found: dict[str, float] = {}
    for name in ("all", *OPERATIONS):
        stats = measurement.operations.get(name)
        if stats is None:
            continue
        prefix = "" if name == "all" else f"{name}."
        for kind, latency in (("service", stats.service), ("response", stats.response)):
            if latency is not None and latency.count:
                found[f"{prefix}{kind}.mean"] = latency.mean
                found |= {
                    f"{prefix}{kind}.{q}": seconds for q, seconds in latency.quantiles.items()
                }
    return found


def answered(measurement: Measurement) -> int:
    """Operations answered without error in the measured window."""
    return sum(stats.count for stats in counted(measurement))


def failed(measurement: Measurement) -> Mapping[str, int]:
    """Errors of the measured window by kind, over all operation types."""
    kinds: Counter[str] = Counter()
    for stats in counted(measurement):
        kinds.update(stats.errors)
    return kinds


def database_hosts(usage: tuple[HostUsage, ...]) -> tuple[HostUsage, ...]:
    """The hosts that members may run on."""
    return tuple(host for host in usage if host.group not in NO_MEMBERS)


def clients_clock(usage: Sequence[HostUsage]) -> float:
    """Seconds that the first client's clock, which timed the measured window, is ahead of ours."""
    clients = [host.clock_offset for host in usage if host.group == CLIENT_GROUP]
    return clients[0] if clients else 0.0


def sampler_cpu(usage: Sequence[HostUsage]) -> float | None:
    """CPU seconds that the samplers of all hosts used in the measured window.

    None where one is not known.
    """
    known = [host.sampler_cpu for host in usage if host.sampler_cpu is not None]
    return math.fsum(known) if known and len(known) == len(usage) else None


def _all(record: Record, measurement: Measurement) -> Iterator[tuple[str, float]]:
    count = operations(record)
    if measurement.seconds > 0:
        yield "throughput", count / measurement.seconds
    if record.search is not None and record.search.rate is not None:
        yield "saturation", record.search.rate
    hosts = database_hosts(record.usage)
    if count:
        yield "cpu.client", measurement.client_cpu / count
        cpu = [host.whole.cpu for host in hosts if host.whole.cpu is not None]
        if hosts and len(cpu) == len(hosts):
            yield "cpu.database", sum(cpu) / count
        yield from ((name, used / count) for name, used in by_metric(record).items())
    memory = [
        host.whole.memory_resident for host in hosts if host.whole.memory_resident is not None
    ]
    if hosts and len(memory) == len(hosts):
        yield "memory.database", sum(memory)
    found = flow(measurement)
    if found is not None:
        yield "offered", found.offered
        yield "achieved", found.achieved
        yield "backlog.slope", found.slope
    yield from latencies(measurement).items()
