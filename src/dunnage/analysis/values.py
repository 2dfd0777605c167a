"""One value per run and metric, in SI units, under the names of the table of metrics."""

from __future__ import annotations

from collections.abc import Iterator

from dunnage.model.metrics import METRICS, OPERATIONS
from dunnage.model.record import HostUsage, Latency, Measurement, Record
from dunnage.model.study import CLIENT_GROUP


def values(record: Record) -> dict[str, float]:
    """Every metric of the table that this run has.

    A metric whose counters could not be read on every host it adds up is left out, never taken
    as 0. The sampler's own use counts as the host's, alike for every deployment; `HostUsage`
    reports it apart.
    """
    if record.measurement is None:
        return {}
    found = dict(_all(record.measurement, record.usage))
    return {name: found[name] for name in METRICS if name in found}


def answered(measurement: Measurement) -> int:
    """Operations answered without error in the measured window."""
    if "all" in measurement.operations:
        return measurement.operations["all"].count
    return sum(stats.count for stats in measurement.operations.values())


def failed(measurement: Measurement) -> dict[str, int]:
    """Errors of the measured window by kind, over all operation types."""
    if "all" in measurement.operations:
        return dict(measurement.operations["all"].errors)
    kinds: dict[str, int] = {}
    for stats in measurement.operations.values():
        for kind, count in stats.errors.items():
            kinds[kind] = kinds.get(kind, 0) + count
    return kinds


def database_hosts(usage: tuple[HostUsage, ...]) -> tuple[HostUsage, ...]:
    """The hosts that are not the client's."""
    return tuple(host for host in usage if host.group != CLIENT_GROUP)


def _all(measurement: Measurement, usage: tuple[HostUsage, ...]) -> Iterator[tuple[str, float]]:
    operations = answered(measurement)
    if measurement.seconds > 0:
        yield "throughput", operations / measurement.seconds
    hosts = database_hosts(usage)
    if operations:
        yield "cpu.client", measurement.client_cpu / operations
        cpu = [host.whole.cpu for host in hosts if host.whole.cpu is not None]
        if hosts and len(cpu) == len(hosts):
            yield "cpu.database", sum(cpu) / operations
    memory = [
        host.whole.memory_resident for host in hosts if host.whole.memory_resident is not None
    ]
    if hosts and len(memory) == len(hosts):
        yield "memory.database", sum(memory)
    for name in ("all", *OPERATIONS):
        stats = measurement.operations.get(name)
        if stats is None:
            continue
        prefix = "" if name == "all" else f"{name}."
        for kind, latency in (("service", stats.service), ("response", stats.response)):
            if latency is not None and latency.count:
                yield from _latency(f"{prefix}{kind}", latency)


def _latency(prefix: str, latency: Latency) -> Iterator[tuple[str, float]]:
    yield f"{prefix}.mean", latency.mean
    for quantile, seconds in latency.quantiles.items():
        yield f"{prefix}.{quantile}", seconds
