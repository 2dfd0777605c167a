"""Stacked bars: where the CPU time of an operation went, and where the variance lies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dunnage.analysis.shares import OUTSIDE, PARTS
from dunnage.model.analysis import Analysis, Share
from dunnage.model.metrics import METRICS
from dunnage.model.variance import VarianceSplit
from dunnage.report.scale import Scale, linear
from dunnage.wording import numbers, terms

METRIC = "cpu.database"
"""The metric whose unit and digits the CPU time is written in."""
PART_TITLES: Mapping[str, str] = {OUTSIDE: "kernel, outside any host"}
"""Parts that are called otherwise than in the analysis."""
UNKNOWN = "not known"
"""In the place of a part that some run does not tell: it is not 0, and the others are not all."""


@dataclass(frozen=True)
class Segment:
    """A part of a bar."""

    part: str
    start: float
    width: float
    text: str


@dataclass(frozen=True)
class Bar:
    """One bar: its parts side by side, below them what is contained in them already."""

    name: str
    segments: tuple[Segment, ...]
    total: str
    contained: tuple[Segment, ...] = ()


@dataclass(frozen=True)
class Bars:
    """One figure; the table behind it has a row for each bar."""

    title: str
    unit: str
    parts: tuple[str, ...]
    contained: tuple[str, ...]
    scale: Scale
    bars: tuple[Bar, ...]
    cells: str
    """What the cells of the table hold."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


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


def variance_bars(analysis: Analysis) -> Bars | None:
    """How the variance of each metric divides between blocks, stays and runs."""
    splits = [split for split in analysis.variance if split.parts]
    return _variance(splits) if splits else None


def _variance(splits: Sequence[VarianceSplit]) -> Bars:
    parts = tuple(dict.fromkeys(part.part for split in splits for part in split.parts))
    scale = linear([0.0, 1.0])
    laid, rows = [], []
    for split in splits:
        where = f"{terms.plain(split.workload)}, {terms.level(split.level)}"
        name = f"{terms.title(split.metric)}; {where}"
        known = {part.part: part for part in split.parts}
        reached = 0.0
        segments = []
        for part in parts:
            share = known[part].share if part in known else 0.0
            text = f"{share * 100:.0f} %" if part in known else "none"
            segments.append(Segment(part, round(reached * 100, 2), round(share * 100, 2), text))
            reached += share
        laid.append(Bar(name, tuple(segments), numbers.count(split.blocks, "block")))
        rows.append(
            (
                name,
                tuple(
                    f"{known[part].share * 100:.0f} %, ±{known[part].spread * 100:.2g} %"
                    if part in known
                    else "none"
                    for part in parts
                ),
            )
        )
    return Bars(
        title="Parts of the variance",
        unit="shares",
        parts=parts,
        contained=(),
        scale=scale,
        bars=tuple(laid),
        cells="share of the variance, and the part's own standard deviation",
        columns=parts,
        rows=tuple(rows),
    )
