"""`dunnage quickstart`: what Docker costs Redis, here and now."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from dunnage import capabilities
from dunnage.cli.shared.carrying_out import begin
from dunnage.cli.shared.terminal import Format, FormatOption, say, typed
from dunnage.errors import ExitCode, UnavailableError
from dunnage.store.newest import RESULTS

NAME = "quickstart"
HELP = "Answer a first question on this machine: what Docker costs Redis. About seven minutes."
EXAMPLES = "Examples:  dunnage quickstart  ·  dunnage quickstart --fake  ·  make quickstart"


def command(
    fake: Annotated[
        bool,
        typer.Option(
            "--fake", help="Run it with fakes, in a few seconds. The numbers are invented."
        ),
    ] = False,
    results: Annotated[Path, typer.Option(help="Directory of results.")] = RESULTS,
    format_: FormatOption = Format.TEXT,
) -> ExitCode:
    """Run the study `quickstart`, or `fake` where nothing real may or can be started."""
    if not fake:
        supports = capabilities.supports("namespace")
        missing = capabilities.missing(supports, capabilities.QUICKSTART_NEEDS)
        if missing:
            for support in missing:
                say(f"missing: {support.reason}; to get it: ", (support.hint, "bold"))
            raise UnavailableError(
                "the quickstart cannot run here, but it can run with fakes",
                hint="dunnage quickstart --fake",
            )
    name = "fake.yaml" if fake else "quickstart.yaml"
    with as_file(files("dunnage.study") / "presets" / name) as study:
        typed_as = ("quickstart", *["--fake"] * fake)
        code = begin(study, [], results, keep=False, format_=format_, typed_as=typed_as)
    if code is ExitCode.OK and format_ is Format.TEXT:
        say("next, a study of your own: ", (typed("init"), "bold"))
    return code
