"""Throttling, swap, page cache against the limit, daemons beside the members: at their worst."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from dunnage.analysis.groups import grouped
from dunnage.analysis.runs import Setting
from dunnage.analysis.values import database_hosts, sampler_cpu
from dunnage.model.conditions import Conditions
from dunnage.model.load import NO_SERVERS
from dunnage.model.record import HostUsage, Record, StayRecord, Usage

_COUNTERS = {
    "throttled": "throttled",
    "swap": "swap",
    "resident": "memory_resident",
    "cache": "memory_cache",
    "charged": "memory_cache",
    "daemons": "cpu",
    "daemons_share": "cpu",
    "sampler": "sampler",
}
"""Field → the counter that it is made of, whose absence a sampler explains."""


def conditions(
    deployment: str, setting: Setting, records: Sequence[Record], stays: Mapping[str, StayRecord]
) -> Conditions:
    """The worst of these runs. `stays` maps ids to what was read back when a stay was ready."""
    by_stay = {record.stay: _limits(stays.get(record.stay)) for record in records}
    limits = [limit for own in by_stay.values() for limit in own.values()]
    seen = [pair for record in records for pair in _seen(record, by_stay[record.stay])]
    worst = {name: max(v for _, v in own) for name, own in grouped(seen, itemgetter(0)).items()}
    return Conditions(
        deployment=deployment,
        workload=setting.workload,
        level=setting.level,
        runs=len(records),
        memory_limit=min(limits, default=None),
        absent={
            name: reason
            for name, counter in _COUNTERS.items()
            if name not in worst and (reason := _why(records, counter, name, limits))
        },
        **worst,
    )


def _seen(record: Record, limits: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    hosts = database_hosts(record.usage)
    members = [pair for host in hosts for pair in _members(host)]
    seconds = record.measurement.seconds if record.measurement else 0.0
    everyone = [host.whole for host in hosts] + [used for _, used in members]
    if seconds > 0:
        yield from _largest("throttled", (used.throttled for used in everyone), 1 / seconds)
        yield from _daemons(hosts, seconds)
    yield from _largest("sampler", [sampler_cpu(record.usage)])
    yield from _largest("swap", (host.whole.swap for host in hosts))
    yield from _largest("resident", (used.memory_resident for _, used in members))
    yield from _largest("cache", (used.memory_cache for _, used in members))
    for name, used in members:
        limit, resident, cache = limits.get(name), used.memory_resident, used.memory_cache
        if limit and resident is not None and cache is not None:
            yield "charged", (resident + cache) / limit


def _members(host: HostUsage) -> list[tuple[str, Usage]]:
    return [
        (name, used)
        for name, used in host.units.items()
        if name not in NO_SERVERS and not _is_daemon(name)
    ]


def _is_daemon(unit: str) -> bool:
    return unit.startswith("daemon")


def _daemons(hosts: Sequence[HostUsage], seconds: float) -> Iterator[tuple[str, float]]:
    """Nothing where a host does not know all of it; 0 where no host has a daemon."""
    if any(host.unseen for host in hosts):
        return
    used = [unit.cpu for host in hosts for name, unit in host.units.items() if _is_daemon(name)]
    whole = [host.whole.cpu for host in hosts]
    known = [cpu for cpu in used if cpu is not None]
    if not hosts or len(known) < len(used):
        return
    yield "daemons", sum(known) / seconds
    total = [cpu for cpu in whole if cpu is not None]
    if len(total) == len(whole) and sum(total) > 0:
        yield "daemons_share", sum(known) / sum(total)


def _largest(
    name: str, readings: Iterable[float | None], scale: float = 1.0
) -> Iterator[tuple[str, float]]:
    known = [reading for reading in readings if reading is not None]
    if known:
        yield name, max(known) * scale


def _limits(stay: StayRecord | None) -> dict[str, float]:
    """Member → limit of its memory in bytes, of those that have one."""
    found: dict[str, float] = {}
    for process in stay.processes if stay else ():
        try:
            found[process.member] = float(process.limits.get("memory_limit", ""))
        except ValueError:
            continue  # `unlimited`, or a host that knows of no limits
    return found


def _why(records: Sequence[Record], counter: str, name: str, limits: Sequence[float]) -> str:
    if not records:
        return "no run was made"
    hosts = [host for record in records for host in database_hosts(record.usage)]
    if name == "charged" and not limits and not any(host.unseen for host in hosts):
        return "no member has a memory limit"
    for host in hosts:
        for label, reason in host.absent.items():
            if label.rpartition(".")[2] == counter:
                return reason
    return "no sample has it"
