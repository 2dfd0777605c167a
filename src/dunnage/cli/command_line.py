"""The `dunnage` command: verbs, and the one place where errors are shown."""

from __future__ import annotations

import ast
import contextlib
import itertools
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from operator import ne
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer
from typer.exceptions import TyperException

from dunnage import __version__
from dunnage.cli.shared import shell
from dunnage.cli.shared.here import from_here
from dunnage.cli.shared.reached import tell_activation
from dunnage.cli.shared.streams import flush, open_streams
from dunnage.cli.shared.terminal import out, say, show_error, show_error_json, typed
from dunnage.errors import DunnageError, ExitCode, NoResultError, ResultError, UsageError

VERBS = (
    "quickstart",
    "init",
    "doctor",
    "plan",
    "path",
    "run",
    "status",
    "report",
    "compare",
    "export",
    "verify",
    "lab",
    "clean",
    "schema",
)
"""Each is a module beside this, with `NAME`, `HELP`, `EXAMPLES` and `command`; or a package of such
modules, with `HELP`, `EXAMPLES` and `VERBS`."""


def command_line(chosen: str | None = None, *, listed: bool = True) -> typer.Typer:
    """Make the command line; with a chosen verb, the others are there in name and help only, or
    where nobody can ask for their list, not at all.

    What a verb needs takes a second to load, and nobody who asks for help wants to wait for it.
    """
    app = typer.Typer(
        name="dunnage",
        help="Measure what a platform costs a database, with its uncertainty and its cause.",
        epilog="Exit codes: 0 done · 1 a bug in Dunnage · 2 wrong command line or study · "
        "3 cannot run here · 4 something failed, finished runs are kept · "
        "5 ran, but too few runs are valid, or damage keeps some from being counted or makes the "
        "answer uncertain · "
        "6 a regression (`compare`) · "
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
            _add(app, import_module(f"dunnage.cli.{name}"), name)
        elif listed:
            app.command(name, help=_help(name))(_not_chosen)
    return app


def _add(app: typer.Typer, verb: ModuleType, name: str) -> None:
    """Add a verb, or a group of verbs under one name."""
    if not hasattr(verb, "VERBS"):
        app.command(verb.NAME, help=verb.HELP, epilog=verb.EXAMPLES)(from_here(verb.command))
        return
    group = typer.Typer(help=verb.HELP, epilog=verb.EXAMPLES, no_args_is_help=True)
    for each in verb.VERBS:
        _add(group, import_module(f"dunnage.cli.{name}.{each}"), each)
    app.add_typer(group, name=name)


def _verb(words: Sequence[str]) -> str:
    """The verb on a command line; empty where there is none."""
    return next((word for word in words if not word.startswith("-")), "")


def _verbs(words: Sequence[str]) -> list[str]:
    """The verb on a command line, and the verb inside of it if it has some; none if it is wrong."""
    verb = _verb(words)
    if verb not in VERBS:
        return []
    inner = _verb(words[words.index(verb) + 1 :])
    known = getattr(import_module(f"dunnage.cli.{verb}"), "VERBS", ())
    return [verb, inner] if inner in known else [verb]


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


def main(begun: Callable[[], None], over: Callable[[], None]) -> None:
    """Run the command line; every error ends here, in one sentence and an exit code.

    `begun` is told when the verb begins, and `over` when it has said its last word.
    """
    open_streams()
    code: int = ExitCode.INTERRUPTED
    with contextlib.suppress(KeyboardInterrupt):  # while it was said how it ended
        code = _carried_out(sys.argv[1:], begun)
        _tell_more()
    over()
    flush()
    sys.exit(code)


def _carried_out(words: Sequence[str], begun: Callable[[], None]) -> int:
    try:
        _refuse_empty(words)
        verb = _verb(words)
        first = verb in VERBS and words[0] == verb  # nothing before it can ask for the list
        app = command_line(None if shell.asks() else verb, listed=not first)
        begun()
        code = shell.carried_out(lambda: app(prog_name="dunnage", standalone_mode=False), words)
    except DunnageError as error:
        return _show(error, words)
    except TyperException as error:
        # Without a verb there is no message: the help has been shown already.
        message = error.format_message().replace("Value error, ", "")
        return _show(UsageError(message), words) if message else ExitCode.USAGE
    except (KeyboardInterrupt, typer.Abort):
        code = ExitCode.INTERRUPTED
    except Exception:
        _show_bug()
        return ExitCode.BUG
    if code == ExitCode.INTERRUPTED:  # Typer returns this for KeyboardInterrupt
        say("dunnage: interrupted")
    return code if isinstance(code, int) else ExitCode.OK


def _tell_more() -> None:
    """What is said beside the answer never changes how a command ended."""
    try:
        tell_activation()
    except Exception:
        _show_bug()


def _show_bug() -> None:
    """Show the exception that is being handled."""
    say(traceback.format_exc().rstrip())
    say("dunnage: this is a bug in Dunnage; please report it")


def _refuse_empty(words: Sequence[str]) -> None:
    """An empty word would be the directory in which one stands; it is a variable that is not set.

    What follows `--` is another program's.
    """
    own = itertools.takewhile(lambda word: word != "--", words)
    if "" in own:
        raise UsageError("a word of this command is empty: perhaps a variable that is not set")


def _show(error: DunnageError, words: Sequence[str]) -> ExitCode:
    """Show an error to people, and to the program that asked for JSON."""
    if isinstance(error, UsageError) and not error.hint:
        error.hint = typed(*_verbs(words), "-h")
    if isinstance(error, ResultError) and error.needed:
        from dunnage.cli.shared.going_on import put_back  # loads what help need not wait for

        error.hint = put_back(Path(error.needed))
    if isinstance(error, NoResultError) and error.inside:
        error.hint = _of_the_whole(words, error) or error.hint
    show_error(error)
    wanted = "--format=json" in words or ("--format", "json") in itertools.pairwise(words)
    if wanted and not out.used:
        with contextlib.suppress(ResultError):  # where it cannot be written is told already
            show_error_json(error)
    return error.exit_code


def _of_the_whole(words: Sequence[str], error: NoResultError) -> str:
    """The same command for the result that a path led into; empty where that was not typed."""
    part, whole = Path(error.where), Path(error.inside)
    named = [_instead(word, part, whole) for word in words]
    return typed(*named) if any(map(ne, named, words)) else ""


def _instead(word: str, part: Path, whole: Path) -> object:
    """A word of a command, with a path in the place of another one."""
    option, sign, value = word.rpartition("=")
    if Path(value) != part:
        return word
    return f"{option}={whole}" if sign else whole
