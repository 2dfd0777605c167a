"""What twins said over a machine's studies: kept by host and kernel, each result once."""

from __future__ import annotations

from pathlib import Path

from dunnage.cli.shared.machine_history import told
from dunnage.findings.differences.twins_said import latest, twins_said
from dunnage.model.remembered import TwinsSaid
from dunnage.store.machine_log import remember, remembered
from report_samples import sample

MACHINE = "host one/6.1.0-13"


def one(result: str, *apart: str) -> TwinsSaid:
    return TwinsSaid(result=result, study="quickstart", time=1.0, metrics=3, apart=apart)


def known(directory: Path) -> tuple[TwinsSaid, ...]:
    return latest(remembered(directory, MACHINE, TwinsSaid))


def test_lines_are_kept_by_machine_and_the_last_of_a_result_counts(tmp_path: Path) -> None:
    directory = tmp_path / "cache" / "twins"
    assert known(directory) == ()
    for found in (one("a", "throughput"), one("b"), one("a")):
        remember(directory, MACHINE, found)
    remember(directory, "another", one("c", "throughput"))
    assert known(directory) == (one("b"), one("a"))
    assert [path.name for path in sorted(directory.iterdir())] == [
        "another.jsonl",
        "host-one-6.1.0-13.jsonl",
    ]


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    remember(tmp_path, MACHINE, one("a"))
    (path,) = tmp_path.iterdir()
    path.write_bytes(b'{"version": 1, "cut o\n\xff\n' + path.read_bytes())
    assert known(tmp_path) == (one("a"),)


def test_an_analysis_says_in_how_many_metrics_twins_were_told_apart() -> None:
    analysis = sample().analysis
    found = twins_said(analysis, "r", 2.0)
    assert found is not None
    assert found.metrics == len({each.metric for each in analysis.twin})
    apart = tuple(each.model_copy(update={"apart": 0.01}) for each in analysis.twin[:1])
    other = twins_said(analysis.model_copy(update={"twin": (*apart, *analysis.twin[1:])}), "r", 2.0)
    assert other is not None and other.apart == (analysis.twin[0].metric,)
    assert twins_said(sample(blocks=3).analysis, "r", 2.0) is None


def test_it_is_told_beside_what_chance_would_do() -> None:
    assert told((one("a", "throughput"), one("b"))) == (
        "twins on this machine, over 2 studies: different in 1 of 6 metrics; by chance it would "
        "be 0.3"
    )
