"""What a host used in the measured window, from cumulative counters. Nothing is extrapolated."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from dunnage.model.load import Samples
from dunnage.model.record import HostUsage, MachineUsage, Usage
from dunnage.model.soft_interrupts import SoftInterrupts

WHOLE = ""
"""The name of the unit that stands for the whole host."""
LEVELS = {"memory_resident", "memory_cache", "swap"}
"""Counters that say how things stand; all others add up."""
SOFT_INTERRUPTS = "soft_interrupts"
"""The name under which a sampler tells why it does not count them."""
_OTHERS = {"elsewhere", "no_packet", "other_kinds"}
"""Soft interrupts that are of no host's network."""
_SET_BACK = "the host's clock was set back while it was watched"
_PRESSURES = ("pressure_cpu", "pressure_memory", "pressure_io")


def usage(samples: Samples, group: str, began: float, seconds: float, offset: float) -> HostUsage:
    """Add up one host's counters over the window that began at `began` (Unix seconds, our clock).

    `offset` is how many seconds the host's clock is ahead of ours. Cumulative counters are
    interpolated at both edges and subtracted; memory is the largest reading inside. A counter that
    does not cover the window, or that ran backwards, is None and its reason stands in `absent`;
    so is every counter of a host whose own clock was set back meanwhile.
    """
    times = [sample.time for sample in samples.samples]
    if _set_back(samples):
        samples, times = _without_time(samples), []
    window = _Window(began + offset, began + offset + seconds, dict(samples.absent))
    names = sorted({name for sample in samples.samples for name in sample.units} | {WHOLE})
    units = {
        name: _unit(
            window, name, [(sample.time, sample.units.get(name, {})) for sample in samples.samples]
        )
        for name in names
    }
    machine = _machine(window, [(sample.time, sample.machine) for sample in samples.samples])
    own = window.change("sampler", list(zip(times, samples.own_cpu, strict=False)))
    return HostUsage(
        host=samples.host,
        group=group,
        whole=units[WHOLE],
        units={name: found for name, found in units.items() if name != WHOLE},
        machine=machine,
        samples=bisect_right(times, window.end) - bisect_left(times, window.start),
        expected_samples=int(seconds / samples.interval + 1e-6) if samples.interval > 0 else 0,
        sampler_cpu=own,
        absent=dict(sorted(window.absent.items())),
        clock_offset=offset,
    )


def soft_interrupts(
    samples: Samples, began: float, seconds: float, offset: float
) -> SoftInterrupts:
    """What was charged in the window that began at `began`, as one sampler counted it.

    `offset` is as in `usage`, and so are the edges. What is not known has its reason.
    """
    rows = [(sample.time, sample.soft) for sample in samples.samples if sample.soft is not None]
    if not rows or _set_back(samples):
        why = _SET_BACK if rows else samples.absent.get(SOFT_INTERRUPTS, "nothing was counted")
        return SoftInterrupts(absent=why)
    window = _Window(began + offset, began + offset + seconds)
    networks = [(time, soft.networks) for time, soft in rows]
    others = [(time, soft.model_dump(include=_OTHERS, exclude_none=True)) for time, soft in rows]

    def grown(told: Sequence[tuple[float, Mapping[str, float]]]) -> dict[str, float | None]:
        return {name: window.change(SOFT_INTERRUPTS, _series(told, name)) for name in told[0][1]}

    found: dict[str, object] = {"networks": grown(networks), **grown(others)}
    if window.absent:
        return SoftInterrupts(absent=window.absent[SOFT_INTERRUPTS])
    return SoftInterrupts.model_validate({**found, "method": rows[0][1].method})


def uncharged(used: HostUsage, unseen: Mapping[str, str]) -> HostUsage:
    """What a host used, without its counters where they do not show what its members use.

    `unseen` maps these members to the reason, which then stands in `absent` for every counter.
    """
    if not unseen:
        return used
    reason = next(iter(unseen.values()))
    counters = (*Usage.model_fields, *MachineUsage.model_fields)
    return used.model_copy(
        update={
            "whole": Usage(),
            "machine": MachineUsage(),
            "absent": dict.fromkeys(sorted(counters), reason),
            "unseen": dict(sorted(unseen.items())),
        }
    )


def _without_time(samples: Samples) -> Samples:
    """Nobody knows which readings of a clock that was set back belong to a window."""
    absent = {**samples.absent, "cpu": _SET_BACK}
    return replace(samples, samples=(), own_cpu=(), absent=absent)


def _set_back(samples: Samples) -> bool:
    return any(later.time < earlier.time for earlier, later in pairwise(samples.samples))


@dataclass
class _Window:
    """The window by the host's clock, and the reasons found so far."""

    start: float
    end: float
    absent: dict[str, str] = field(default_factory=dict)

    def change(self, counter: str, readings: Sequence[tuple[float, float]]) -> float | None:
        """Increase of a cumulative counter over the window."""
        if not readings:
            return None
        times = [time for time, _ in readings]
        if len(times) < 2 or times[0] > self.start or times[-1] < self.end:
            before = max(0.0, times[0] - self.start)
            after = max(0.0, self.end - times[-1])
            self.absent.setdefault(
                counter,
                f"samples do not cover the measured window: the first {before:.2f} s and the last "
                f"{after:.2f} s are missing",
            )
            return None
        first = max(0, bisect_right(times, self.start) - 1)
        last = bisect_left(times, self.end)
        inside = [value for _, value in readings[first : last + 1]]
        if any(later < earlier for earlier, later in pairwise(inside)):
            self.absent.setdefault(counter, "the counter ran backwards in the measured window")
            return None
        return _at(readings, times, self.end) - _at(readings, times, self.start)

    def largest(self, counter: str, readings: Sequence[tuple[float, float]]) -> float | None:
        """Largest reading inside the window."""
        inside = [value for time, value in readings if self.start <= time <= self.end]
        if inside:
            return max(inside)
        if readings:
            self.absent.setdefault(counter, "no sample lies inside the measured window")
        return None


def _at(readings: Sequence[tuple[float, float]], times: Sequence[float], moment: float) -> float:
    """Value at `moment`, which lies between the first and the last reading."""
    after = bisect_left(times, moment)
    if times[after] == moment:
        return readings[after][1]
    (t0, v0), (t1, v1) = readings[after - 1], readings[after]
    return v0 + (v1 - v0) * (moment - t0) / (t1 - t0)


def _series(
    rows: Sequence[tuple[float, Mapping[str, float]]], counter: str
) -> list[tuple[float, float]]:
    return [(time, counters[counter]) for time, counters in rows if counter in counters]


def _unit(window: _Window, name: str, rows: Sequence[tuple[float, Mapping[str, float]]]) -> Usage:
    found: dict[str, float | None] = {}
    for counter in Usage.model_fields:
        if counter in window.absent:
            continue
        readings = _series(rows, counter)
        label = f"{name}.{counter}" if name else counter
        measure = window.largest if counter in LEVELS else window.change
        found[counter] = measure(label, readings)
    return Usage(**found)


def _machine(window: _Window, rows: Sequence[tuple[float, Mapping[str, float]]]) -> MachineUsage:
    def change(counter: str) -> float | None:
        if counter in window.absent:
            return None
        return window.change(f"machine.{counter}", _series(rows, counter))

    total, idle = change("cpu_total"), change("cpu_idle")
    shares: dict[str, float | None] = {}
    if total and window.end > window.start:
        parts = {counter: change(counter) for counter in ("softirq", "iowait", "steal")}
        shares = {
            counter: None if used is None else used / total for counter, used in parts.items()
        }
        shares["processors"] = total / (window.end - window.start)
        if idle is not None:
            not_ours = idle + (parts["iowait"] or 0.0) + (parts["steal"] or 0.0)
            shares["busy"] = (total - not_ours) / total
    length = window.end - window.start
    for counter in _PRESSURES:
        waited = change(counter)
        shares[counter] = None if waited is None else waited / length
    shares["swap_total"] = window.largest("machine.swap_total", _series(rows, "swap_total"))
    shares["speed"] = _speed(window, rows)
    third = length / 3
    first = _speed(_Window(window.start, window.start + third), rows)
    last = _speed(_Window(window.end - third, window.end), rows)
    shares["speed_change"] = last / first - 1 if first and last else None
    return MachineUsage(**shares)


def _speed(window: _Window, rows: Sequence[tuple[float, Mapping[str, float]]]) -> float | None:
    """Pieces of work in a second of the CPU time that they took."""
    work = window.change("machine.speed_work", _series(rows, "speed_work"))
    took = window.change("machine.speed_cpu", _series(rows, "speed_cpu"))
    return work / took if work is not None and took else None
