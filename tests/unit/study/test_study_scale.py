"""A study made smaller asks the same with less."""

from __future__ import annotations

from pathlib import Path

import pytest

from dunnage import catalog
from dunnage.model.study import Study
from dunnage.study.read import read_study
from dunnage.study.scale import readable_share, scaled

PRESETS = sorted((Path(__file__).parents[3] / "src/dunnage/study/presets").glob("*.yaml"))

STUDY = """\
# keep me
dunnage: 1
name: small
testbed: {kind: fake, hosts: {db: 3, client: 1}}
database: {kind: fake, topology: single}
deployments:
  plain: {platform: fake}
workloads: [A, {name: big, core: C, records: 50_000}]
load: {threads: [1], warmup: 3s, duration: 20s}  # and me
generator: fake
sampler: {kind: fake}
"""


def read(text: str) -> Study:
    return read_study(text, "study.yaml", catalog.OFFER)


def smaller(text: str, share: float) -> Study:
    return read(scaled(text, read(text), share))


def test_records_time_and_blocks_shrink_and_comments_stay() -> None:
    text = scaled(STUDY, read(STUDY), 0.1)
    study = read(text)
    assert study.records == 1000
    assert study.workloads[1].records == 5000
    assert study.blocks == 1
    assert study.load.duration == 2.0
    assert study.load.warmup == 3.0
    assert "# keep me" in text
    assert "# and me" in text
    assert text.startswith("# Made smaller for a quick try: --scale 0.1\n")


def test_nothing_falls_below_what_a_run_needs_or_grows() -> None:
    study = smaller(STUDY, 0.0001)
    assert (study.records, study.blocks, study.load.duration) == (100, 1, 2.0)
    tiny = STUDY.replace("generator:", "records: 7\ngenerator:")
    assert smaller(tiny, 0.5).records == 7


def test_operations_shrink_where_they_end_a_run() -> None:
    text = STUDY.replace("duration: 20s", "operations: 9000")
    assert smaller(text, 0.5).load.operations == 4500


def test_what_ends_when_all_is_done_stays_long_enough_to_be_valid() -> None:
    rated = STUDY.replace("threads: [1]", "rate: [300, 1000]")
    counted = rated.replace("duration: 20s", "operations: 90000")
    assert smaller(counted, 0.0001).load.operations == 2000
    threads = STUDY.replace(
        "threads: [1], warmup: 3s, duration: 20s", "threads: [512], operations: 90000"
    )
    assert smaller(threads, 0.0001).load.operations == 512
    loading = rated.replace("workloads: [", "workloads: [{name: loading, phase: load}, ")
    assert smaller(loading, 0.0001).records == 2000


def test_probes_of_a_search_get_shorter_and_keep_their_precision() -> None:
    text = STUDY.replace("threads: [1]", "search: {start: 2000, precision: 5%, probe: 4s}")
    (full, half, least) = (smaller(text, share).load.search for share in (1.0, 0.5, 0.01))
    assert full is not None and half is not None and least is not None
    assert (full.probe, half.probe, least.probe) == (4.0, 2.0, 1.0)
    assert full.precision == half.precision == least.precision


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_a_shipped_study_stays_a_study(path: Path) -> None:
    text = path.read_text()
    full, small = read(text), smaller(text, 0.2)
    assert small.deployments == full.deployments
    assert small.questions == full.questions
    assert small.blocks <= full.blocks


@pytest.mark.parametrize(("written", "share"), [("10%", 0.1), ("0.5", 0.5), ("100%", 1.0)])
def test_a_share_is_written_in_percent_or_as_a_part_of_one(written: str, share: float) -> None:
    assert readable_share(written) == pytest.approx(share)


@pytest.mark.parametrize("written", ["0", "-5%", "120%", "half", "10 s"])
def test_what_does_not_make_a_study_smaller_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"write"):
        readable_share(written)
