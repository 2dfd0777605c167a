"""The `dunnage` command: verbs, and the one place where errors are shown."""

from __future__ import annotations

import ast
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from dunnage import __version__
from dunnage.cli.shared.terminal import (
    flush,
    open_streams,
    out,
    say,
    show_error,
    show_error_json,
)
from dunnage.errors import DunnageError, ExitCode, UsageError

VERBS = (
    "quickstart",
    "init",
    "doctor",
    "plan",
    "run",
    "status",
    "report",
    "compare",
    "export",
    "verify",
    "clean",
    "schema",
)
"""Each is a module beside this, with `NAME`, `HELP`, `EXAMPLES` and `command`."""

_COMPLETING = "_DUNNAGE_COMPLETE"
"""Set by a shell that asks how a command line can go on."""


def command_line(chosen: str | None = None) -> typer.Typer:
    """Make the command line; with a chosen verb, the others are there in name and help only.

    What a verb needs takes a second to load, and nobody who asks for help wants to wait for it.
    """
    app = typer.Typer(
        name="dunnage",
        help="Measure what a platform costs a database, with its uncertainty and its cause.",
        epilog="Exit codes: 0 done · 1 a bug in Dunnage · 2 wrong command line or study · "
        "3 cannot run here · 4 something failed, finished runs are kept · "
        "5 ran, but too few valid runs for an answer · 6 a regression (`compare`) · "
        "7 results that cannot be compared (`compare`) · 8 damaged files (`verify`) · "
        "130 interrupted.\n\n"
        "Examples:  dunnage quickstart  ·  dunnage run studies/fake.yaml  ·  dunnage doctor",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in VERBS:
        if chosen in (None, name):
            verb = import_module(f"dunnage.cli.{name}")
            app.command(verb.NAME, help=verb.HELP, epilog=verb.EXAMPLES)(verb.command)
        else:
            app.command(name, help=_help(name))(_not_chosen)
    return app


def _chosen(words: Sequence[str]) -> str | None:
    """The verb on a command line; empty where there is none, None where all are wanted."""
    if _COMPLETING in os.environ:
        return None
    return next((word for word in words if not word.startswith("-")), "")


def _help(name: str) -> str:
    """The `HELP` of a verb's module, read without loading what that needs."""
    spec = find_spec(f"dunnage.cli.{name}")
    assert spec is not None and spec.origin is not None  # noqa: S101 (modules of our own)
    for statement in ast.parse(Path(spec.origin).read_bytes()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "HELP":
            return str(ast.literal_eval(statement.value))
    raise AssertionError(f"`{name}` has no HELP")


def _not_chosen() -> None:
    """Stands for a verb that is only listed."""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dunnage {__version__}")
        raise typer.Exit


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
        code = command_line(_chosen(sys.argv[1:]))(standalone_mode=False)
    except DunnageError as error:
        return _show(error)
    except TyperException as error:
        # Without a verb there is no message: the help has been shown already.
        message = error.format_message().replace("Value error, ", "")
        command = getattr(getattr(error, "ctx", None), "command_path", "dunnage")
        return _show(UsageError(message, hint=f"{command} -h")) if message else ExitCode.USAGE
    except (KeyboardInterrupt, typer.Abort):
        code = ExitCode.INTERRUPTED
    except Exception:
        say(traceback.format_exc().rstrip())
        say("dunnage: this is a bug in Dunnage; please report it")
        return ExitCode.BUG
    if code == ExitCode.INTERRUPTED:  # Typer returns this for KeyboardInterrupt
        say("dunnage: interrupted; every finished run is kept")
    return code if isinstance(code, int) else ExitCode.OK


def _show(error: DunnageError) -> ExitCode:
    """Show an error to people, and to the program that asked for JSON."""
    show_error(error)
    words = sys.argv[1:]
    wanted = "--format=json" in words or ("--format", "json") in pairwise(words)
    if wanted and not out.used:
        show_error_json(error)
    return error.exit_code
