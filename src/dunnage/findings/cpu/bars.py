"""Stacked bars: where the CPU time of an operation went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dunnage.drawing.scale import linear
from dunnage.drawing.stack import Bar, Bars, Segment
from dunnage.findings.cpu.shares import OUTSIDE, PARTS
from dunnage.model.analysis import Analysis, Share
from dunnage.model.metrics import METRICS
from dunnage.wording import numbers, terms

METRIC = "cpu.database"
"""The metric whose unit and digits the CPU time is written in."""
PART_TITLES: Mapping[str, str] = {OUTSIDE: "kernel, outside any host"}
"""Parts that are called otherwise than in the analysis."""
UNKNOWN = "not known"
"""In the place of a part that some run does not tell: it is not 0, and the others are not all."""


def part_title(part: str) -> str:
    """A part of the CPU time as readers see it."""
    return PART_TITLES.get(part, terms.plain(part))


def cpu_bars(analysis: Analysis) -> tuple[Bars, ...]:
    """CPU per operation of each deployment, one figure for each condition."""
    groups: dict[tuple[str, str], dict[str, dict[str, Share]]] = {}
    for share in analysis.shares:
        bars = groups.setdefault((share.workload, share.level), {})
        bars.setdefault(share.deployment, {})[share.part] = share
    return tuple(_cpu(terms.condition(*key), bars) for key, bars in groups.items())


def parts_of(shares: Sequence[Share], *, contained: bool = False) -> tuple[str, ...]:
    """The parts that any of these shares has, in the order of the analysis."""
    there = {share.part for share in shares if share.contained is contained}
    return tuple(part for part in (*PARTS, *sorted(there - set(PARTS))) if part in there)


def _cpu(title: str, bars: Mapping[str, Mapping[str, Share]]) -> Bars:
    every = [share for shares in bars.values() for share in shares.values()]
    stacked, within = parts_of(every), parts_of(every, contained=True)
    micro = METRICS[METRIC].scale
    totals = {name: _total(shares.values()) for name, shares in bars.items()}
    scale = linear([0.0, *(total * micro for total in totals.values())])
    laid = []
    for name, shares in bars.items():
        reached = 0.0
        segments = []
        for part in stacked:
            start = scale.at(reached * micro)
            reached += shares[part].seconds_per_operation if part in shares else 0.0
            width = round(scale.at(reached * micro) - start, 2)
            segments.append(Segment(part_title(part), start, width, _amount(shares.get(part))))
        inner = tuple(
            Segment(
                part_title(part),
                0.0,
                scale.at(shares[part].seconds_per_operation * micro),
                _amount(shares[part]),
            )
            for part in within
            if part in shares
        )
        total = _at_least(shares, stacked) + numbers.value(METRIC, totals[name])
        laid.append(Bar(terms.plain(name), tuple(segments), total, inner))
    columns = (*stacked, *within)
    return Bars(
        title=title,
        unit=METRICS[METRIC].unit,
        parts=tuple(map(part_title, stacked)),
        contained=tuple(map(part_title, within)),
        scale=scale,
        bars=tuple(laid),
        cells=f"{METRICS[METRIC].unit} with the interval over blocks; after the comma the "
        "difference from the baseline",
        columns=(
            *map(part_title, stacked),
            *(f"{part_title(part)} (inside the others)" for part in within),
            "all",
        ),
        rows=tuple(
            (
                terms.plain(name),
                (
                    *(_with_interval(shares.get(part)) for part in columns),
                    _at_least(shares, stacked) + numbers.bare(METRIC, totals[name]),
                ),
            )
            for name, shares in bars.items()
        ),
    )


def _total(shares: Iterable[Share]) -> float:
    return sum(share.seconds_per_operation for share in shares if not share.contained)


def _at_least(shares: Mapping[str, Share], parts: Sequence[str]) -> str:
    """What stands before a total that lacks a part, be it one that no deployment tells."""
    wanted = {part for part in PARTS if part != OUTSIDE or part in parts}
    return "" if shares.keys() >= wanted else "≥ "


def _amount(share: Share | None) -> str:
    return UNKNOWN if share is None else numbers.value(METRIC, share.seconds_per_operation)


def _with_interval(share: Share | None) -> str:
    if share is None:
        return UNKNOWN
    text = numbers.bare(METRIC, share.seconds_per_operation)
    if share.estimate is not None:
        text += _ends(share.estimate.low, share.estimate.high)
    if share.difference is not None and share.difference.n:
        text += f", {numbers.signed(METRIC, share.difference.value)}"
    return text


def _ends(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f" ({numbers.bare(METRIC, low)} … {numbers.bare(METRIC, high)})"
