"""What `dunnage export` writes of real runs, read by programs that are not ours."""

from __future__ import annotations

import re
import string
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from orchestrated import finished
from own_loopback import OwnLoopback
from pdf_text import letters, letters_of
from study_process import answered, insist_nothing_left, started
from typesetting import cells, typeset, written

from dunnage.model.histogram import merged
from dunnage.model.layout import Software
from dunnage.model.metrics import OPERATIONS
from dunnage.model.record import Latency, Record
from dunnage.opened import OpenedResult, open_at
from dunnage.report.export.latex.text import escaped
from dunnage.report.tables.every import tables
from dunnage.software.trees import DebianSoftware
from report_samples import sample

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 1, client: 1}}, cores: shared}}
database: {{kind: redis, topology: single, members: 1}}
deployments:
  native: {{platform: native}}
  bridge: {{platform: docker, network: bridge}}
twin: native
workloads: [A]
records: 1000
load: {{threads: [1], rate: [500], connections: 4, warmup: 200ms, duration: 2s}}
blocks: 1
sampler: {{rate: 5Hz}}
deadline: 60s
patience: 0s
questions:
  Q1: {{baseline: native, against: [bridge], metric: throughput, tolerance: 5%}}
"""
READER = "org.HdrHistogram.HistogramLogProcessor"
JARS = "lib/cassandra"
ENDS = re.compile(r"#\[Max += +(?P<maximum>[0-9.]+), Total count += +(?P<count>[0-9]+)\]")
"""The line that ends what the reader tells of a distribution."""
SIZES = ("10pt", "11pt", "12pt")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenedResult:
    """One block of Redis, natively and behind a bridge, in a closed loop and under an open load."""
    place = tmp_path_factory.mktemp("exports")
    name, path = f"exports-{uuid.uuid4().hex[:8]}", place / "study.yaml"
    path.write_text(STUDY.format(name=name))
    with started(name, place, str(path), "--results", str(place)) as running:
        lab = running.until(running.lab)
        finished(running)
    insist_nothing_left(name, {lab})
    return open_at(place / name)


@pytest.fixture(scope="module")
def exported(opened: OpenedResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of all that can be exported."""
    out = tmp_path_factory.mktemp("exported") / "out"
    answered("export", str(opened.path), "--to", str(out))
    return out


@dataclass(frozen=True)
class Told:
    """A distribution as the Java tool tells it, in nanoseconds."""

    count: int
    maximum: int
    upto: dict[int, int]
    """Value → operations that took at most so long."""

    def quantile(self, name: str) -> float:
        """Seconds within which a share was answered, such as `p99.9`."""
        wanted = max(1, int(float(name.removeprefix("p")) * self.count / 100 + 0.5))
        return min(value for value, count in self.upto.items() if count >= wanted) * 1e-9


@dataclass(frozen=True)
class Tool:
    """HdrHistogram's own reader of logs, with the Java and the jar that Cassandra needs itself."""

    place: OwnLoopback
    jar: str

    def told(self, log: Path, count: int, *tag: str) -> Told:
        """What it makes of a log with so many operations.

        It makes so many steps that each operation has one of its own: all values are told.
        """
        java = (f"{self.place.prefix}/bin/java", "-Xmx256M", "-XX:+UseSerialGC", "-cp", self.jar)
        steps = ("-percentilesOutputTicksPerHalf", str(count // 2 + 1))
        words = ("-i", str(log), "-outputValueUnitRatio", "1", *steps, *tag)
        argv = self.place.inside(*java, READER, *words)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        rows = [row for row in map(str.split, lines) if row and row[0][0].isdigit()]
        (found,) = filter(None, map(ENDS.match, lines))
        upto = {int(float(value)): int(count) for value, _, count, *_ in rows}
        return Told(int(found["count"]), int(float(found["maximum"])), upto)


@pytest.fixture(scope="module")
def tool() -> Iterator[Tool]:
    """The tool where Cassandra's tree is."""
    software = Software("cassandra", "5.0")
    (jar,) = (DebianSoftware().tree(software).source / JARS).glob("HdrHistogram-*.jar")
    place = OwnLoopback(software)
    try:
        yield Tool(place, f"{place.prefix}/{JARS}/{jar.name}")
    finally:
        place.close()


def ours(opened: OpenedResult, run: str, *tags: str) -> dict[int, int]:
    """Value → operations that took at most so long, of the log as the engine wrote it."""
    whole = merged(opened.latency_logs(run), *tags)
    counts = np.ctypeslib.as_array(whole.counts)
    reached = np.cumsum(counts)
    return {
        whole.get_highest_equivalent_value(whole.get_value_from_index(int(place))): int(
            reached[place]
        )
        for place in np.flatnonzero(counts)
    }


def insist_alike(seen: Told, recorded: Latency | None, upto: dict[int, int]) -> None:
    """What the tool tells is what the record says, and the whole distribution is the same."""
    assert recorded is not None
    assert seen.count == recorded.count > 100
    assert seen.maximum == round(recorded.maximum * 1e9)
    assert {name: seen.quantile(name) for name in recorded.quantiles} == pytest.approx(
        dict(recorded.quantiles), rel=1e-12
    )
    assert seen.upto == upto


def run_of(opened: OpenedResult, level: str) -> Record:
    """The run of the native deployment at a level."""
    (found,) = (
        each for each in opened.records if (each.deployment, each.level.name) == ("native", level)
    )
    return found


@pytest.mark.parametrize(("level", "kind"), [("t1", "service"), ("r500", "response")])
def test_hdrhistograms_own_tool_reads_a_run(
    opened: OpenedResult, exported: Path, tool: Tool, level: str, kind: str
) -> None:
    record = run_of(opened, level)
    assert record.measurement is not None
    stats = record.measurement.operations["all"]
    recorded = stats.response if kind == "response" else stats.service
    tags = [f"{operation}.{kind}" for operation in OPERATIONS]
    log = exported / "hlog" / f"{record.run}.hlog"
    seen = tool.told(log, stats.count)
    insist_alike(seen, recorded, ours(opened, record.run, *tags))


@pytest.mark.parametrize("operation", ["read", "update"])
def test_hdrhistograms_own_tool_reads_one_kind_of_operation_by_its_tag(
    opened: OpenedResult, exported: Path, tool: Tool, operation: str
) -> None:
    record = run_of(opened, "r500")
    assert record.measurement is not None
    stats = record.measurement.operations[operation]
    tag = f"{operation}.response"
    log = exported / "hlog" / f"{record.run}.hlog"
    seen = tool.told(log, stats.count, "-tag", tag)
    insist_alike(seen, stats.response, ours(opened, record.run, tag))


@pytest.fixture(scope="module")
def sources(
    opened: OpenedResult, exported: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Path]]:
    """Files of tables: of a live result, of all that a report may hold, and of hostile names."""
    place = tmp_path_factory.mktemp("tables")
    found = {"live": sorted((exported / "latex").iterdir())}
    for name, hostile in (("everything", False), ("hostile", True)):
        made = sample(hostile=hostile)
        found[name] = written(place / name, tables(made.analysis, made.plan))
    return found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("source", ["live", "everything", "hostile"])
def test_every_table_is_typeset_within_the_lines_and_pages_of_an_article(
    sources: dict[str, list[Path]], tmp_path: Path, source: str, size: str
) -> None:
    assert len(sources[source]) > 10
    document, overfull = typeset(tmp_path / "article", sources[source], size)
    assert overfull == []
    assert document.stat().st_size > 1000


def test_every_value_of_a_live_result_is_read_back_from_its_typeset_tables(
    opened: OpenedResult, sources: dict[str, list[Path]], tmp_path: Path
) -> None:
    """What is the same in all rows of a wide table stands in a comment above it."""
    every = tables(opened.analysis, opened.plan)
    assert {path.stem for path in sources["live"]} == {table.name for table in every}
    document, _ = typeset(tmp_path / "article", sources["live"], SIZES[0])
    lines = (line for path in sources["live"] for line in path.read_text().splitlines())
    same = (letters(line) for line in lines if line.startswith("%"))
    text = " ".join((letters_of(document), *same))
    expected = {cell for table in every for cell in cells(table)}
    assert len(expected) > 100
    assert {cell for cell in expected if cell not in text} == set()


def test_every_character_that_is_written_can_be_typeset(tmp_path: Path) -> None:
    plain = (string.digits, string.ascii_uppercase, string.ascii_lowercase, string.punctuation)
    others = (*map(chr, range(0xA0, 0x180)), "−±×÷µσκλ→≈≥≤∞√²³·•–—…’")
    characters = tmp_path / "characters.tex"
    characters.write_text("\n\n".join(map(escaped, (*plain, *others))))
    document, overfull = typeset(tmp_path / "article", [characters], SIZES[0])
    text = letters_of(document)
    assert [each for each in plain if letters(each) not in text] == overfull == []
