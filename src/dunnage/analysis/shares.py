"""Where the CPU of an operation was spent: servers, daemons, the rest of the hosts, the client."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.analysis.additive import block_means, difference, mean
from dunnage.analysis.values import database_hosts, operations
from dunnage.model.analysis import Share
from dunnage.model.record import HostUsage, Record

OURS = frozenset({"sampler", "generator", "pause", "command", "inspect"})
"""Units that we run ourselves; the sampler's use is taken out, the others' is `other`."""
OUTSIDE = "outside"
"""Where all hosts are one machine: what it did in no host's control group. No metric has it."""
SOFT = "soft interrupts"
"""On machines of their own: time in soft interrupts, which the kernel charges to whatever task was
interrupted, so that the other parts contain it."""
PARTS = ("server user", "server system", "daemons", "other", "client", OUTSIDE)
"""What adds up to all the CPU of an operation."""
UNIT = "s/op"


def shares(
    deployment: str,
    workload: str,
    level: str,
    records: Sequence[Record],
    baseline: Sequence[Record] = (),
) -> list[Share]:
    """CPU seconds per operation by part, over blocks, and how they differ from the baseline's.

    A part takes part when every run knows it. The kernel's user and system times are ticks; they
    divide the precise total between them.
    """
    own, other = _by_part(records), _by_part(baseline)
    found = []
    for part in (*PARTS, SOFT):
        estimate = mean(own.get(part, {}), UNIT)
        if estimate is not None:
            found.append(
                Share(
                    deployment=deployment,
                    workload=workload,
                    level=level,
                    part=part,
                    seconds_per_operation=estimate.value,
                    estimate=estimate,
                    difference=difference(own[part], other.get(part, {}), UNIT),
                    contained=part == SOFT,
                )
            )
    return found


def _by_part(records: Sequence[Record]) -> dict[str, dict[int, float]]:
    """Part → block → mean over its runs, of the parts that every run knows."""
    known = [(record.block, found) for record in records if (found := _run(record)) is not None]
    return {
        part: block_means((block, run[part]) for block, run in known)
        for part in (*PARTS, SOFT)
        if known and all(part in run for _, run in known)
    }


def _run(record: Record) -> dict[str, float] | None:
    measurement = record.measurement
    hosts = database_hosts(record.usage)
    if measurement is None or not hosts or not operations(record):
        return None
    total = {part: 0.0 for part in PARTS if part != OUTSIDE}
    for host in hosts:
        if not _add(host, total):
            return None
    total["client"] = measurement.client_cpu
    outside = _outside(record.usage, measurement.seconds) if record.one_machine else None
    if outside is not None:
        total[OUTSIDE] = outside
    soft = None if record.one_machine else _soft(hosts, measurement.seconds)
    if soft is not None:
        total[SOFT] = soft
    return {part: seconds / operations(record) for part, seconds in total.items()}


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


def _add(host: HostUsage, total: dict[str, float]) -> bool:
    """Add one host's CPU seconds to the parts; False when it does not know its whole."""
    if host.whole.cpu is None:
        return False
    rest = host.whole.cpu - (host.sampler_cpu or 0.0)
    for name, used in host.units.items():
        if used.cpu is None or name in OURS:
            continue
        rest -= used.cpu
        if name.startswith("daemon"):
            total["daemons"] += used.cpu
            continue
        user, system = used.cpu_user or 0.0, used.cpu_system or 0.0
        share = user / (user + system) if user + system > 0 else 1.0
        total["server user"] += used.cpu * share
        total["server system"] += used.cpu * (1 - share)
    total["other"] += max(0.0, rest)
    return True
