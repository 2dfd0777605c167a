"""The engine's operations beside those of YCSB's own core workload, of the same property files.

What is determined must be the same: keys, fields, their order, and values that follow from them.
What is drawn must be as frequent: Pearson's test of both samples, which refuses sound ones once in
a million.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from engine.ycsb_core import JAVA
from own_loopback import OwnLoopback
from two_samples import likelihood
from ycsb_original import Original

from dunnage.software.engine import engine_path

pytestmark = pytest.mark.live

Properties = Mapping[str, str]

ENGINE = Path(__file__).parents[2] / "crates/engine"
SCRIPT = ENGINE / "tests/golden/acknowledged.txt"
RECORDS, OPERATIONS, MANY = 1000, 20_000, 200_000
CHANCE = 1e-6
GROUP = 6
"""Characters that YCSB makes of one random number."""
HISTOGRAM = "BlockSize\t3\n0\t100\n1\t0\n2\t300\n3\t50\n4\t10\n"

LOADS: Mapping[str, Properties] = {
    "as it is": {},
    "ordered": {"insertorder": "ordered"},
    "ordered and padded": {"insertorder": "ordered", "zeropadding": "12"},
    "hashed and padded": {"zeropadding": "24"},
    "a part": {"insertstart": "100", "insertcount": "300"},
    "from a start": {"insertstart": "100"},
    "other fields": {"fieldcount": "3", "fieldnameprefix": "f", "fieldlength": "7"},
    "compared": {"dataintegrity": "true"},
    "compared and short": {"dataintegrity": "true", "fieldlength": "20", "insertorder": "ordered"},
    "compared and long": {"dataintegrity": "true", "fieldlength": "700", "fieldcount": "2"},
}
"""Load phases in which all but random characters is determined."""
SHORT: Properties = {"fieldlength": "40", "minfieldlength": "3"}
LENGTHS: Mapping[str, Properties] = {
    "uniform": {"fieldlengthdistribution": "uniform", **SHORT},
    "zipfian": {"fieldlengthdistribution": "zipfian", **SHORT},
    "histogram": {"fieldlengthdistribution": "histogram"},
}
"""Load phases with lengths that are drawn."""
CORE = tuple(f"workload{letter}" for letter in "abcdef")
READS: Properties = {"readproportion": "1", "updateproportion": "0"}
KINDS = ("read", "update", "insert", "scan", "readmodifywrite")
ALL: Properties = {f"{kind}proportion": "0.2" for kind in KINDS} | {"fieldcount": "4"}
PART: Properties = {"insertstart": "100", "insertcount": "300"}
RUNS: Mapping[str, Properties] = {
    "uniform": {**READS, "requestdistribution": "uniform"},
    "uniform over a part": {**READS, **PART, "requestdistribution": "uniform"},
    "zipfian over a part": {**READS, **PART, "requestdistribution": "zipfian"},
    "latest": {**READS, **PART, "requestdistribution": "latest"},
    "hotspot": {**READS, "requestdistribution": "hotspot"},
    "hotspot over a part": {
        **READS,
        **PART,
        "requestdistribution": "hotspot",
        "hotspotdatafraction": "0.05",
        "hotspotopnfraction": "0.5",
    },
    "exponential": {**READS, "requestdistribution": "exponential"},
    "steeper exponential": {
        **READS,
        "requestdistribution": "exponential",
        "exponential.percentile": "90",
        "exponential.frac": "0.1",
    },
    "all kinds": {
        **ALL,
        "requestdistribution": "zipfian",
        "scanlengthdistribution": "zipfian",
        "minscanlength": "2",
        "maxscanlength": "60",
    },
    "one field each": {**ALL, "readallfields": "false"},
    "all fields written": {
        **ALL,
        "writeallfields": "true",
        "fieldlengthdistribution": "zipfian",
        "fieldlength": "30",
    },
    "compared": {**ALL, "dataintegrity": "true"},
}
"""Run phases besides those of YCSB's workload files."""
SEQUENTIAL: Properties = {**READS, **PART, "requestdistribution": "sequential"}


class Operation(NamedTuple):
    """A line of either."""

    kind: str
    key: str
    scanned: str
    reads: str
    writes: str
    lengths: str
    values: str = ""

    @property
    def determined(self) -> tuple[str, str, str, str]:
        """What a load phase never draws."""
        return self.kind, self.key, self.reads, self.writes


@dataclass(frozen=True)
class Both:
    """A directory in which YCSB did what property files say, and the engine is to do the same."""

    directory: Path
    operations: int
    """Of each run phase."""

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each key."""
        return {each.key: number for number, each in enumerate(self.original("names"))}

    def original(self, name: str) -> list[Operation]:
        return parsed((self.directory / f"{name}.operations").read_text())

    def engine(self, name: str) -> list[Operation]:
        file = self.directory / f"{name}.properties"
        plan = self.directory / f"{name}.json"
        plan.write_text(told("drive", "fake://", "-P", str(file), "--seed", "1", "--dry-run"))
        load = "dotransactions=false" in file.read_text()
        ends = ("--values",) if load else ("--count", str(self.operations))
        return parsed(told("operations", "--plan", str(plan), *ends))

    def each(self, name: str) -> tuple[list[Operation], list[Operation]]:
        return self.original(name), self.engine(name)


def parsed(lines: str) -> list[Operation]:
    return [Operation(*line.split("\t")) for line in lines.splitlines()]


def told(*words: str) -> str:
    """What the engine prints."""
    argv = (str(engine_path()), *words)
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(histogram: Path, operations: int) -> dict[str, str]:
    """The text of every property file."""
    load = {"recordcount": str(RECORDS), "dotransactions": "false"}
    run = {"recordcount": str(RECORDS), "operationcount": str(operations)}
    lengths = {**load, "fieldlengthhistogram": str(histogram)}
    # The keys of all that will be inserted: a fifth of the operations.
    most = str(RECORDS + operations // 4)
    given = {"names": {**load, "recordcount": most, "fieldcount": "1", "fieldlength": "1"}}
    given |= {f"load {name}": {**load, **changes} for name, changes in LOADS.items()}
    given |= {f"lengths {name}": {**lengths, **changes} for name, changes in LENGTHS.items()}
    runs = {**RUNS, "sequential": SEQUENTIAL}
    given |= {f"run {name}": {**run, **changes} for name, changes in runs.items()}
    texts = {name: text_of(properties) for name, properties in given.items()}
    for name in CORE:
        texts[f"run {name}"] = (ENGINE / "workloads" / name).read_text() + text_of(run)
    return texts


def text_of(properties: Properties) -> str:
    return "".join(f"{name}={value}\n" for name, value in properties.items())


def carried_out(directory: Path, operations: int) -> Both:
    """All property files with what YCSB did."""
    histogram = directory / "histogram"
    histogram.write_text(HISTOGRAM)
    for name, text in files(histogram, operations).items():
        (directory / f"{name}.properties").write_text(text)
    shutil.copy(SCRIPT, directory / "acknowledged.script")
    with closing(OwnLoopback(JAVA)) as loopback:
        Original(loopback).operations(directory)
    return Both(directory, operations)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return carried_out(tmp_path_factory.mktemp("operations"), OPERATIONS)


def lengths_of(operations: Sequence[Operation]) -> list[int]:
    """The length of each value that is written."""
    writing = (each for each in operations if each.writes != "-")
    return [int(length) for each in writing for length in each.lengths.split(",")]


def characters_of(operations: Sequence[Operation], place: int) -> bytes:
    """Every sixth character of each value, from a place on."""
    values = (value for each in operations for value in each.values.split(","))
    return b"".join(bytes.fromhex(value)[place::GROUP] for value in values)


def records(operations: Sequence[Operation], numbers: Mapping[str, int], latest: bool) -> list[int]:
    """Which record each operation is for that inserts none: by its number, or by its distance from
    the last one. All that were inserted meanwhile count as one."""
    last = RECORDS - 1
    asked: list[int] = []
    for operation in operations:
        number = numbers[operation.key]
        if operation.kind == "insert":
            last += 1
            assert number == last
        else:
            asked.append(last - number if latest else min(number, RECORDS))
    return asked


def drawn(
    operations: Sequence[Operation], numbers: Mapping[str, int], latest: bool
) -> dict[str, list[Any]]:
    """All that a run phase draws, by what it is."""
    return {
        "types and fields": [f"{each.kind} {each.reads} {each.writes}" for each in operations],
        "records": records(operations, numbers, latest),
        "lengths of scans": [int(each.scanned) for each in operations if each.kind == "scan"],
        "lengths of values": lengths_of(operations),
    }


def likelihoods(both: Both, name: str) -> dict[str, float]:
    """How likely the engine draws as YCSB does what a run phase draws, by what it is."""
    latest = name in ("workloadd", "latest")
    original, engine = (drawn(of, both.numbers, latest) for of in both.each(f"run {name}"))
    assert len(engine["types and fields"]) == len(original["types and fields"]) == both.operations
    return {what: likelihood(original[what], engine[what]) for what in original}


@pytest.mark.parametrize("name", LOADS)
def test_a_load_phase_inserts_the_same_keys_and_fields_in_the_same_order(
    both: Both, name: str
) -> None:
    original, engine = both.each(f"load {name}")
    assert [each.determined for each in engine] == [each.determined for each in original]
    assert [each.lengths for each in engine] == [each.lengths for each in original]
    if "dataintegrity" in LOADS[name]:
        assert [each.values for each in engine] == [each.values for each in original]


@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_of_values_are_as_frequent_as_in_ycsb(both: Both, name: str) -> None:
    original, engine = both.each(f"lengths {name}")
    assert [each.determined for each in engine] == [each.determined for each in original]
    one, other = (lengths_of(of) for of in (original, engine))
    assert likelihood(one, other) > CHANCE


@pytest.mark.parametrize("place", range(GROUP))
def test_characters_of_values_are_as_frequent_as_in_ycsb(both: Both, place: int) -> None:
    one, other = (characters_of(of, place) for of in both.each("load as it is"))
    assert likelihood(one, other) > CHANCE


@pytest.mark.parametrize("name", [*CORE, *RUNS])
def test_a_run_phase_draws_everything_as_often_as_ycsb(both: Both, name: str) -> None:
    likely = likelihoods(both, name)
    assert min(likely.values()) > CHANCE, likely


@pytest.mark.proof
@pytest.mark.timeout(900)
def test_long_run_phases_draw_everything_as_often_as_ycsb(tmp_path: Path) -> None:
    many = carried_out(tmp_path, MANY)
    likely = {name: likelihoods(many, name) for name in (*CORE, *RUNS)}
    assert min(value for each in likely.values() for value in each.values()) > CHANCE, likely


def test_sequential_requests_are_for_the_same_records_in_the_same_order(both: Both) -> None:
    original, engine = both.each("run sequential")
    assert [each.key for each in engine] == [each.key for each in original]
    assert len(engine) == OPERATIONS


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("uniform", "uniform over a part"),
        ("workloada", "uniform"),
        ("hotspot", "workloada"),
        ("exponential", "steeper exponential"),
    ],
)
def test_another_distribution_is_told_from_that_of_ycsb(both: Both, one: str, other: str) -> None:
    original = records(both.original(f"run {one}"), both.numbers, latest=False)
    engine = records(both.engine(f"run {other}"), both.numbers, latest=False)
    assert likelihood(original, engine) < CHANCE


def test_ycsb_itself_lets_inserts_be_asked_for_when_the_script_says(both: Both) -> None:
    """The engine's own test of the same script is in `load/keys.rs`."""
    assert (both.directory / "acknowledged.replayed").read_text() == SCRIPT.read_text()
