"""A run's latency log, made of real logs of the engine, as HdrHistogram's own reader reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from dunnage.model.histogram import merged
from dunnage.report.export.hlog import one_log

FIXTURES = Path(__file__).parents[1] / "fixtures" / "engine"
OPERATIONS = ("read", "update", "insert", "scan", "read-modify-write")


def logs(*names: str) -> list[bytes]:
    return [(FIXTURES / name / "latency.hlog").read_bytes() for name in names]


def read(path: Path) -> list[HdrHistogram]:
    reader = HistogramLogReader(str(path), HdrHistogram(1, 3_600_000_000_000, 3))
    found = []
    while (interval := reader.get_next_interval_histogram()) is not None:
        found.append(interval)
    reader.input_file.close()
    return found


def expected(parts: list[bytes], kind: str) -> HdrHistogram:
    total = HdrHistogram(1, 3_600_000_000_000, 3)
    for operation in OPERATIONS:
        total.add(merged(parts, f"{operation}.{kind}"))
    return total


@pytest.mark.parametrize(
    ("names", "open_load", "kind"),
    [
        (("closed-0",), False, "service"),
        (("closed-0", "closed-1"), False, "service"),
        (("open",), True, "response"),
    ],
)
def test_lines_without_a_tag_are_the_whole_run(
    tmp_path: Path, names: tuple[str, ...], open_load: bool, kind: str
) -> None:
    parts = logs(*names)
    path = tmp_path / "run.hlog"
    path.write_bytes(one_log(parts, open_load=open_load))
    whole = HdrHistogram(1, 3_600_000_000_000, 3)
    for interval in read(path):
        if interval.get_tag() is None:
            whole.add(interval)
    wanted = expected(parts, kind)
    assert whole.get_total_count() == wanted.get_total_count() > 0
    for percentile in (50, 95, 99, 99.9, 100):
        assert whole.get_value_at_percentile(percentile) == wanted.get_value_at_percentile(
            percentile
        )


def test_every_tagged_interval_of_every_part_is_still_there(tmp_path: Path) -> None:
    parts = logs("closed-0", "closed-1")
    path = tmp_path / "run.hlog"
    path.write_bytes(one_log(parts, open_load=False))
    tags = [interval.get_tag() for interval in read(path) if interval.get_tag()]
    assert len(tags) == sum(part.count(b"Tag=") for part in parts)
    assert any(tag.startswith("warmup.") for tag in tags)
    again = [path.read_bytes()]
    for tag in set(tags):
        assert merged(again, tag).get_total_count() == merged(parts, tag).get_total_count()


def test_intervals_stand_in_the_order_of_time_from_one_base(tmp_path: Path) -> None:
    path = tmp_path / "run.hlog"
    path.write_bytes(one_log(logs("closed-0", "closed-1"), open_load=False))
    starts = [interval.get_start_time_stamp() for interval in read(path)]
    assert starts == sorted(starts)
    header = path.read_text().splitlines()
    assert header[0] == "#[Histogram log format version 1.3]"
    assert header[1].replace("Base", "Start") == header[2]


def test_a_run_without_a_log_gives_none() -> None:
    assert one_log([], open_load=True) == b""
    assert one_log([b"#[StartTime: 1.0 (seconds since epoch)]\n"], open_load=False) == b""
