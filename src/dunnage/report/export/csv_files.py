"""The answer and the runs as CSV, with the units of numbers in the names of columns."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from dunnage.errors import UnwrittenError
from dunnage.findings.checks import reasons
from dunnage.findings.differences import answer
from dunnage.model.analysis import Analysis
from dunnage.model.metrics import METRICS
from dunnage.wording import verdict

Cell = str | int | float | None


def write_csv(analysis: Analysis, directory: Path) -> tuple[Path, ...]:
    """Write `answers.csv` and `runs.csv` into a directory and return their paths.

    Raises ResultError when they cannot be written.
    """
    tables = (("answers.csv", answer_rows(analysis)), ("runs.csv", run_rows(analysis)))
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return tuple(write_rows(directory / name, rows) for name, rows in tables)
    except OSError as error:
        raise UnwrittenError(error, str(directory)) from error


def column(metric: str) -> str:
    """The name of a metric's column: `throughput [op/s]`."""
    return f"{metric} [{METRICS[metric].unit}]"


def answer_rows(analysis: Analysis) -> list[Mapping[str, Cell]]:
    """One row a comparison, the twin's at the end."""
    named = answer.all_comparisons(analysis)
    return [
        {
            "question": comparison.question,
            "deployment": comparison.deployment,
            "baseline": comparison.baseline,
            "workload": comparison.workload,
            "level": comparison.level,
            "metric": comparison.metric,
            "verdict": comparison.verdict.value,
            "difference [%]": _percent(
                comparison.difference.value if comparison.difference.n else None
            ),
            "low [%]": _percent(comparison.difference.low),
            "high [%]": _percent(comparison.difference.high),
            "coverage [%]": _percent(comparison.difference.level),
            "blocks": comparison.difference.n,
            "hodges-lehmann [%]": _percent(comparison.hodges_lehmann),
            "primary": "yes" if comparison.primary else "no",
            "family": comparison.family,
            "twins-apart [%]": _percent(comparison.apart),
            "tolerance [%]": _percent(comparison.tolerance),
            "detectable [%]": _percent(comparison.detectable),
            "blocks-needed": comparison.blocks_needed,
            "method": comparison.difference.method,
            "reason": verdict.reason(comparison),
        }
        for comparison in (*named, *analysis.twin)
    ]


def run_rows(analysis: Analysis) -> list[Mapping[str, Cell]]:
    """One row a finished run, with every metric that some run has."""
    present = {metric for run in analysis.runs for metric in run.values}
    shown = [metric for metric in METRICS if metric in present]
    slowed = any(run.paused is not None for run in analysis.runs)
    return [
        {
            "run": run.run,
            "stay": run.stay,
            "block": run.block,
            "position": run.position,
            "deployment": run.deployment,
            "workload": run.workload,
            "level": run.level,
            "status": run.status,
            **{column(metric): _scaled(metric, run.values.get(metric)) for metric in shown},
            **({"slowed down [%]": _percent(run.paused)} if slowed else {}),
            "sampler [CPU s]": _digits(run.sampler_cpu),
            "trend [%]": _percent(run.trend),
            "reasons": "; ".join(reason.text for reason in reasons.of_run(run)),
        }
        for run in analysis.runs
    ]


def write_rows(path: Path, rows: Iterable[Mapping[str, Cell]]) -> Path:
    """Write rows with a head; texts that a spreadsheet would run are made harmless."""
    found = list(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(found[0]) if found else ["nothing measured"])
        writer.writeheader()
        writer.writerows({key: _harmless(cell) for key, cell in row.items()} for row in found)
    return path


def _percent(share: float | None) -> float | None:
    return None if share is None else float(f"{share * 100:.6g}")


def _scaled(metric: str, number: float | None) -> float | None:
    return None if number is None else float(f"{number * METRICS[metric].scale:.9g}")


def _digits(seconds: float | None) -> float | None:
    return None if seconds is None else float(f"{seconds:.6g}")


def _harmless(cell: Cell) -> Cell:
    """Text that a spreadsheet would run as a formula gets an apostrophe in front of it."""
    if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return "'" + cell
    return cell
