"""`dunnage doctor`: what can run here, and how to get what is missing."""

from __future__ import annotations

import typer
from rich.table import Table

from dunnage import catalog
from dunnage.cli.terminal import Format, FormatOption, err, out, show_json
from dunnage.errors import ExitCode

NAME = "doctor"
HELP = "Tell what can run on this machine, and how to get what is missing."
EXAMPLES = "Examples:  dunnage doctor  ·  dunnage doctor --format json"


def command(format_: FormatOption = Format.TEXT) -> None:
    """Check every capability of every kind of testbed; exit 3 if the quickstart cannot run."""
    supports = catalog.supports("namespace")
    if format_ is Format.JSON:
        show_json(
            {
                name.value: {"met": support.met, "reason": support.reason, "hint": support.hint}
                for name, support in supports.items()
            }
        )
    else:
        table = Table(box=None, pad_edge=False)
        for title in ("capability", "here", "why not", "how to get it"):
            table.add_column(title, overflow="fold")
        for name, support in supports.items():
            mark = "[green]yes[/]" if support.met else "[red]no[/]"
            table.add_row(name.value, mark, support.reason, support.hint)
        out.print(table)
    missing = [name for name in catalog.QUICKSTART_NEEDS if not supports[name].met]
    if missing:
        err.print("the quickstart cannot run here; its walk with the fakes can: ", end="")
        err.print("[bold]dunnage quickstart --fake[/]")
        raise typer.Exit(ExitCode.UNAVAILABLE)
    err.print("everything that the quickstart needs is here: [bold]dunnage quickstart[/]")
