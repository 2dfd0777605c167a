"""What hosts counted beside a difference in speed: associations, never causes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from dunnage.analysis.gather import Gathered
from dunnage.analysis.intervals import block_means, difference_over_blocks, mean_over_blocks
from dunnage.analysis.runs import Setting
from dunnage.analysis.soft_interrupts import why_not
from dunnage.analysis.values import database_hosts, operations
from dunnage.findings.cpu.shares import NETWORK_SOFT, SOFT
from dunnage.model.explanation import AbsentCounter, Association
from dunnage.model.record import HostUsage, MachineUsage, Record, Usage

Reader = Callable[[HostUsage], float | None]


class Counter(NamedTuple):
    """What is read of each database host, and what it is called."""

    name: str
    title: str
    unit: str
    read: Reader
    machine: bool = False
    """Whether it is the machine's and a share already, not a count to be divided by operations."""


def _sum(*fields: str) -> Reader:
    def read(host: HostUsage) -> float | None:
        parts = [getattr(host.whole, field) for field in fields]
        return None if None in parts else float(sum(parts))

    return read


def _throttled(host: HostUsage) -> float | None:
    """A quota is the host's or a unit's own: the longest of them, as one may hold the other."""
    known = [used.throttled for used in (host.whole, *host.units.values())]
    found = [seconds for seconds in known if seconds is not None]
    return max(found, default=None)


_OF_MACHINE = {
    "softirq": "CPU time in soft interrupts",
    "iowait": "CPU time waiting for disks",
    "steal": "CPU time stolen",
    "pressure_cpu": "Time waiting for CPU",
    "pressure_memory": "Time waiting for memory",
    "pressure_io": "Time waiting for disks",
}
COUNTERS = (
    Counter(
        "packets", "Packets at the uplink", "packets/op", _sum("packets_received", "packets_sent")
    ),
    Counter("network", "Network traffic at the uplink", "B/op", _sum("received", "sent")),
    Counter(
        "inner_packets",
        "Packets at devices inside the host",
        "packets/op",
        _sum("inner_packets_received", "inner_packets_sent"),
    ),
    Counter("disk", "Disk traffic", "B/op", _sum("disk_read", "disk_written")),
    Counter("throttled", "Time held back by a quota", "s/op", _throttled),
    *(
        Counter(name, title, "share", attrgetter(f"machine.{name}"), machine=True)
        for name, title in _OF_MACHINE.items()
    ),
)
NOT_SAMPLED = {
    "switches": "the sampler does not count context switches",
    "retransmits": "the sampler does not count retransmitted packets",
}
"""Counters that would explain and that nobody reads."""


def associations(
    gathered: Gathered, baseline: str, deployment: str, setting: Setting
) -> list[Association]:
    """Every counter that all runs of both sides know, averaged over blocks, and its difference."""
    found = []
    sides = [gathered.valid_records(name, setting) for name in (deployment, baseline)]
    for counter in COUNTERS:
        own, other = (_over_blocks(records, counter) for records in sides)
        unit = counter.unit
        value, base = mean_over_blocks(own, unit), mean_over_blocks(other, unit)
        apart = difference_over_blocks(own, other, unit)
        if value is not None and base is not None and apart is not None:
            found.append(
                Association(
                    deployment=deployment,
                    baseline=baseline,
                    workload=setting.workload,
                    level=setting.level,
                    counter=counter.name,
                    title=counter.title,
                    unit=unit,
                    machine=counter.machine and sides[0][0].one_machine,
                    baseline_value=base,
                    value=value,
                    difference=apart,
                )
            )
    return found


def absent(records: Iterable[Record]) -> tuple[AbsentCounter, ...]:
    """Counters and parts of the CPU time that some database host could not attribute, and why."""
    hosts: dict[tuple[str, str], set[str]] = {}
    everywhere: set[str] = set()
    for record in records:
        for host in database_hosts(record.usage):
            everywhere.add(host.host)
            for key, reason in host.absent.items():
                if key.rsplit(".", 1)[-1] in _KNOWN:
                    name = key.removeprefix("host.")
                    hosts.setdefault((name, reason), set()).add(host.host)
                    if name == "softirq":
                        hosts.setdefault((SOFT, reason), set()).add(host.host)
            if reason := why_not(record):
                hosts.setdefault((NETWORK_SOFT, reason), set()).add(host.host)
    for name, reason in NOT_SAMPLED.items():
        if everywhere:
            hosts[name, reason] = everywhere
    return tuple(
        AbsentCounter(name=name, reason=reason, hosts=tuple(sorted(where)))
        for (name, reason), where in sorted(hosts.items())
    )


_KNOWN = frozenset({*Usage.model_fields, *MachineUsage.model_fields})


def _over_blocks(records: Sequence[Record], counter: Counter) -> dict[int, float]:
    """Block → mean over its runs; empty when a run does not know the counter."""
    every = [(record.block, _of_run(record, counter)) for record in records]
    known = [(block, value) for block, value in every if value is not None]
    return block_means(known) if len(known) == len(every) else {}


def _of_run(record: Record, counter: Counter) -> float | None:
    hosts = database_hosts(record.usage)
    read = [value for host in hosts if (value := counter.read(host)) is not None]
    if record.measurement is None or not hosts or len(read) < len(hosts):
        return None
    if counter.machine:
        return sum(read) / len(read)
    count = operations(record)
    return sum(read) / count if count else None
