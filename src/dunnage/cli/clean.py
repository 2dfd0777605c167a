"""`dunnage clean`: remove what no living owner holds."""

from __future__ import annotations

from typing import Annotated

import typer

from dunnage import catalog, lab_tool
from dunnage.cli.shared.cluster import KubeconfigOption, insist_on_context, show_cleaned, show_left
from dunnage.cli.shared.kept_labs import kept_labs, tell_left
from dunnage.cli.shared.terminal import Format, FormatOption, say, show_json, show_line
from dunnage.errors import UsageError
from dunnage.wording.numbers import count

NAME = "clean"
HELP = "Remove control groups and directories that a killed study left. What is in use stays."
EXAMPLES = (
    "Examples:  dunnage clean  ·  dunnage clean --kept  ·  "
    "dunnage clean --context my-cluster  ·  dunnage clean --context my-cluster --yes  ·  "
    "dunnage clean --format json"
)


def command(
    kept: Annotated[
        bool,
        typer.Option("--kept", help="Also end and remove labs that `run --keep` left running."),
    ] = False,
    context: Annotated[
        str | None,
        typer.Option(
            help="Show what Dunnage has in the Kubernetes of this context of your kubeconfig, "
            "instead. Nothing is removed there without `--yes`: others may be using it. It needs "
            "the rights `list namespaces` and `list pods`. Volumes are shown where you may `list "
            "persistentvolumes`.",
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="With `--context`: remove what nobody uses there. That is what belongs to a study "
            "of this machine that has ended, and hosts whose agents have ended because nobody "
            "asked them any more, or that have no agent ten minutes after they were made, with "
            "their stays. All else stays.",
        ),
    ] = False,
    kubeconfig: KubeconfigOption = None,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Remove leftovers and say which."""
    insist_on_context(context, kubeconfig)
    if context is not None:
        if kept:
            raise UsageError("`--kept` is of labs, and `--context` of a cluster: ask for one")
        if yes:
            show_cleaned(context, *catalog.clean_cluster(context, kubeconfig), format_)
        else:
            show_left(context, catalog.left_in_cluster(context, kubeconfig), format_)
        return
    if yes:
        raise UsageError(
            "`--yes` is of a cluster: name one by `--context`", hint="kubectl config get-contexts"
        )
    removed = lab_tool.clean(kept=kept)
    if format_ is Format.JSON:
        labs = [{"lab": each.lab, "study": each.purpose, "hosts": each.hosts} for each in removed]
        show_json({"removed": labs})
        tell_left(kept_labs())
        return
    for each in removed:
        study = f" of `{each.purpose}`" if each.purpose else ""
        hosts = count(each.hosts, "host")
        show_line(f"lab {each.lab}{study}: {hosts}, their processes, control groups and files")
    say(f"{count(len(removed), 'lab')} removed" if removed else "nothing to remove")
    tell_left(kept_labs())
