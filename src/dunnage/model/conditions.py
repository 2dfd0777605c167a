"""Limits of the kernel on the members, and other processes on their hosts."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.value import Condition


class Conditions(Condition):
    """One deployment, workload and level: the worst of its runs, valid or not.

    None if no run has the value; then `absent` has the reason, by the name of the field.
    """

    runs: int
    throttled: float | None = None
    """Seconds per measured second in which a CPU quota stopped tasks of one member or host."""
    swap: float | None = None
    """Bytes swapped out on one database host."""
    resident: float | None = None
    """Anonymous memory of one member, in bytes."""
    cache: float | None = None
    """Page cache charged to one member, in bytes."""
    memory_limit: float | None = None
    """Lowest memory limit of a member, in bytes, read back; None without a limit."""
    charged: float | None = None
    """Anonymous memory and page cache of one member as a share of its limit. Near 1 the kernel
    reclaims page cache, and reads go to the disk."""
    daemons: float | None = None
    """Processors used by daemons on the database hosts, in total."""
    daemons_share: float | None = None
    """Share of all processor time of the database hosts used by these daemons."""
    sampler: float | None = None
    """CPU seconds of the samplers of all hosts in the measured window."""
    absent: Mapping[str, str] = {}
