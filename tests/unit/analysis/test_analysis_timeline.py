"""Time lines: load and resources on one axis, by clocks that agree."""

from __future__ import annotations

import pytest
from analysis_cases import host, measurement, samples, windows
from analysis_study import record
from hdrh.histogram import HdrHistogram

from dunnage.analysis.runs import Setting
from dunnage.findings.timeline.series import NO_SAMPLES
from dunnage.findings.timeline.timeline import MOST, timeline
from dunnage.model.explanation import TimeLine
from dunnage.model.load import Sample, Samples
from dunnage.model.record import HostUsage, Record, Window

SETTING = Setting("A", "t8")
BEGAN = 1000.0


def log(latencies: dict[float, int], tag: str = "read.service", each: int = 400) -> bytes:
    """A part's log that began a second before the measured window; offset → nanoseconds."""
    lines = [f"#[BaseTime: {BEGAN - 1:.3f} (seconds since epoch)]"]
    for start, latency in latencies.items():
        histogram = HdrHistogram(1, 3_600_000_000_000, 3)
        histogram.record_value(latency, each)
        prefix = "warmup." if start < 1 else ""
        lines.append(f"Tag={prefix}{tag},{start:.3f},0.200,1.0,{histogram.encode().decode()}")
    return "\n".join(lines).encode() + b"\n"


def watched(name: str, rate: float, ahead: float = 0.0, memory: float = 100.0) -> Samples:
    """A host whose every counter grows by `rate` a second, by a clock that is `ahead`."""
    readings = tuple(
        Sample(
            time=time + ahead,
            units={
                "": {
                    "cpu": rate * time,
                    "received": 10 * rate * time,
                    "sent": 5 * rate * time,
                    "memory_resident": memory,
                }
            },
            machine={},
        )
        for time in (BEGAN - 2 + step for step in range(10))
    )
    return Samples(host=name, interval=1.0, samples=readings, own_cpu=(), absent={})


def run(name: str = "r1", began: float = BEGAN, usage: tuple[HostUsage, ...] = ()) -> Record:
    line = (
        *(Window(start=-1 + 0.2 * i, length=0.2, operations=50, errors=0) for i in range(5)),
        *windows([100] * 20),
    )
    hosts = usage or (host("db-1"), host("db-2"), host("client-1", "client"))
    return record(run=name, measurement=measurement(began=began, windows=line), usage=hosts)


def made(
    records: list[Record],
    logs: dict[str, bytes] | None = None,
    seen: tuple[Samples, ...] = (),
) -> TimeLine:
    found = timeline("native", SETTING, records, (logs or {}).get, lambda _: seen)
    assert found is not None
    return found


def median(line: TimeLine, name: str) -> tuple[float | None, ...]:
    return next(series.median for series in line.series if series.name == name)


def test_throughput_stands_on_an_axis_whose_zero_is_the_measured_window() -> None:
    found = made([run()])
    assert (found.step, found.starts[0], found.starts[5], found.runs) == (0.2, -1.0, 0.0, 1)
    assert median(found, "throughput")[:6] == pytest.approx((250, 250, 250, 250, 250, 500))
    assert len(found.starts) == 25


def test_resources_are_summed_over_the_hosts_of_a_group() -> None:
    seen = (watched("db-1", 0.5), watched("db-2", 0.25), watched("client-1", 0.125))
    found = made([run()], seen=seen)
    assert set(median(found, "cpu.database")) == {0.75}
    assert set(median(found, "cpu.client")) == {0.125}
    assert set(median(found, "network.database")) == {0.75 * 15}
    assert set(median(found, "memory.database")) == {200.0}
    assert found.absent["disk.database"]


HIDDEN = host("db-1", unseen={"redis-1": "it runs elsewhere"})


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ((watched("db-1", 0.5), watched("db-2", 0.25)), "it runs elsewhere"),
        ((), NO_SAMPLES),
        ((watched("db-2", 0.25),), None),
    ],
    ids=["of a host that does not see its member", "no samples", "of the hosts with samples"],
)
def test_a_line_is_absent_for_the_reason_of_the_host_that_lacks_it(
    seen: tuple[Samples, ...], reason: str | None
) -> None:
    found = made([run(usage=(HIDDEN, host("db-2")))], seen=seen)
    assert found.absent.get("cpu.database") == reason


def test_a_host_that_lacks_a_counter_is_the_reason_where_it_comes_before_one_out_of_sight() -> None:
    usage = (HIDDEN, host("db-2"))
    found = made([run(usage=usage)], seen=(watched("db-2", 0.25), watched("db-1", 0.5)))
    assert found.absent["disk.database"] == NO_SAMPLES
    assert found.absent["cpu.database"] == "it runs elsewhere"


def test_hosts_with_other_clocks_are_put_on_ours() -> None:
    usage = (host("db-1", clock_offset=3.0), host("client-1", "client", clock_offset=-2.0))
    readings = watched("db-1", 0.5, ahead=3.0)
    stepped = tuple(
        Sample(
            time=each.time,
            units={"": {"cpu": max(0.0, each.time - 3.0 - BEGAN)}},
            machine={},
        )
        for each in readings.samples
    )
    seen = Samples(host="db-1", interval=1.0, samples=stepped, own_cpu=(), absent={})
    found = made([run(began=BEGAN - 2.0, usage=usage)], seen=(seen,))
    line = dict(zip(found.starts, median(found, "cpu.database"), strict=True))
    assert line[-0.2] == pytest.approx(0)
    assert line[0.0] == pytest.approx(1)


def test_what_samples_do_not_cover_is_none_and_nothing_is_extrapolated() -> None:
    short = samples({BEGAN + 1: {"cpu": 0.0}, BEGAN + 2: {"cpu": 1.0}})
    found = made([run(usage=(host("db-1"),))], seen=(short,))
    line = dict(zip(found.starts, median(found, "cpu.database"), strict=True))
    assert line[0.0] is None and line[3.0] is None
    assert line[1.4] == pytest.approx(1)


def test_the_95th_percentile_of_each_interval_is_read_off_added_histograms() -> None:
    first = {0.2 * i: 1_000_000 for i in range(25)} | {2.0: 5_000_000}
    both = log(first) + log(dict.fromkeys(first, 1_000_000), "update.service", each=4)
    found = made([run()], {"r1": both})
    line = dict(zip(found.starts, median(found, "service.p95"), strict=True))
    assert line[0.8] == pytest.approx(0.001, rel=0.01)
    assert line[1.0] == pytest.approx(0.005, rel=0.01)
    assert line[-1.0] == pytest.approx(0.001, rel=0.01)


def test_response_times_take_the_place_of_service_times_where_there_are_some() -> None:
    lines = log({1.0: 1_000_000}) + log({1.0: 9_000_000}, "read.response")
    found = made([run()], {"r1": lines})
    assert [s.name for s in found.series] == ["throughput", "response.p95"]


def test_too_few_operations_for_a_percentile_are_said() -> None:
    found = made([run()], {"r1": log({1.0: 1_000_000}, each=150)})
    assert "ten must lie beyond" in found.absent["service.p95"]


def test_median_smallest_and_largest_are_over_runs() -> None:
    runs = [
        run(name).model_copy(update={"measurement": measurement(windows=windows([count] * 20))})
        for name, count in (("r1", 100), ("r2", 120), ("r3", 200))
    ]
    (series,) = made(runs).series
    assert (series.low[0], series.median[0], series.high[0]) == pytest.approx((500, 600, 1000))


def test_a_long_run_is_joined_into_few_intervals() -> None:
    long = run().model_copy(update={"measurement": measurement(windows=windows([10] * 3000))})
    found = made([long])
    assert len(found.starts) <= MOST
    assert set(median(found, "throughput")) == {50.0}


def test_a_run_without_windows_has_no_time_line() -> None:
    assert (
        timeline("native", SETTING, [record(measurement=None)], lambda _: None, lambda _: ())
        is None
    )
