"""What a Kubernetes of someone else's told, for whoever wants to use it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from dunnage.cli.shared.terminal import (
    Format,
    out,
    say,
    shell_line,
    show_json,
    show_line,
    typed,
)
from dunnage.contracts.cluster import EVERY_STUDY, ClusterSeen, LeftSeen, NodeSeen, RightSeen
from dunnage.errors import ExitCode, UsageError
from dunnage.wording.numbers import count
from dunnage.wording.terms import plain

KubeconfigOption = Annotated[
    Path | None,
    typer.Option(
        help="The kubeconfig that has the context, in place of $KUBECONFIG or ~/.kube/config."
    ),
]


def insist_on_context(context: str | None, kubeconfig: Path | None) -> None:
    """Raise UsageError for a kubeconfig without a context that is meant."""
    if kubeconfig is not None and context is None:
        raise UsageError(
            "`--kubeconfig` says where a context is: name one by `--context`",
            hint=shell_line("kubectl", "--kubeconfig", kubeconfig, "config", "get-contexts"),
        )


def show_left(context: str, seen: LeftSeen, format_: Format) -> None:
    """Write what Dunnage has in a cluster, and what would remove it."""
    if format_ is Format.JSON:
        show_json({"context": context, **asdict(seen)})
        return
    _show_lines(seen)
    _show_unread(seen)
    if not (seen.stays or seen.testbeds):
        say(f"Dunnage has nothing in the cluster of context `{context}`")
        return
    say(f"nothing was removed: {_counted(seen)} may be in use, by whoever shares the cluster")
    say("to remove what nobody uses: ", (typed("clean", "--context", context, "--yes"), "bold"))
    _show_removing(seen)


def show_cleaned(context: str, removed: LeftSeen, kept: LeftSeen, format_: Format) -> None:
    """Write what was removed in a cluster, and what was left there."""
    if format_ is Format.JSON:
        show_json({"context": context, "removed": asdict(removed), "left": asdict(kept)})
        return
    _show_lines(removed)
    _show_unread(kept)
    found = bool(removed.stays or removed.testbeds)
    say(f"{_counted(removed)} removed" if found else "nothing to remove")
    if kept.stays or kept.testbeds:
        say(f"{_counted(kept)} left, which somebody may use")
        _show_removing(kept)


def _show_lines(seen: LeftSeen) -> None:
    for testbed in seen.testbeds:
        study = f" of study `{testbed.study}`" if testbed.study else ""
        agents = ", ".join(f"{node} {phase}" for node, phase in testbed.agents.items())
        since = _since(testbed.since)
        show_line(f"hosts {testbed.testbed}{study}{since}: {agents or 'no agents'}")
    for each in seen.stays:
        names = (f"{kind} {name}" for kind, names in each.objects.items() for name in names)
        show_line(f"stay {each.stay}{_since(each.since)}: {', '.join(names)}")


def _show_unread(seen: LeftSeen) -> None:
    if seen.volumes_unread:
        say(f"volumes of stays are not known: {seen.volumes_unread}")


def _show_removing(seen: LeftSeen) -> None:
    say("to remove one, whoever uses it:")
    typing = [each.removing for each in seen.testbeds] + [each.removing for each in seen.stays]
    for words in typing:
        say("  ", (words, "bold"))


def _counted(seen: LeftSeen) -> str:
    parts = [(len(seen.testbeds), "testbed"), (len(seen.stays), "stay")]
    return " and ".join(count(number, noun) for number, noun in parts if number)


def _since(moment: str) -> str:
    return f" since {moment}" if moment else ""


def show_cluster(seen: ClusterSeen, format_: Format) -> ExitCode:
    """Write it; the exit code says whether every right is there that each study needs."""
    missing = [each for each in seen.rights if not each.held]
    lacks = any(each.purpose == EVERY_STUDY for each in missing)
    code = ExitCode.UNAVAILABLE if lacks else ExitCode.OK
    if format_ is Format.JSON:
        show_json({**asdict(seen), "missing": [each.right for each in missing]})
        return code
    show_line(f"context {seen.context}: Kubernetes {seen.version} at {seen.server}")
    groups = f", in {', '.join(seen.groups)}" if seen.groups else ""
    show_line(f"you are {seen.user or 'unknown: the cluster does not tell'}{groups}")
    show_line(f"network of pods: {seen.network}")
    show_line(f"kube-proxy: {seen.proxy}")
    out.print()
    rights = ((each.right, each.purpose, _mark(met=each.held)) for each in seen.rights)
    out.print(_table(("right", "for", "here"), rights))
    out.print()
    if seen.nodes_unread:
        show_line(f"nodes cannot be read: {seen.nodes_unread}")
    else:
        out.print(
            _table(("node", "a host of ours", "ready", "what it tells"), map(_row, seen.nodes))
        )
        ours = sum(1 for each in seen.nodes if each.host)
        say(f"{ours} of {count(len(seen.nodes), 'node')} are hosts of ours")
    _show_missing(missing, seen)
    return code


def _show_missing(missing: Sequence[RightSeen], seen: ClusterSeen) -> None:
    """What is not allowed, and who gives it."""
    if not missing:
        say("every right that Dunnage needs is here")
        return
    if all(each.purpose != EVERY_STUDY for each in missing):
        say("every right that each study needs is here")
    lacking = "1 right is" if len(missing) == 1 else f"{len(missing)} rights are"
    say(
        (f"{lacking} missing; who administers the cluster at {seen.server} can type, ", "yellow"),
        (f"with a context of their own instead of `{seen.context}`:", "yellow"),
    )
    for each in missing:
        say("  ", (each.how, "bold"), f"  # {each.right}, for {each.purpose}")


def _row(node: NodeSeen) -> tuple[Text | str, ...]:
    ready = Text(plain(node.unready), "red") if node.unready else _mark(met=True)
    told = ", ".join(f"{name} {value}" for name, value in node.told.items())
    return Text(plain(node.name)), Text(node.host or "no"), ready, Text(plain(told))


def _mark(*, met: bool) -> str:
    return "[green]yes[/]" if met else "[red]no[/]"


def _table(titles: Iterable[str], rows: Iterable[tuple[Text | str, ...]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table
