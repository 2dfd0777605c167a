"""What the kernel held back from the members, and what ran beside them."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.value import Value


class Conditions(Value):
    """One deployment, workload and level: the worst of its runs, valid or not.

    None where no run knows it; then `absent` has the reason, by the name of the field.
    """

    deployment: str
    workload: str
    level: str
    runs: int
    throttled: float | None = None
    """Seconds per measured second in which a CPU quota held tasks of one member or of one host
    back."""
    swap: float | None = None
    """Bytes swapped out on one database host."""
    resident: float | None = None
    """Anonymous memory of one member, in bytes."""
    cache: float | None = None
    """Page cache charged to one member, in bytes."""
    memory_limit: float | None = None
    """The tightest limit of a member's memory, in bytes, read back; None where there is none."""
    charged: float | None = None
    """Anonymous memory and page cache of one member as a share of its limit. Near 1 the kernel
    takes page cache back, and reads that others serve from memory go to the disk."""
    daemons: float | None = None
    """Processors that daemons beside the members kept busy, summed over the database hosts."""
    daemons_share: float | None = None
    """The same as a share of all processor time of the database hosts."""
    sampler: float | None = None
    """CPU seconds that the samplers of all hosts used in the measured window."""
    absent: Mapping[str, str] = {}
