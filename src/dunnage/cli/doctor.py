"""`dunnage doctor`: what can run here, and how to get what is missing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from dunnage import capabilities, catalog
from dunnage.cli.shared import machine_history
from dunnage.cli.shared.cluster import KubeconfigOption, insist_on_context, show_cluster
from dunnage.cli.shared.terminal import Format, FormatOption, out, say, show_json
from dunnage.errors import ExitCode
from dunnage.wording.terms import listed, plain

NAME = "doctor"
HELP = "Show what can run on this machine or in a cluster, and how to get what is missing."
EXAMPLES = (
    "Examples:  dunnage doctor  ·  dunnage doctor --context my-cluster  ·  "
    "dunnage doctor --format json"
)


def command(
    context: Annotated[
        str | None,
        typer.Option(
            help="Ask the Kubernetes of this context of your kubeconfig instead: who you are "
            "there, whether you have every right that Dunnage needs and what for, and which nodes "
            "are hosts.",
        ),
    ] = None,
    kubeconfig: KubeconfigOption = None,
    format_: FormatOption = Format.TEXT,
) -> ExitCode:
    """Check every capability and every endpoint; exit 3 if the quickstart cannot run.

    With a context, check that cluster only; exit 3 if a right is missing there that each study
    needs.
    """
    insist_on_context(context, kubeconfig)
    if context is not None:
        return show_cluster(catalog.cluster(context, kubeconfig), format_)
    supports = capabilities.supports("namespace")
    if format_ is Format.JSON:
        show_json(
            {
                "capabilities": {
                    name: {"met": support.met, "reason": support.reason, "hint": support.hint}
                    for name, support in supports.items()
                },
                "endpoints": [asdict(each) for each in capabilities.reachable("namespace")],
            }
        )
    else:
        table = Table(box=None, pad_edge=False)
        for title in ("capability", "here", "why not", "how to get it"):
            table.add_column(title, overflow="fold")
        for name, support in supports.items():
            mark = "[green]yes[/]" if support.met else "[red]no[/]"
            table.add_row(name, mark, Text(plain(support.reason)), Text(plain(support.hint)))
        out.print(table)
        out.print()
        _show_endpoints()
    machine_history.show()
    if all(supports[name].met for name in capabilities.QUICKSTART_NEEDS):
        say("everything that the quickstart needs is here: ", ("dunnage quickstart", "bold"))
        return ExitCode.OK
    fakes = ("dunnage quickstart --fake", "bold")
    say("the quickstart cannot run here, but it can run with fakes: ", fakes)
    return ExitCode.UNAVAILABLE


def _show_endpoints() -> None:
    """Whether each endpoint of each platform can run here; what all of them lack is told once."""
    every = capabilities.reachable("namespace")
    shared = [need for need in every[0].lacks if all(need in each.lacks for each in every)]
    if shared:
        out.print(Text(f"no endpoint can run here: all need {listed(shared)}", "red"))
        out.print()
    table = Table(box=None, pad_edge=False)
    for title in ("platform", "network", "endpoint", "here", "also lacks" if shared else "lacks"):
        table.add_column(title, overflow="fold")
    for each in every:
        mark = "[red]no[/]" if each.lacks else "[green]yes[/]"
        own = ", ".join(need for need in each.lacks if need not in shared)
        table.add_row(each.platform, each.network, each.endpoint, mark, Text(plain(own)))
    out.print(table)
