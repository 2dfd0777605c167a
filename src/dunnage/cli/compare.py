"""`dunnage compare`: what changed between two results; a gate for continuous integration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from dunnage.cli.terminal import Format, FormatOption, out, say, show_json, typed
from dunnage.errors import ExitCode, UsageError
from dunnage.findings.two_results.changes import AnalysedResult
from dunnage.findings.two_results.changes import compare as compare_results
from dunnage.findings.two_results.comparable import Circumstances
from dunnage.findings.two_results.text import comparison
from dunnage.model.between import Change, ChangeVerdict, ResultComparison
from dunnage.opened import OpenedResult, open_at
from dunnage.units import SHARES, quantity
from dunnage.wording.between import mismatch
from dunnage.wording.numbers import count

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
    a: Annotated[Path, typer.Argument(help="The earlier result.")],
    b: Annotated[Path, typer.Argument(help="The later result.")],
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
    format_: FormatOption = Format.TEXT,
) -> None:
    """Analyse both anew and compare; nothing is measured or written."""
    left, right = open_at(a), open_at(b)
    compared = compare_results(
        _analysed(left), _analysed(right), tolerance=_share(tolerance), anyway=anyway
    )
    if format_ is Format.JSON:
        show_json(compared.model_dump(mode="json"))
    else:
        out.print(comparison(compared))
    _tell_mismatches(compared, typed("compare", a, b, "--anyway"), anyway=anyway)
    code = _code(compared, anyway=anyway)
    if code is not ExitCode.OK:
        raise typer.Exit(code)


def _analysed(opened: OpenedResult) -> AnalysedResult:
    return AnalysedResult(
        path=str(opened.path),
        circumstances=Circumstances(
            opened.study,
            opened.plan,
            opened.result.environment,
            opened.stays,
            opened.result.calibration,
        ),
        analysis=opened.analysis,
        records=opened.records,
    )


def _share(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        share = quantity(text, SHARES)
    except ValueError as error:
        raise UsageError(f"`--tolerance`: {error}") from error
    if not 0 < share < 1:
        raise UsageError(f"`--tolerance {text}` is not between 0 and 100 %")
    return share


def _tell_mismatches(compared: ResultComparison, command: str, *, anyway: bool) -> None:
    if compared.comparable:
        return
    differ = count(len(compared.mismatches), "fact differs", "facts differ")
    if anyway:
        say((f"compared although {differ}, so no change has a known cause:", "yellow"))
    else:
        say(("not comparable:", "bold red"), f" {differ}")
    for difference in compared.mismatches:
        say(f"  {mismatch(difference)}")
    if not anyway:
        say("  try: ", (command, "bold"))


def _code(compared: ResultComparison, *, anyway: bool) -> ExitCode:
    if not compared.comparable and not anyway:
        return ExitCode.INCOMPARABLE
    deciding = [change for change in compared.changes if change.gate]
    regressed = [change for change in deciding if change.verdict is ChangeVerdict.REGRESSION]
    if regressed:
        say((f"{count(len(regressed), 'regression')}: {_names(regressed)}", "red"))
        return ExitCode.REGRESSION
    unjudged = tuple(_unjudged(compared, deciding))
    for text in unjudged:
        say((text, "yellow"))
    return ExitCode.UNTRUSTWORTHY if unjudged else ExitCode.OK


def _unjudged(compared: ResultComparison, deciding: Sequence[Change]) -> Iterator[str]:
    """Why the gate found nothing out about some of what decides; nothing where it did."""
    if compared.left_out or not deciding:
        what = "not everything" if deciding else "nothing"
        yield f"{what} could be compared, so no regression is ruled out"
    short = [change for change in deciding if change.change.low is None]
    if short:
        yield f"no interval for {_names(short)}: more blocks are needed"
    loose = [each for each in deciding if each not in short and each.bound is None]
    if loose:
        yield f"no A/A bound for {_names(loose)}: a twin is needed in both results"


def _names(changes: Sequence[Change]) -> str:
    return ", ".join(dict.fromkeys(f"{change.deployment} ({change.metric})" for change in changes))
