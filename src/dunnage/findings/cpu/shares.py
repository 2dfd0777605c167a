"""Where the CPU of an operation was spent: servers, daemons, the rest of the hosts, the client."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dunnage.analysis.intervals import block_means, difference_over_blocks, mean_over_blocks
from dunnage.analysis.runs import Setting
from dunnage.analysis.soft_interrupts import charged
from dunnage.analysis.values import database_hosts, operations
from dunnage.model.accounting import Accounting
from dunnage.model.analysis import Share
from dunnage.model.load import NO_SERVERS
from dunnage.model.record import HostUsage, Record, Usage

OUTSIDE = "outside"
"""Where all hosts are one machine: what it did in no host's control group. No metric has it."""
SOFT = "soft interrupts"
"""On machines of their own: time in soft interrupts."""
NETWORK_SOFT = "network soft interrupts"
"""On hosts that are one machine: a part for each place where their packets arrived. Such a place is
the client, a database host, the bridge, or anywhere else."""
OTHER_SOFT = "soft interrupts of other kinds"
"""On hosts that are one machine: timers, disks and the like, of all that runs there."""
PARTS = ("server user", "server system", "daemons", "other", "client", OUTSIDE)
"""What adds up to all the CPU of an operation."""
UNIT = "s/op"


def shares(
    deployment: str,
    setting: Setting,
    records: Sequence[Record],
    baseline: Sequence[Record] = (),
    accounting: Accounting = Accounting.UNKNOWN,
) -> list[Share]:
    """CPU seconds per operation by part, over blocks, and how they differ from the baseline's.

    A part takes part when every run knows it, which is when every host and unit that it is made of
    tells its own. `accounting` is how the machines count soft interrupts.
    """
    own, other = _by_part(records), _by_part(baseline)
    found = []
    for part, over_blocks in own.items():
        estimate = mean_over_blocks(over_blocks, UNIT)
        if estimate is not None:
            found.append(
                Share(
                    deployment=deployment,
                    workload=setting.workload,
                    level=setting.level,
                    part=part,
                    seconds_per_operation=estimate.value,
                    estimate=estimate,
                    difference=difference_over_blocks(over_blocks, other.get(part, {}), UNIT),
                    accounting=_accounting(part, accounting),
                )
            )
    return found


def _accounting(part: str, of_machines: Accounting) -> Accounting | None:
    """How a part stands to the others.

    Where a host is a machine and its kernel counts soft interrupts apart, the control group of all
    processes has them under version 2 and not under version 1.
    """
    if part in PARTS:
        return None
    if part == SOFT and of_machines is Accounting.BESIDE:
        return Accounting.UNKNOWN
    return of_machines


def _by_part(records: Sequence[Record]) -> dict[str, dict[int, float]]:
    """Part → block → mean over its runs, of the parts that every run knows."""
    runs = [(record.block, _run(record)) for record in records]
    parts = dict.fromkeys((*PARTS, SOFT, *(part for _, run in runs for part in run)))
    return {
        part: block_means((block, run[part]) for block, run in runs)
        for part in parts
        if runs and all(part in run for _, run in runs)
    }


def _run(record: Record) -> dict[str, float]:
    measurement = record.measurement
    hosts = database_hosts(record.usage)
    whole = record.one_machine and not record.turns  # in turns the machine is not one deployment's
    if measurement is None or not hosts or not operations(record):
        return {}
    parts = {
        **_inside(hosts),
        "client": measurement.client_cpu,
        OUTSIDE: _outside(record.usage, measurement.seconds) if whole else None,
        SOFT: None if record.one_machine or record.turns else _soft(hosts, measurement.seconds),
        **_charged(record),
    }
    count = operations(record)
    return {part: seconds / count for part, seconds in parts.items() if seconds is not None}


def _charged(record: Record) -> dict[str, float | None]:
    """Seconds in soft interrupts of a machine, by where their packets arrived."""
    known, whole = charged(record), record.soft_interrupts
    if not known or whole is None:
        return {}
    places = {**known, "elsewhere": whole.elsewhere, "no packet": whole.no_packet}
    apart = {f"{NETWORK_SOFT}, {where}": seconds for where, seconds in places.items()}
    return {**apart, OTHER_SOFT: whole.other_kinds}


def _inside(hosts: Sequence[HostUsage]) -> dict[str, float | None]:
    """CPU seconds of the database hosts by part; None where a host or a unit does not tell them.

    Nothing where some member's are not seen: all that is known would be too little.

    Our own units need not tell theirs: they are `other`, but for the sampler's, which is taken out.
    """
    if any(host.unseen for host in hosts):
        return {}
    units = [unit for host in hosts for unit in host.units.items() if unit[0] not in NO_SERVERS]
    servers = [used for name, used in units if not name.startswith("daemon")]
    daemons = _sum(used.cpu for name, used in units if name.startswith("daemon"))
    user, system = _split(servers)
    return {
        "server user": user,
        "server system": system,
        "daemons": daemons,
        "other": _less(
            _sum(host.whole.cpu for host in hosts),
            _sum(host.sampler_cpu for host in hosts),
            _sum(used.cpu for used in servers),
            daemons,
        ),
    }


def _split(servers: Sequence[Usage]) -> tuple[float | None, float | None]:
    """CPU seconds of servers for themselves and in the kernel.

    The kernel tells both in ticks, which divide each server's precise total; what a server without
    a tick used is divided as the others'.
    """
    user = system = short = 0.0
    for used in servers:
        if used.cpu is None or used.cpu_user is None or used.cpu_system is None:
            return None, None
        ticks = used.cpu_user + used.cpu_system
        if ticks > 0:
            user += used.cpu * used.cpu_user / ticks
            system += used.cpu * used.cpu_system / ticks
        else:
            short += used.cpu
    both = user + system
    if both > 0:
        return user + short * user / both, system + short * system / both
    return (None, None) if short else (0.0, 0.0)


def _sum(readings: Iterable[float | None]) -> float | None:
    """All of them together; None where one is not known."""
    found = list(readings)
    known = [reading for reading in found if reading is not None]
    return math.fsum(known) if len(known) == len(found) else None


def _less(whole: float | None, *parts: float | None) -> float | None:
    """What is left of a whole: 0 at least, as its parts are interpolated on their own."""
    known = [part for part in parts if part is not None]
    if whole is None or len(known) < len(parts):
        return None
    return max(0.0, whole - math.fsum(known))


def _soft(hosts: Sequence[HostUsage], seconds: float) -> float | None:
    """CPU seconds in soft interrupts of hosts that are machines; None when one does not know."""
    known = [
        host.machine.softirq * host.machine.processors * seconds
        for host in hosts
        if host.machine.softirq is not None and host.machine.processors is not None
    ]
    return sum(known) if len(known) == len(hosts) else None


def _outside(usage: Sequence[HostUsage], seconds: float) -> float | None:
    """CPU seconds of the machine in no host's control group: kernel threads above all.

    The machine's time is counted in ticks, the hosts' precisely: what falls below 0 by that is 0.
    """
    machine = usage[0].machine
    own = [host.whole.cpu for host in usage if host.whole.cpu is not None]
    if machine.busy is None or machine.processors is None or len(own) < len(usage):
        return None
    return max(0.0, machine.busy * machine.processors * seconds - sum(own))
