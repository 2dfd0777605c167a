"""What a study's load must make sense of: levels, shares of a capacity, a search, its end."""

from __future__ import annotations

from collections.abc import Iterator

from dunnage.errors import shown
from dunnage.model.choices import Phase
from dunnage.model.level import Search
from dunnage.model.load_spec import LoadSpec
from dunnage.model.metrics import METRICS
from dunnage.model.study import INSERTING
from dunnage.study.document import Path
from dunnage.study.draft import Draft
from dunnage.study.grammar import Finding
from dunnage.study.keys import example
from dunnage.study.matrix import levels, shares
from dunnage.study.rules_worth import LEAST_SHARE
from dunnage.study.suggest import hint
from dunnage.units import percent


def load_rules(load: LoadSpec, draft: Draft) -> Iterator[Finding]:
    """Yield everything that is wrong with a load, beside its shape."""
    if not (
        load.threads or load.rate or load.search or _half_said(draft, "threads", "rate", "search")
    ):
        yield Finding(
            ("load",),
            "the load has neither `threads` nor `rate` nor `search`",
            "write `threads: [32]` for a closed loop or `rate: [2000]` for an open load",
        )
    if not (load.rate or load.search or _half_said(draft, "rate", "search")):
        for key in ("connections", "arrivals"):
            if key in load.model_fields_set:
                yield Finding(
                    ("load", key),
                    f"`{key}` applies only to `rate` and `search`",
                    f"remove `{key}`",
                )
    yield from _levels(load)
    yield from _shares(load, draft)
    if load.search is not None:
        yield from _search(load.search, draft)
    yield from _ending(load, draft)


def _levels(load: LoadSpec) -> Iterator[Finding]:
    places: list[Path] = [("load", "threads", index) for index in range(len(load.threads))]
    places += [("load", "rate", index) for index in range(len(load.rate))]
    seen: set[str] = set()
    for place, level in zip(places, levels(load), strict=False):
        if level.name in seen:
            yield Finding(place, f"the level {shown(level.name)} appears twice")
        seen.add(level.name)
    for index, rate in enumerate(load.rate):
        if rate.number is not None and rate.number < 1:
            share = percent(rate.number).replace(" ", "").replace(".0", "")
            meant = f"did you mean `{share}`, a share of the baseline's capacity?"
            yield Finding(
                ("load", "rate", index),
                f"`{rate.number:g}` is less than one operation per second",
                meant if rate.number >= LEAST_SHARE else "write for example `rate: [2000]`",
            )


def _shares(load: LoadSpec, draft: Draft) -> Iterator[Finding]:
    if not shares(load):
        if "calibration" in load.model_fields_set and not draft.touched("load", "rate"):
            yield Finding(
                ("load", "calibration"),
                "`calibration` applies only to a rate that is a share",
                "write for example `rate: [60%]`, or remove `calibration`",
            )
        return
    named = draft.questions or draft.twin or draft.touched("questions") or draft.touched("twin")
    if not named:
        index = next(at for at, rate in enumerate(load.rate) if rate.share is not None)
        yield Finding(
            ("load", "rate", index),
            "a rate is a share of the baseline's capacity, and this study has no baseline",
            f"write a question, for example `{example(('questions',))}`, or a `twin`",
        )


def _search(search: Search, draft: Draft) -> Iterator[Finding]:
    latencies = [metric.name for metric in METRICS.values() if metric.latency]
    for name in search.objective:
        place: Path = ("load", "search", "objective", name)
        if name not in latencies:
            yield Finding(
                place, f"{shown(name)} cannot be an objective of a search", hint(name, latencies)
            )
    for index, workload in draft.workloads.items():
        if workload.phase is Phase.LOAD:
            yield Finding(
                ("workloads", index),
                f"a search cannot measure the load phase of {shown(workload.name)}: "
                "its records are loaded only once",
                "make two studies, or remove `search`",
            )
        elif workload.core in INSERTING:
            yield Finding(
                ("workloads", index),
                f"a search cannot measure {shown(workload.name)}: it inserts records, so each load "
                "of the search would change the database for the next one",
                "use A, B, C or F here, or load with `rate: [2000]` instead of `search`",
            )


def _half_said(draft: Draft, *keys: str) -> bool:
    """Whether one of these is there, but wrong."""
    return any(draft.touched("load", key) for key in keys)


def _ending(load: LoadSpec, draft: Draft) -> Iterator[Finding]:
    if load.duration is not None and load.operations is not None:
        yield Finding(
            ("load", "operations"),
            "`duration` and `operations` cannot both be given",
            "keep `duration`: runs of equal length compare best",
        )
    elif (
        load.duration is None
        and load.operations is None
        and not _half_said(draft, "duration", "operations")
        and "time" not in draft.keys
        and (load.threads or load.rate)
        and any(workload.phase is Phase.RUN for workload in draft.workloads.values())
    ):
        yield Finding(
            ("load",),
            "the load does not give the length of a run",
            "write `duration: 10s`, or `operations: 100000`",
        )
