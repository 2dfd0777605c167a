"""What accompanies a difference: the tail of the latency, the time line, the counters."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.estimate import Estimate
from dunnage.model.value import Condition, Value


class QuantileDifference(Value):
    """A deployment's quantile over its baseline's."""

    quantile: str
    """`p50`, `p99.9`, …"""
    share: float
    """The quantile as a share of one."""
    difference: Estimate
    """Ratio minus one, paired over blocks, simultaneous over the quantiles of one distribution."""


class LatencyDifference(Value):
    """How two latency distributions differ along their quantiles."""

    deployment: str
    baseline: str
    workload: str
    level: str
    kind: str
    """`service` or `response`."""
    quantiles: tuple[QuantileDifference, ...]
    left_out: Mapping[str, str] = {}
    """Quantile → why it is not compared: fewer than ten operations beyond it in some run."""


class TimeSeries(Value):
    """One quantity along a time line: median, smallest and largest over runs in each interval.

    None where no run knows the interval.
    """

    name: str
    """`throughput` (op/s), `service.p95` or `response.p95` (s), `cpu.database`, `cpu.client`
    (processors busy), `network.database` (B/s received and sent), `memory.database` (B, anonymous),
    `disk.database` (B/s read and written). Resources are summed over hosts."""
    unit: str
    median: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


class TimeLine(Condition):
    """The valid runs of one deployment, workload and level on one axis of time."""

    step: float
    """Length of an interval in seconds."""
    starts: tuple[float, ...]
    """Starts of the intervals in seconds since the measured window began; negative in the
    warm-up."""
    runs: int
    series: tuple[TimeSeries, ...]
    absent: Mapping[str, str] = {}
    """Series → why it is missing."""


class Association(Value):
    """The difference in one counter beside a difference in speed. It shows no cause.

    Differences are additive, because most counters may be 0, and paired over blocks.
    """

    deployment: str
    baseline: str
    workload: str
    level: str
    counter: str
    """`packets`, `network`, `disk`, `throttled`, `softirq`, `iowait`, `steal`, `pressure_cpu`,
    `pressure_memory` or `pressure_io`."""
    title: str
    unit: str
    """`packets/op`, `B/op`, `s/op`, or `share` of CPU time or of time."""
    machine: bool
    """Whether it belongs to the whole machine and not to the database hosts alone."""
    baseline_value: Estimate
    """Arithmetic mean over blocks."""
    value: Estimate
    difference: Estimate
    """`value` less `baseline_value`, over blocks that have both."""


class AbsentCounter(Value):
    """A counter or a part of the CPU time that could not be attributed, with the reason."""

    name: str
    """Counter, or part of the CPU time such as `soft interrupts`."""
    reason: str
    """A sentence or its beginning, from the sampler."""
    hosts: tuple[str, ...]
