"""Whether the numbers of a result can be trusted: one rule for all that shows or writes them."""

from __future__ import annotations

from dunnage.cli.shared.terminal import say
from dunnage.errors import ExitCode
from dunnage.findings.checks.sentences import enough_valid
from dunnage.model.analysis import Analysis
from dunnage.store.read import Result


def ending(analysis: Analysis) -> ExitCode:
    """What a command ends with that did what it was asked for."""
    trusted = enough_valid(analysis) and not analysis.damages
    return ExitCode.OK if trusted else ExitCode.UNTRUSTWORTHY


def tell_too_few(analysis: Analysis, result: Result) -> bool:
    """Say that too few runs are valid; returns whether more may come by themselves."""
    if enough_valid(analysis):
        return False
    valid = f"{analysis.valid} of {analysis.planned} runs are valid"
    if analysis.missing and result.in_progress():
        say((f"{valid} so far; the study still runs, so this is no answer yet", "yellow"))
        return True
    say((f"only {valid}; the reasons are in the report", "yellow"))
    return False
