"""A known effect to test the instrument with: servers held still for a share of the time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise

from dunnage.contracts import Clock, Host, Running
from dunnage.errors import RunError
from dunnage.runner.ending import terminated

PERIOD = 0.100
"""Seconds from one stop to the next. A stop costs more than its length, and that must stay small
beside it: with a period of 10 ms the throughput lost was 8.5 % where 5 % of the time was declared.
"""


@dataclass(frozen=True)
class Slowdown:
    """A slowdown in force; `paused` reads back what really happened."""

    files: tuple[tuple[Host, str], ...]
    clock: Clock

    def paused(self, began: float, seconds: float) -> float | None:
        """Share of the window, which began at `began` by our clock, in which the servers were held
        still; mean over hosts.

        None when no slowdown is in force. Raises RunError when the window is not covered.
        """
        if not self.files:
            return None
        shares = [self._share(host, path, began, seconds) for host, path in self.files]
        return sum(shares) / len(shares)

    def _share(self, host: Host, path: str, began: float, seconds: float) -> float:
        began += host.clock_offset()
        ends = self.clock.now() + 2.0
        while True:
            points = _points(_record(host, path))
            if points and points[-1][0] >= began + seconds and points[0][0] <= began:
                return (_at(points, began + seconds) - _at(points, began)) / seconds
            if self.clock.now() > ends:
                raise RunError("the record of the slowdown does not cover the measured window")
            self.clock.sleep(0.05)


@contextmanager
def slowdown(share: float, members: Sequence[Running], clock: Clock) -> Iterator[Slowdown]:
    """Hold the members' processes still for `share` of every period while the `with` lasts."""
    if share == 0:
        yield Slowdown((), clock)
        return
    by_host: dict[str, list[Running]] = defaultdict(list)
    for member in members:
        by_host[member.host.name].append(member)
    files = []
    with ExitStack() as stack:
        for residents in by_host.values():
            host, path = residents[0].host, f"{residents[0].host.scratch}/pause.jsonl"
            pids = [word for member in residents for word in ("--pid", str(member.pid))]
            period = ("--share", f"{share:g}", "--period", f"{PERIOD:g}")
            process = host.start(
                [host.engine, "pause", *pids, *period, "--out", path],
                unit="pause",
                log=f"{host.scratch}/pause.log",
            )
            stack.push(terminated(process))
            files.append((host, path))
        yield Slowdown(tuple(files), clock)


def _record(host: Host, path: str) -> str:
    """What was written so far; nothing while there is no file."""
    try:
        return host.get(path).decode()
    except FileNotFoundError:
        return ""


def _points(lines: str) -> list[tuple[float, float]]:
    """(time, seconds paused so far) of every whole line."""
    return [
        (float(line["time"]), float(line["paused"]))
        for line in (json.loads(text) for text in lines.splitlines() if text.endswith("}"))
    ]


def _at(points: Sequence[tuple[float, float]], time: float) -> float:
    """Seconds paused until `time`, by linear interpolation between the lines around it."""
    for (before, low), (after, high) in pairwise(points):
        if before <= time <= after:
            return low + (high - low) * (time - before) / (after - before)
    raise AssertionError("unreachable: the caller checked that the points cover the time")
