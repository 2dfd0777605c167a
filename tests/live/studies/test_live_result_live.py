"""Two results of one real study, compared, written for other programs, opened and gone on with.

About eight minutes, nearly all of them the two results.
"""

from __future__ import annotations

import csv
import html
import json
import math
import re
import shutil
import subprocess
import uuid
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from study_process import DUNNAGE, answered, insist_nothing_left
from typesetting import typeset

import dunnage
from dunnage.errors import ExitCode
from dunnage.model.analysis import Analysis
from dunnage.model.between import ChangeVerdict, MismatchKind, ResultComparison
from dunnage.model.histogram import merged
from dunnage.model.metrics import HEADLINE, METRICS, OPERATIONS
from dunnage.model.record import Measurement
from dunnage.opened import OpenedResult
from dunnage.store.layout import ResultLayout
from study_worth import in_short, insist_it_answered

pytestmark = [pytest.mark.live, pytest.mark.proof, pytest.mark.quiet, pytest.mark.timeout(2400)]

Record = Callable[[str, object], None]
"""pytest's `record_property`: what is recorded as `seen` stands in `docs/proofs.md`."""
BLOCKS, ADDED = 7, 2
RECORDS = 1000
STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 1, client: 1}}, memory: 1GiB}}
database: {{kind: redis, topology: single, members: 1}}
deployments:
  native: {{platform: native}}
  bridge: {{platform: docker, network: bridge}}
twin: native
workloads: [A]
records: {records}
load: {{threads: [8], warmup: 500ms, duration: 3s}}
blocks: {blocks}
sampler: {{rate: 5Hz}}
patience: 2min
questions:
  Q1: {{baseline: native, against: [bridge], metric: throughput, tolerance: 5%}}
"""


def carried_out(place: Path, *, records: int = RECORDS, blocks: int = BLOCKS) -> OpenedResult:
    """A result of the study, after which nothing of it is left on this machine."""
    name, path = f"live-result-{uuid.uuid4().hex[:8]}", place / "study.yaml"
    path.write_text(STUDY.format(name=name, records=records, blocks=blocks))
    answer = answered("run", str(path), "--results", str(place))
    insist_nothing_left(name, set())
    return dunnage.open(answer["result"])


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[OpenedResult, OpenedResult]:
    """Two results that were measured one after the other."""
    first, second = (carried_out(tmp_path_factory.mktemp("result")) for _ in range(2))
    for each in (first, second):
        insist_it_answered(each.analysis)
    return first, second


@pytest.fixture(scope="module")
def first(both: tuple[OpenedResult, OpenedResult]) -> OpenedResult:
    """One of them."""
    return both[0]


@pytest.fixture(scope="module")
def exported(first: OpenedResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of all that can be exported of it."""
    out = tmp_path_factory.mktemp("exported") / "out"
    answer = answered("export", str(first.path), "--to", str(out))
    assert {Path(path) for path in answer["written"]} == {
        path for path in out.rglob("*") if path.is_file()
    }
    return out


def measured(opened: OpenedResult) -> dict[str, Measurement]:
    """Run → what it measured, in which nothing failed."""
    found = {}
    for record in opened.records:
        assert record.measurement is not None
        assert not any(record.measurement.operations["all"].errors.values())
        found[record.run] = record.measurement
    return found


def throughputs(opened: OpenedResult) -> dict[str, float]:
    """Run → operations per second, by hand."""
    return {
        run: each.operations["all"].count / each.seconds for run, each in measured(opened).items()
    }


def compared(*words: object) -> tuple[int, ResultComparison]:
    """How `dunnage compare` ends, and what it answers."""
    argv = [*DUNNAGE, "compare", *map(str, words), "--format", "json"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300)
    return done.returncode, ResultComparison.model_validate_json(done.stdout)


def geometric_mean(opened: OpenedResult, deployment: str, metric: str) -> float:
    """Over the valid runs of a deployment, of the data frame."""
    valid = (pl.col("status") == "valid") & (pl.col("deployment") == deployment)
    values = opened.runs.filter(valid)[metric].drop_nulls().to_list()
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def test_two_results_of_one_study_are_compared_in_all_that_decides(
    both: tuple[OpenedResult, OpenedResult], record_property: Record
) -> None:
    a, b = both
    code, seen = compared(a.path, b.path)
    # Each result is of a study with a name of its own; nothing else differs.
    assert seen.comparable, seen.mismatches
    assert (seen.mismatches, seen.left_out) == ((), ())
    deciding = {(each.deployment, each.metric): each for each in seen.changes if each.gate}
    assert deciding.keys() == set(product(("native", "bridge"), HEADLINE))
    for (deployment, metric), each in deciding.items():
        ratio = geometric_mean(b, deployment, metric) / geometric_mean(a, deployment, metric)
        assert each.change.value == pytest.approx(ratio - 1, abs=1e-9)
        assert each.change.low is not None and each.change.high is not None
        assert each.change.low <= each.change.value <= each.change.high
        assert each.bound is not None and each.twin_blocks is not None
        interval = f"{each.change.low:+.1%} … {each.change.high:+.1%}"
        record_property("seen", f"{deployment} {metric} {interval} {each.verdict}")
    worse = any(each.verdict is ChangeVerdict.REGRESSION for each in deciding.values())
    assert code == (ExitCode.REGRESSION if worse else ExitCode.OK)


def test_a_result_of_other_records_is_refused_and_told_in_what_it_differs(
    first: OpenedResult, tmp_path: Path
) -> None:
    other = carried_out(tmp_path, records=RECORDS // 2, blocks=1)
    code, seen = compared(first.path, other.path)
    assert code == ExitCode.INCOMPARABLE
    assert not seen.comparable and seen.changes == ()
    (found,) = (each for each in seen.mismatches if each.key == "records")
    assert (found.kind, found.a, found.b) == (
        MismatchKind.STUDY,
        str(RECORDS),
        str(RECORDS // 2),
    )
    code, seen = compared(first.path, other.path, "--anyway")
    assert code == ExitCode.UNTRUSTWORTHY  # one block has no interval
    assert seen.changes


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def pipe_table(path: Path) -> list[dict[str, str]]:
    """The rows of a Markdown file, as a reader of the dialect shows them."""
    table = [line for line in path.read_text().splitlines() if line.startswith("|")]
    split = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table]
    shown = [[_unescaped(cell) for cell in cells] for cells in split]
    return [dict(zip(shown[0], cells, strict=True)) for cells in shown[2:]]


def _unescaped(cell: str) -> str:
    return html.unescape(re.sub(r"\\([^A-Za-z0-9\s])", r"\1", cell)).strip()


def alike(one: str, other: str) -> bool:
    """Whether a cell of a CSV file and one of Markdown say the same, to six digits."""
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-5)
    except ValueError:
        told = " ".join(one.removeprefix("'").split())
        return other in (told, {"True": "yes", "False": "no"}.get(told, told))


def test_csv_files_hold_what_the_records_say(first: OpenedResult, exported: Path) -> None:
    found = {
        row["run"]: float(row["throughput [op/s]"])
        for row in rows_of(exported / "csv" / "runs.csv")
    }
    assert found == pytest.approx(throughputs(first), rel=1e-6)
    (asked,) = (row for row in rows_of(exported / "csv" / "answers.csv") if row["question"])
    (answer,) = first.analysis.answers[0].comparisons
    told = [float(asked[name]) for name in ("difference [%]", "low [%]", "high [%]")]
    ends = (answer.difference.value, answer.difference.low, answer.difference.high)
    assert told == pytest.approx([100 * end for end in ends if end is not None], rel=1e-4)
    assert asked["verdict"] == answer.verdict


def test_markdown_tells_the_same_of_every_table_as_csv(exported: Path) -> None:
    names = sorted(path.stem for path in (exported / "csv").iterdir())
    assert len(names) > 10
    assert sorted(path.stem for path in (exported / "markdown").iterdir()) == names
    for name in names:
        there = rows_of(exported / "csv" / f"{name}.csv")
        shown = pipe_table(exported / "markdown" / f"{name}.md")
        assert len(there) == len(shown) > 0, name
        for one, other in zip(there, shown, strict=True):
            assert one.keys() == other.keys()
            cells = ((head, one[head], other[head]) for head in one)
            assert [cell for cell in cells if not alike(*cell[1:])] == [], name


def test_parquet_holds_every_run_with_units_and_meanings(
    first: OpenedResult, exported: Path
) -> None:
    table = pq.read_table(exported / "runs.parquet")
    assert table.schema.metadata[b"dunnage.runs"].decode().isdigit()
    told = table.schema.field("throughput").metadata
    assert told[b"unit"] == b"op/s"
    assert METRICS["throughput"].title.encode() in told[b"meaning"]
    rows = {row["run"]: row for row in table.to_pylist()}
    found = {run: row["throughput"] for run, row in rows.items()}
    assert found == pytest.approx(throughputs(first), rel=1e-9)
    for record in first.records:
        row = rows[record.run]
        assert row["started"].timestamp() == pytest.approx(record.started, abs=1e-5)
        assert row["deployment"] == record.deployment
        assert row["status"] in ("valid", "invalid", "unknown")


def test_every_run_has_a_log_with_all_that_it_did(first: OpenedResult, exported: Path) -> None:
    logs = {path.stem: path.read_bytes() for path in (exported / "hlog").iterdir()}
    counts = {
        run: merged([log], *(f"{each}.service" for each in OPERATIONS)).get_total_count()
        for run, log in logs.items()
    }
    done = {run: each.operations["all"].count for run, each in measured(first).items()}
    assert counts == done


def test_every_table_of_a_result_with_many_blocks_is_typeset(
    exported: Path, tmp_path: Path
) -> None:
    files = sorted((exported / "latex").iterdir())
    assert len(files) > 10
    _, overfull = typeset(tmp_path / "article", files, "10pt")
    assert overfull == []


def test_data_frames_of_a_live_result_agree_with_its_answer_and_records(
    first: OpenedResult,
) -> None:
    valid = first.runs.filter(pl.col("status") == "valid")
    sides = _of(valid, "native").join(_of(valid, "bridge"), on="block")
    logs = (sides["bridge"] / sides["native"]).log().drop_nulls()
    asked = first.comparisons.filter(pl.col("question") == "Q1").row(0, named=True)
    assert asked["blocks"] == len(logs)
    mean = math.fsum(logs.to_list()) / len(logs)
    assert asked["difference"] == pytest.approx(math.expm1(mean), abs=1e-9)
    assert asked["low"] <= asked["difference"] <= asked["high"]
    for run, each in measured(first).items():
        windows = first.windows.filter((pl.col("run") == run) & (pl.col("start") >= 0))
        assert windows["operations"].sum() == pytest.approx(each.operations["all"].count, rel=0.05)
        samples = first.samples.filter((pl.col("run") == run) & (pl.col("unit") == ""))
        assert set(samples["host"]) == {"db-1", "client-1"}
        for host in ("db-1", "client-1"):
            seen = samples.filter(pl.col("host") == host).sort("time")
            assert seen["cpu"].is_sorted()
            times = seen["at"].to_list()
            assert times[0] <= 0.5
            assert times[-1] >= each.seconds - 0.5


def _of(runs: pl.DataFrame, deployment: str) -> pl.DataFrame:
    """The throughput of a deployment block by block, in a column of its name."""
    own = runs.filter(pl.col("deployment") == deployment)
    return own.select("block", pl.col("throughput").alias(deployment))


def contents(root: Path) -> Mapping[str, bytes]:
    """What was measured into a result; what is made of it anew is left out."""
    layout = ResultLayout(root)
    made = (layout.analysis, layout.lock, layout.report)
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not any(path.is_relative_to(each) for each in made)
    }


def test_blocks_are_added_to_a_live_result_and_what_was_there_stays(
    first: OpenedResult, tmp_path: Path, record_property: Record
) -> None:
    copy = tmp_path / first.study.name / first.path.name
    shutil.copytree(first.path, copy)
    before = contents(copy)
    answer = answered("run", "--resume", str(copy), "--blocks", f"+{ADDED}")
    record_property("seen", in_short(Analysis.model_validate(answer["analysis"])))
    grown, journal = dunnage.open(copy), ResultLayout(copy).journal
    now = contents(copy)
    assert now[journal.name].startswith(before[journal.name])
    changed = [name for name in before if now[name] != before[name]]
    assert changed == [journal.name]
    added = {name.split("/")[0] for name in now.keys() - before.keys()}
    assert added == {"looks.jsonl", "plan-2.json", "runs", "stays"}
    (look,) = grown.result.looks
    assert (look.plan, look.planned, look.added, look.spare) == (2, BLOCKS, ADDED, False)
    assert len(grown.plan.blocks) == BLOCKS + ADDED
    assert grown.result.finished() == {run.id for run in grown.plan.runs()}
    insist_wider(_asked(first), _asked(grown))
    argv = [*DUNNAGE, "compare", str(first.path), str(copy), "--format", "json"]
    refused = subprocess.run(argv, capture_output=True, text=True, timeout=300)
    assert refused.returncode == ExitCode.USAGE
    what = json.loads(refused.stdout)["error"]["what"]
    assert f"both hold {len(first.records)} runs of one result" in what


def _asked(opened: OpenedResult) -> Mapping[str, object]:
    (found,) = opened.comparisons.filter(pl.col("question") == "Q1").iter_rows(named=True)
    return found


def insist_wider(one: Mapping[str, object], other: Mapping[str, object]) -> None:
    """The later answer is another one, of more blocks, at the coverage of a second look."""
    assert (one["coverage"], other["coverage"]) == pytest.approx((0.95, 0.9875))
    assert isinstance(one["blocks"], int) and isinstance(other["blocks"], int)
    assert one["blocks"] < other["blocks"] <= BLOCKS + ADDED
    assert _ends(one) != _ends(other)
    assert "look 2" in str(other["method"])


def _ends(row: Mapping[str, object]) -> Sequence[object]:
    return [row[name] for name in ("difference", "low", "high")]
