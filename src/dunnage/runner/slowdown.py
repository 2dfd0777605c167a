"""A known effect to test the instrument with: servers held still for a share of the time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise

from dunnage.contracts.host import Clock, Host
from dunnage.contracts.platform import RunningMember
from dunnage.errors import RunError
from dunnage.model.deployment import PAUSE_PERIOD
from dunnage.runner.ending import terminated
from dunnage.runner.inspection import to_hold

UNIT = "pause"
"""Unit of what holds a host's servers still."""
_LOG = "{}/pause.log"
"""Below a host's scratch: why stopping its servers ended, if it did."""


@dataclass(frozen=True)
class Toggle:
    """Servers are held for `seconds`, from `begin` by our clock on, then left alone for as long."""

    begin: float
    seconds: float


@dataclass(frozen=True)
class Slowdown:
    """A slowdown in force; `paused` reads back what really happened."""

    files: tuple[tuple[Host, str], ...]
    clock: Clock
    groups: tuple[str, ...] = ()
    """Control groups of what holds the servers."""

    def paused(self, began: float, seconds: float) -> float | None:
        """Share of the window, which began at `began` by our clock, in which the servers were held
        still; mean over hosts.

        None when no slowdown is in force. Raises RunError when the window is not covered.
        """
        return self._mean("paused", [(began, seconds)])

    def paused_in_all(self, pieces: Sequence[tuple[float, float]]) -> float | None:
        """The same of several windows, (beginning, seconds) each, in their order."""
        return self._mean("paused", pieces)

    def cpu(self, began: float, seconds: float) -> float | None:
        """CPU seconds a second that holding the servers takes by itself; else like `paused`."""
        return self._mean("cpu", [(began, seconds)])

    def _mean(self, key: str, pieces: Sequence[tuple[float, float]]) -> float | None:
        if not self.files:
            return None
        shares = [self._share(host, path, key, pieces) for host, path in self.files]
        return sum(shares) / len(shares)

    def _share(
        self, host: Host, path: str, key: str, pieces: Sequence[tuple[float, float]]
    ) -> float:
        ahead = host.clock_offset()
        first, last = pieces[0][0] + ahead, sum(pieces[-1]) + ahead
        ends = self.clock.now() + 2.0
        while True:
            points = _points(_text(host, path), key)
            if points and points[-1][0] >= last and points[0][0] <= first:
                grown = [
                    _at(points, began + seconds + ahead) - _at(points, began + ahead)
                    for began, seconds in pieces
                ]
                return sum(grown) / sum(seconds for _, seconds in pieces)
            if self.clock.now() > ends:
                log = _text(host, _LOG.format(host.scratch)).strip()
                raise RunError(
                    "the record of the slowdown does not cover the measured window"
                    + (f": {log[-400:]}" if log else ""),
                    where=host.name,
                )
            self.clock.sleep(0.05)


@contextmanager
def slowdown(
    share: float, members: Sequence[RunningMember], clock: Clock, toggle: Toggle | None = None
) -> Iterator[Slowdown]:
    """Hold the members' processes still for `share` of every period while the `with` lasts.

    With a toggle only in every other piece of time. Raises StayError where a member's host does not
    see its process.
    """
    if share == 0:
        yield Slowdown((), clock)
        return
    by_host: dict[str, list[RunningMember]] = defaultdict(list)
    for member in members:
        by_host[member.host.name].append(member)
    files = []
    with ExitStack() as stack:
        for residents in by_host.values():
            host, path = residents[0].host, f"{residents[0].host.scratch}/pause.jsonl"
            pids = [word for member in residents for word in ("--pid", str(to_hold(member).pid))]
            words = ["--share", f"{share:g}", "--period", f"{PAUSE_PERIOD:g}"]
            if toggle is not None:
                words += ["--begin", f"{toggle.begin + host.clock_offset():.6f}"]
                words += ["--rest", f"{toggle.seconds:g}"]
            process = host.start(
                [host.engine, "pause", *pids, *words, "--out", path],
                unit=UNIT,
                log=_LOG.format(host.scratch),
            )
            stack.push(terminated(process))
            files.append((host, path))
        groups = tuple(host.control_group(UNIT) for host, _ in files)
        yield Slowdown(tuple(files), clock, groups)


def _text(host: Host, path: str) -> str:
    """What was written so far; nothing while there is no file."""
    try:
        return host.get(path).decode()
    except FileNotFoundError:
        return ""


def _points(lines: str, key: str) -> list[tuple[float, float]]:
    """(time, seconds so far) of every whole line."""
    return [
        (float(line["time"]), float(line[key]))
        for line in (json.loads(text) for text in lines.splitlines() if text.endswith("}"))
    ]


def _at(points: Sequence[tuple[float, float]], time: float) -> float:
    """Seconds until `time`, by linear interpolation between the lines around it."""
    for (before, low), (after, high) in pairwise(points):
        if before <= time <= after:
            return low + (high - low) * (time - before) / (after - before)
    raise AssertionError("unreachable: the caller checked that the points cover the time")
