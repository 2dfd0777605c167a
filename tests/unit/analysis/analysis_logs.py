"""Histogram logs made for tests, in the format that the engine writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hdrh.histogram import HdrHistogram


def hlog(values: Mapping[str, Sequence[int]]) -> bytes:
    """One interval for each tag, with these latencies in nanoseconds."""
    lines = ["#[Histogram log format version 1.3]"]
    for tag, latencies in values.items():
        histogram = HdrHistogram(1, 3_600_000_000_000, 3)
        for latency in latencies:
            histogram.record_value(latency)
        lines.append(f"Tag={tag},0.000,0.200,1.0,{histogram.encode().decode()}")
    return "\n".join(lines).encode() + b"\n"
