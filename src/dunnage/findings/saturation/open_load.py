"""What came of open loads, over blocks: the rates of a study, and the probes of its searches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from dunnage.analysis.gather import Gathered
from dunnage.analysis.intervals import over_blocks
from dunnage.analysis.runs import Setting
from dunnage.analysis.schedule import flow
from dunnage.model.open_load import OpenLevel, SaturationSearch, SearchProbe
from dunnage.model.plan import Plan
from dunnage.model.record import Measurement, Record


def open_levels(plan: Plan, gathered: Gathered) -> tuple[OpenLevel, ...]:
    """Of every deployment, workload and rate with a valid run that knows what was offered."""
    rates = {run.level.name for run in plan.runs() if run.level.open}
    return tuple(
        found
        for setting in gathered.settings
        if setting.level in rates
        for deployment in plan.deployments
        if (found := _open_level(deployment.name, setting, gathered)) is not None
    )


def searches(plan: Plan, gathered: Gathered) -> tuple[SaturationSearch, ...]:
    """Of every deployment and workload with a valid run of a search."""
    asked = {run.level.name: run.level.search for run in plan.runs()}
    return tuple(
        SaturationSearch(
            deployment=deployment.name,
            workload=setting.workload,
            level=setting.level,
            found=over_blocks(gathered.logs(deployment.name, setting, "saturation"), "op/s"),
            searches=len(records),
            precision=search.precision,
            objective=search.objective,
            probes=tuple(_probes(records)),
        )
        for setting in gathered.settings
        if (search := asked[setting.level]) is not None
        for deployment in plan.deployments
        if (records := gathered.valid_records(deployment.name, setting))
    )


def _open_level(deployment: str, setting: Setting, gathered: Gathered) -> OpenLevel | None:
    records = gathered.valid_records(deployment, setting)
    offered = over_blocks(gathered.logs(deployment, setting, "offered"), "op/s")
    if offered is None:
        return None
    over = [record for record in records if record.over_capacity]
    flows = [found for seen in _measured(over) if (found := flow(seen)) is not None]
    return OpenLevel(
        deployment=deployment,
        workload=setting.workload,
        level=setting.level,
        offered=offered,
        throughput=over_blocks(gathered.logs(deployment, setting, "throughput"), "op/s"),
        achieved=over_blocks(gathered.logs(deployment, setting, "achieved"), "share"),
        runs=len(records),
        over_capacity=len(over),
        seconds=_middle(seen.seconds for seen in _measured(over or records)) or 0.0,
        growth=_middle(found.slope for found in flows),
        lag=_middle(found.lag for found in flows),
    )


def _probes(records: Sequence[Record]) -> Iterator[SearchProbe]:
    for record in records:
        for probe in record.search.probes if record.search is not None else ():
            yield SearchProbe(
                run=record.run,
                block=record.block,
                offered=probe.offered or probe.rate,
                achieved=probe.offered * probe.achieved,
                p99=probe.p99,
                sustained=probe.sustained,
                refusals=probe.refusals,
                client=probe.client,
            )


def _measured(records: Iterable[Record]) -> Iterator[Measurement]:
    return (record.measurement for record in records if record.measurement is not None)


def _middle(values: Iterable[float]) -> float | None:
    found = list(values)
    return median(found) if found else None
