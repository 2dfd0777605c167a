"""The `dunnage` command: verbs, and the one place where errors are shown."""

from __future__ import annotations

import sys
import traceback
from typing import Annotated

import typer
from typer.exceptions import TyperException

from dunnage import __version__
from dunnage.cli import (
    clean,
    compare,
    doctor,
    export,
    init,
    plan,
    quickstart,
    report,
    run,
    schema,
    status,
)
from dunnage.cli.terminal import flush, open_streams, say, show_error
from dunnage.errors import DunnageError, ExitCode, UsageError

app = typer.Typer(
    name="dunnage",
    help="Measure what a platform costs a database, with its uncertainty and its cause.",
    epilog="Exit codes: 0 done · 1 a bug in Dunnage · 2 wrong command line or study · "
    "3 cannot run here · 4 something failed, finished runs are kept · "
    "5 ran, but too few valid runs for an answer · 6 a regression (`compare`) · "
    "7 results that cannot be compared (`compare`) · 130 interrupted.\n\n"
    "Examples:  dunnage quickstart  ·  dunnage run studies/fake.yaml  ·  dunnage doctor",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for verb in (
    quickstart,
    init,
    doctor,
    plan,
    run,
    status,
    report,
    compare,
    export,
    clean,
    schema,
):
    app.command(verb.NAME, help=verb.HELP, epilog=verb.EXAMPLES)(verb.command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dunnage {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; every error ends here, in one sentence and an exit code."""
    open_streams()
    code = _carried_out()
    flush()
    sys.exit(code)


def _carried_out() -> int:
    try:
        code = app(standalone_mode=False)
    except DunnageError as error:
        show_error(error)
        return error.exit_code
    except TyperException as error:
        _show_usage(error)
        return ExitCode.USAGE
    except (KeyboardInterrupt, typer.Abort):
        code = ExitCode.INTERRUPTED
    except Exception:
        say(traceback.format_exc().rstrip())
        say("dunnage: this is a bug in Dunnage; please report it")
        return ExitCode.BUG
    if code == ExitCode.INTERRUPTED:  # Typer returns this for KeyboardInterrupt
        say("dunnage: interrupted; every finished run is kept")
    return code if isinstance(code, int) else ExitCode.OK


def _show_usage(error: TyperException) -> None:
    """Say what is wrong with the command line; without a verb, its help has been shown already."""
    if message := error.format_message():
        command = getattr(getattr(error, "ctx", None), "command_path", "dunnage")
        show_error(UsageError(message, hint=f"{command} -h"))
