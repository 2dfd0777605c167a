"""A run's latencies as one HdrHistogram log that HdrHistogram's own tools read.

The generator's log tags its intervals (`read.service`, `update.response`, …; warm-up apart) and
there is one log for each part of a load. Here all parts are one file in the order of time, and in
front of the tagged lines of each interval stands one without a tag: all operations of the measured
window together, from the intended start in an open load and from the actual start in a closed one.
Tools that know no tags read these, and so the run's own distribution; values are nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dunnage.model.histogram import Interval, empty, intervals
from dunnage.model.metrics import OPERATIONS

_HEADER = "#[Histogram log format version 1.3]\n"
_LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
_MILLISECOND = 1e6
"""Nanoseconds: the unit in which a log tells an interval's maximum."""


def one_log(parts: Sequence[bytes], *, open_load: bool) -> bytes:
    """All parts of a run as one log; empty where they hold no interval."""
    every = sorted(
        (found for part in parts for found in intervals(part)),
        key=lambda found: (found.start, found.tag),
    )
    if not every:
        return b""
    base = every[0].start
    kind = "response" if open_load else "service"
    text = [
        _HEADER,
        f"#[BaseTime: {base:.3f} (seconds since epoch)]\n",
        f"#[StartTime: {base:.3f} (seconds since epoch)]\n",
        _LEGEND,
    ]
    for start, group in _together(every):
        text.append(_untagged(start - base, group, kind))
        text += [
            f"Tag={each.tag},{each.start - base:.3f},{each.length:.3f},{each.maximum},"
            f"{each.encoded.decode()}\n"
            for each in group
        ]
    return "".join(text).encode()


def _together(every: Sequence[Interval]) -> Iterator[tuple[float, list[Interval]]]:
    """Intervals that begin at the same time, to the millisecond that a log tells."""
    group: list[Interval] = []
    for interval in every:
        if group and interval.start - group[0].start >= 5e-4:
            yield group[0].start, group
            group = []
        group.append(interval)
    yield group[0].start, group


def _untagged(start: float, group: Sequence[Interval], kind: str) -> str:
    """One line for all operations of one interval; nothing where none is in the window."""
    wanted = {f"{operation}.{kind}" for operation in OPERATIONS}
    own = [interval for interval in group if interval.tag in wanted]
    if not own:
        return ""
    total = empty()
    for interval in own:
        total.decode_and_add(interval.encoded)
    length = max(interval.length for interval in own)
    maximum = total.get_max_value() / _MILLISECOND
    return f"{start:.3f},{length:.3f},{maximum:.3f},{total.encode().decode()}\n"
