"""`dunnage compare`: what changed between two results; a gate for continuous integration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from dunnage.cli.shared import completion
from dunnage.cli.shared.terminal import (
    Format,
    FormatOption,
    formatted,
    out,
    say,
    say_wrapped,
    show_json,
    typed,
)
from dunnage.errors import ExitCode, ResultError, UsageError
from dunnage.findings.restarts.sentences import stays_with_restarts
from dunnage.findings.study.sentences import scaled
from dunnage.findings.two_results import sentences
from dunnage.findings.two_results.changes import AnalysedResult
from dunnage.findings.two_results.changes import compare as compare_results
from dunnage.findings.two_results.comparable import Circumstances, driven
from dunnage.model.between import ResultComparison
from dunnage.opened import OpenedResult, open_at
from dunnage.report.terminal.two_results import comparison
from dunnage.secrets.texts import told_of
from dunnage.store.events import FINISHED
from dunnage.store.newest import around, newest
from dunnage.units import SHARES, quantity
from dunnage.wording import damage
from dunnage.wording.numbers import count

FACTS_SHOWN = 5
"""Facts that differ which are listed unless all are asked for."""
NAME = "compare"
HELP = (
    "Show what changed between two results. Exit codes: 6 for a regression beyond the tolerance, "
    "5 if something that decides could not be judged, 7 if the results cannot be compared. For 7 "
    "the facts that differ are listed."
)
EXAMPLES = (
    "Examples:  dunnage compare results/nightly/monday results/nightly/tuesday  ·  "
    "dunnage compare old new --tolerance 5% --format json  ·  dunnage compare old new --anyway"
)


def command(
    a: Annotated[
        Path, typer.Argument(help="The earlier result.", autocompletion=completion.results)
    ],
    b: Annotated[Path, typer.Argument(help="The later result.", autocompletion=completion.results)],
    tolerance: Annotated[
        str | None,
        typer.Option(
            help="Changes up to this are not a regression, for example `5%`. Default: that of the "
            "study's question on the metric, else 3%."
        ),
    ] = None,
    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway",
            help="Compare although facts differ. They are listed, and no cause is named.",
        ),
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="List every fact that differs, not only the weightiest.")
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> ExitCode:
    """Analyse both anew and compare; nothing is measured or written."""
    options = ["--anyway"] * anyway + ["--all"] * all_
    options += formatted(format_)
    share = _share(tolerance, typed("compare", a, b, "--tolerance", _meant(tolerance), *options))
    meant = _result_of(a)
    if meant is not None and meant == _result_of(b):
        raise _nothing_to_compare("the same result", b)
    left, right = open_at(a), open_at(b)
    if _copies(left, right):
        raise _nothing_to_compare("copies of one result", b)
    if shared := _shared(left, right):
        raise UsageError(
            f"both hold {count(shared, 'run')} of one result, so they are not independent: one is "
            "a copy of the other that went on",
            where=str(b),
            hint="name two results that were measured apart, the earlier one first",
        )
    compared = compare_results(_analysed(left), _analysed(right), tolerance=share, anyway=anyway)
    if format_ is Format.JSON:
        show_json(compared.model_dump(mode="json"))
    else:
        out.print(comparison(compared))
    most = len(compared.mismatches) if all_ else FACTS_SHOWN
    words = ["compare", a, b, *(["--tolerance", tolerance] if tolerance else []), *options]
    for side, opened in ((compared.a, left), (compared.b, right)):
        if smaller := scaled(opened.scale):
            say_wrapped(told_of(side.path, smaller), "yellow")
        if damaged := damage.brief(side.damages):
            say_wrapped(told_of(side.path, damaged), "yellow")
        for text in stays_with_restarts(side.restarted):
            say_wrapped(told_of(side.path, text), "yellow")
    _tell_mismatches(compared, words, most, anyway=anyway)
    return _code(compared, anyway=anyway)


def _result_of(path: Path) -> Path | None:
    """The result that a path stands for, or leads into; None where there is none."""
    with suppress(ResultError):
        return newest(path).resolve()
    return around(path)


def _nothing_to_compare(alike: str, b: Path) -> UsageError:
    return UsageError(
        f"both are {alike}, so there is nothing to compare",
        where=str(b),
        hint="name two results, the earlier one first",
    )


def _copies(left: OpenedResult, right: OpenedResult) -> bool:
    """Whether two results hold the same: what happened when, every run, and what is damaged."""
    happened = list(left.result.events())
    return (
        happened != []
        and happened == list(right.result.events())
        and left.examined.damages == right.examined.damages
        and left.records == right.records
    )


def _shared(left: OpenedResult, right: OpenedResult) -> int:
    """How many runs two results both hold: they ended at the same time, as the journals say."""
    ends, others = (
        {event.get("run"): event.get("time") for event in each.result.events() if _ended(event)}
        for each in (left, right)
    )
    both = left.result.finished() & right.result.finished() & ends.keys() & others.keys()
    return sum(ends[run] == others[run] for run in both)


def _ended(event: Mapping[str, object]) -> bool:
    return event.get("event") == FINISHED and isinstance(event.get("run"), str)


def _analysed(opened: OpenedResult) -> AnalysedResult:
    return AnalysedResult(
        path=str(opened.path),
        circumstances=Circumstances(
            opened.study,
            opened.plan,
            opened.result.environment,
            opened.stays,
            opened.result.calibration,
            driven(opened.records),
        ),
        analysis=opened.analysis,
        records=opened.records,
    )


def _meant(tolerance: str | None) -> str:
    """The tolerance that was probably meant: `3` is `3%`."""
    number = (tolerance or "").strip().rstrip("%")
    known = number.isdecimal() and len(number) < 3 and int(number)
    return f"{number}%" if known else "3%"


def _share(text: str | None, meant: str) -> float | None:
    if text is None:
        return None
    try:
        share = quantity(text, SHARES)
    except ValueError as error:
        raise UsageError(f"`--tolerance`: {error}", hint=meant) from error
    if not 0 < share < 1:
        raise UsageError(f"`--tolerance {text}` is not between 0 and 100 %", hint=meant)
    return share


def _tell_mismatches(
    compared: ResultComparison, command: Sequence[object], most: int, *, anyway: bool
) -> None:
    if compared.comparable:
        return
    heading, rest = sentences.differing(compared, anyway=anyway)
    say((heading, "yellow" if anyway else "bold red"), rest)
    for difference in sentences.weightiest(compared.mismatches)[:most]:
        say_wrapped(sentences.mismatch(difference), indent=2)
    if len(compared.mismatches) > most:
        say(
            f"  and {len(compared.mismatches) - most} more: ",
            (typed(*command, "--all"), "bold"),
        )
    if not anyway:
        say("  try: ", (typed(*command, "--anyway"), "bold"))


def _code(compared: ResultComparison, *, anyway: bool) -> ExitCode:
    if not compared.comparable and not anyway:
        return ExitCode.INCOMPARABLE
    if regressed := sentences.regressed(compared):
        say((regressed, "red"))
        return ExitCode.REGRESSION
    unjudged = sentences.unjudged(compared)
    for text in unjudged:
        say_wrapped(text, "yellow")
    return ExitCode.UNTRUSTWORTHY if unjudged else ExitCode.OK
