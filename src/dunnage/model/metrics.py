"""The one table of metrics that study files, analysis, terminal, page and CSV all read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

QUANTILES = ("p50", "p90", "p95", "p99", "p99.9")
"""Quantiles of latency that are metrics of their own."""

KINDS = ("service", "response")
"""Kinds of latency: from the actual and from the intended start of an operation."""

OPERATIONS = ("read", "update", "insert", "scan", "read-modify-write")
"""Operation types of the YCSB core workloads."""


class Better(StrEnum):
    """Which direction of a metric is better."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True)
class Metric:
    """One quantity of a run: its name in study files, what it is, its unit and better direction.

    `scale` turns the value held in code (SI units) into `unit`; `open_only` metrics mean something
    only where the load has intended starts, and `latency` only where the deployment kept up with
    it. A metric that is not `compared` is shown for every run; no question may name it.
    """

    name: str
    title: str
    unit: str
    method: str
    better: Better = Better.LOWER
    scale: float = 1.0
    digits: int = 0
    open_only: bool = False
    latency: bool = False
    compared: bool = True


def _latency(kind: str, statistic: str, operation: str = "") -> Metric:
    start = "intended" if kind == "response" else "actual"
    prefix = f"{operation}." if operation else ""
    which = f"{operation} operations" if operation else "all operations"
    return Metric(
        name=f"{prefix}{kind}.{statistic}",
        title=f"{f'{operation} ' if operation else ''}{kind} time, {statistic}",
        unit="ms",
        method=f"HDR histogram of {which}, from the {start} start",
        scale=1e3,
        digits=3,
        open_only=kind == "response",
        latency=True,
    )


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "throughput",
            "Throughput",
            "op/s",
            "answered operations without error / measured seconds",
            better=Better.HIGHER,
        ),
        Metric(
            "saturation",
            "Saturation throughput",
            "op/s",
            "highest sustained rate of an open load; each stay searches for it",
            better=Better.HIGHER,
        ),
        Metric(
            "cpu.database",
            "CPU per operation, database hosts",
            "µs/op",
            "CPU seconds of all database hosts (servers, daemons, proxies) / operations",
            scale=1e6,
            digits=1,
        ),
        Metric(
            "cpu.client",
            "CPU per operation, client",
            "µs/op",
            "CPU seconds of the generator / operations",
            scale=1e6,
            digits=1,
        ),
        *(
            Metric(
                name,
                f"Network soft interrupts per operation, {where}",
                "µs/op",
                f"seconds in soft interrupts for packets that arrived {what} / operations",
                scale=1e6,
                digits=1,
            )
            for name, where, what in (
                ("soft.client", "client", "at the clients"),
                ("soft.database", "database hosts", "at all database hosts"),
                ("soft.bridge", "bridge", "at the bridge between the hosts of a lab"),
            )
        ),
        Metric(
            "memory.database",
            "Memory of the database hosts",
            "MiB",
            "sum over database hosts of their largest anonymous memory",
            scale=2**-20,
            digits=1,
        ),
        Metric(
            "offered",
            "Offered rate",
            "op/s",
            "operations intended in the measured window / measured seconds",
            better=Better.HIGHER,
            open_only=True,
            compared=False,
        ),
        Metric(
            "achieved",
            "Achieved share of the offered rate",
            "%",
            "operations finished in the measured window / operations intended in it",
            better=Better.HIGHER,
            scale=1e2,
            digits=1,
            open_only=True,
            compared=False,
        ),
        Metric(
            "backlog.slope",
            "Growth of the backlog",
            "ms/s",
            "slope of the delay of answers behind the schedule, second half of the window",
            scale=1e3,
            digits=1,
            open_only=True,
            compared=False,
        ),
        *(
            _latency(kind, statistic, operation)
            for operation in ("", *OPERATIONS)
            for kind in KINDS
            for statistic in ("mean", *QUANTILES)
        ),
    )
}
"""Every metric by name."""

COMPARED = tuple(metric.name for metric in METRICS.values() if metric.compared)
"""What a question may ask for."""

CHARGED = ("soft.client", "soft.database", "soft.bridge")
"""Metrics that need soft interrupts to be charged to networks."""

SEARCHED = ("saturation",)
"""Metrics of a search. Other values depend on the last rate, which differs between deployments."""

IN_TURNS = ("throughput", "cpu.database", "cpu.client", "memory.database")
"""Metrics of load in turns. Latencies are not among them: waiting for a turn delays answers."""

HEADLINE = ("throughput", "service.p95", "cpu.database")
"""Metrics that the first table of an answer always shows, for every deployment."""
