"""`dunnage export`: tables for papers, runs for other programs, histograms for HdrHistogram."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from dunnage.cli.shared import going_on, trust
from dunnage.cli.shared.studies import ResultArgument
from dunnage.cli.shared.terminal import (
    Format,
    FormatOption,
    formatted,
    say,
    show_json,
    show_line,
    typed,
)
from dunnage.errors import ExitCode, UnwrittenError, UsageError
from dunnage.model.record import Record
from dunnage.opened import OpenedResult, open_at
from dunnage.report.export import csv_files, hlog, markdown
from dunnage.report.export.arrow import parquet
from dunnage.report.export.directory import Content, ExportDirectory
from dunnage.report.export.latex import document as latex
from dunnage.report.tables import runs
from dunnage.report.tables.every import tables
from dunnage.report.tables.table import Table
from dunnage.store.newest import RESULTS
from dunnage.wording import damage
from dunnage.wording.numbers import count

NAME = "export"
HELP = "Write the tables, the runs and the histograms of a result for other programs and papers."
EXAMPLES = (
    "Examples:  dunnage export results/quickstart --to out  ·  "
    "dunnage export results --to paper --as latex  ·  "
    "dunnage export results --to data --as parquet,hlog --format json"
)


class As(StrEnum):
    """What a result can be exported as."""

    CSV = "csv"
    PARQUET = "parquet"
    LATEX = "latex"
    MARKDOWN = "markdown"
    HLOG = "hlog"


_ALL = ",".join(As)


def command(
    to: Annotated[Path, typer.Option(help="Directory to write into; created if it is missing.")],
    result: ResultArgument = RESULTS,
    as_: Annotated[
        str,
        typer.Option(
            "--as",
            help="What to write, separated by commas. `csv`, `latex`, `markdown`: every table of "
            "the report. `parquet`: all runs in one file; `runs.parquet.md` explains its columns. "
            "`hlog`: the latencies of each run, for HdrHistogram's tools. Searches are left out. "
            "The file name of a run that was over capacity says `.over-capacity`.",
        ),
    ] = _ALL,
    format_: FormatOption = Format.TEXT,
) -> ExitCode:
    """Analyse anew and write; the result directory stays as it is.

    It ends as `dunnage report` does.
    """
    options = [*(["--as", as_] if as_ != _ALL else []), *formatted(format_)]
    wanted = _wanted(as_, typed("export", result, "--to", to, *formatted(format_)))
    opened = open_at(result)
    place = Path(os.path.realpath(to))
    raw = place.is_relative_to(opened.path.resolve())
    if raw and not place.is_relative_to((opened.path / "report").resolve()):
        raise UsageError(
            going_on.INSIDE,
            where=str(to),
            hint=typed("export", result, "--to", "out", *options),
        )
    directory = ExportDirectory(to, opened.result.layout, opened.study.name)
    files = {name: content for kind in wanted for name, content in _FILES[kind](opened)}
    directory.insist_fit(files, typed("export", result, "--to", _free(to), *options))
    try:
        written = list(directory.write(files))
    except UnwrittenError as error:
        elsewhere = typed("export", result, "--to", "DIRECTORY", *options)
        error.hint = error.then(typed("export", result, "--to", to, *options), elsewhere)
        raise
    if As.HLOG in wanted and not any(path.suffix == ".hlog" for path in written):
        say("no histogram log was written: no run outside a search has one")
    searches = sum(record.search is not None for record in opened.records)
    if As.HLOG in wanted and searches:
        say(
            f"the logs of {count(searches, 'search', 'searches')} are left out: they hold the "
            "latencies of all probes"
        )
    if damaged := damage.brief(opened.examined.damages):
        say((damaged, "yellow"))
    trust.tell_too_few(opened.analysis, opened.result)
    if format_ is Format.JSON:
        show_json({"result": str(opened.path), "written": [str(path) for path in written]})
    else:
        for path in written:
            show_line(str(path))
        say(f"{count(len(written), 'file')} written")
    if (ending := trust.ending(opened.analysis)) is not ExitCode.OK:
        say("why: ", (typed("report", opened.path), "bold"))
    return ending


def _wanted(text: str, everything: str) -> tuple[As, ...]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in set(As)]
    if unknown or not names:
        named = ", ".join(f"`{name}`" for name in unknown) or "nothing"
        raise UsageError(f"cannot export as {named}; there are {', '.join(As)}", hint=everything)
    return tuple(dict.fromkeys(As(name) for name in names))


def _free(to: Path) -> Path:
    """A directory beside this one that is not there."""
    name = to.name or to.resolve().name or "out"
    names = (to.parent / f"{name}-{number}" for number in itertools.count(2))
    return next(path for path in names if not (path.exists() or path.is_symlink()))


Files = Iterator[tuple[str, Content]]
"""Paths inside the directory that is written into, with what they hold."""


def _parquet(opened: OpenedResult) -> Files:
    yield "runs.parquet", lambda: parquet(opened.recorded_runs(), runs.RUNS_VERSION)
    yield "runs.parquet.md", lambda: runs.document().encode()


def _hlog(opened: OpenedResult) -> Files:
    for record in opened.records:
        if record.search is not None or record.run in opened.damaged:
            continue
        mark = ".over-capacity" if record.over_capacity else ""
        yield f"{As.HLOG.value}/{record.run}{mark}.hlog", partial(_log, opened, record)


def _log(opened: OpenedResult, record: Record) -> bytes:
    return hlog.one_log(opened.latency_logs(record.run), open_load=record.level.open)


def _tables(kind: As, suffix: str, document: Callable[[Table[Any]], str]) -> _Maker:
    def files(opened: OpenedResult) -> Files:
        for table in tables(opened.analysis, opened.plan):
            yield f"{kind.value}/{table.name}.{suffix}", partial(_document, document, table)

    return files


def _document(document: Callable[[Table[Any]], str], table: Table[Any]) -> bytes:
    return document(table).encode()


_Maker = Callable[[OpenedResult], Files]
_FILES: dict[As, _Maker] = {
    As.CSV: _tables(As.CSV, "csv", csv_files.document),
    As.PARQUET: _parquet,
    As.LATEX: _tables(As.LATEX, "tex", latex.document),
    As.MARKDOWN: _tables(As.MARKDOWN, "md", markdown.document),
    As.HLOG: _hlog,
}
