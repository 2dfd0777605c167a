"""Where the CPU of an operation was spent: servers, daemons, the rest of the hosts, the client."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.analysis.values import answered, database_hosts
from dunnage.model.analysis import Share
from dunnage.model.record import HostUsage, Record

_OURS = frozenset({"sampler", "generator", "pause", "command", "inspect"})
"""Units that we run ourselves; the sampler's use is taken out, the others' is `other`."""
OUTSIDE = "outside"
"""Where all hosts are one machine: what it did in no host's control group. No metric has it."""
PARTS = ("server user", "server system", "daemons", "other", "client", OUTSIDE)


def shares(deployment: str, workload: str, level: str, records: Sequence[Record]) -> list[Share]:
    """CPU seconds per operation by part, averaged over the runs that know all of it.

    The kernel's user and system times are ticks; they divide the precise total between them.
    """
    known = [found for record in records if (found := _run(record)) is not None]
    if not known:
        return []
    return [
        Share(
            deployment=deployment,
            workload=workload,
            level=level,
            part=part,
            seconds_per_operation=sum(run[part] for run in known) / len(known),
        )
        for part in PARTS
        if all(part in run for run in known)
    ]


def _run(record: Record) -> dict[str, float] | None:
    measurement = record.measurement
    hosts = database_hosts(record.usage)
    if measurement is None or not hosts or not answered(measurement):
        return None
    total = {part: 0.0 for part in PARTS if part != OUTSIDE}
    for host in hosts:
        if not _add(host, total):
            return None
    total["client"] = measurement.client_cpu
    outside = _outside(record.usage, measurement.seconds) if record.one_machine else None
    if outside is not None:
        total[OUTSIDE] = outside
    return {part: seconds / answered(measurement) for part, seconds in total.items()}


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
        if used.cpu is None or name in _OURS:
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
