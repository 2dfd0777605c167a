"""Every comparison with a baseline: the answer."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.findings.differences.answer import all_comparisons
from dunnage.model.analysis import Analysis, Comparison
from dunnage.report.tables.column import Column, ColumnType, count, share, text
from dunnage.report.tables.table import Table
from dunnage.wording import verdict

_COLUMNS: Sequence[Column[Comparison]] = (
    text("question", lambda found: found.question),
    text("deployment", lambda found: found.deployment),
    text("baseline", lambda found: found.baseline),
    text("workload", lambda found: found.workload),
    text("level", lambda found: found.level),
    text("metric", lambda found: found.metric),
    text("verdict", lambda found: found.verdict.value),
    share("difference", lambda found: found.difference.value if found.difference.n else None),
    share("low", lambda found: found.difference.low),
    share("high", lambda found: found.difference.high),
    share("coverage", lambda found: found.difference.level),
    count("blocks", lambda found: found.difference.n),
    share("hodges_lehmann", lambda found: found.hodges_lehmann, called="hodges-lehmann"),
    Column("primary", ColumnType.TRUTH, lambda found: found.primary),
    count("family", lambda found: found.family),
    share("apart", lambda found: found.apart, called="twins-apart"),
    share("tolerance", lambda found: found.tolerance),
    share("detectable", lambda found: found.detectable),
    count("blocks_needed", lambda found: found.blocks_needed, called="blocks-needed"),
    text("method", lambda found: found.difference.method),
    count("left_out", lambda found: _left_out(found, 0), called="left-out"),
    count("baseline_left_out", lambda found: _left_out(found, 1), called="baseline-left-out"),
    text("reason", verdict.reason),
)


def comparisons(analysis: Analysis) -> Table[Comparison]:
    """Every comparison once, the twin's at the end."""
    rows = (*all_comparisons(analysis), *analysis.twin)
    return Table("answers", "Differences from the baseline", _COLUMNS, rows)


def _left_out(found: Comparison, side: int) -> int | None:
    """Runs of the deployment, or of its baseline, that do not count."""
    return found.left_out[side].runs if found.left_out else None
