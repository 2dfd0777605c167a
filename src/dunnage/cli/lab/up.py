"""`dunnage lab up`: hosts on this machine, with Docker or a Swarm on them, left standing."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from dunnage import catalog
from dunnage.cli.shared.terminal import Format, FormatOption, say, show_json, show_line, typed
from dunnage.errors import UsageError
from dunnage.runner.interrupt import Stop
from dunnage.runner.standing_lab import stand_up

NAME = "up"
HELP = "Make hosts on this machine, and leave them standing: for looking, trying and teaching."
EXAMPLES = (
    "Examples:  dunnage lab up --swarm  ·  dunnage lab up --hosts 5 --docker  ·  "
    "dunnage lab up --swarm --expose"
)
_STEPS = {
    "docker": "a Docker daemon on each",
    "swarm": "one Swarm of them",
    "contexts": "a Docker context for each",
}


def command(
    hosts: Annotated[
        int,
        typer.Option(
            "--hosts", min=1, max=64, help="Hosts for members; the client's comes on top."
        ),
    ] = 3,
    docker: Annotated[
        bool, typer.Option("--docker", help="Start a Docker daemon on every host.")
    ] = False,
    swarm: Annotated[
        bool,
        typer.Option("--swarm", help="Make a Swarm of them, its manager on a host of its own."),
    ] = False,
    expose: Annotated[
        bool,
        typer.Option(
            "--expose",
            help="Write a Docker context for each daemon into the lab's directory, so that your "
            "own `docker` can reach it. Only root can; nothing listens on this machine's network.",
        ),
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Make it, tell each step with its time, and say what to type next."""
    if expose and not (docker or swarm):
        raise UsageError(
            "there is no Docker daemon to be exposed",
            hint=typed("lab", "up", "--swarm", "--expose"),
        )
    began = time.monotonic()

    def tell(step: str) -> None:
        say(f"{time.monotonic() - began:5.1f} s  {_STEPS.get(step, step)}")

    with Stop(say) as stop, stop.at_once():
        made = stand_up(hosts, docker=docker, swarm=swarm, expose=expose, tell=tell)
    lab = catalog.chosen_lab(made.lab)
    if format_ is Format.JSON:
        names = {host.name: host.address for host in lab.hosts}
        contexts = None if made.contexts is None else str(made.contexts)
        show_json({"lab": lab.name, "hosts": names, "contexts": contexts})
        return
    show_line(f"lab {lab.name}: {', '.join(host.name for host in lab.hosts)}")
    if made.contexts is not None:
        last = lab.hosts[-1].name
        say(
            "  your docker: ",
            (f"DOCKER_CONFIG={made.contexts} docker --context {last} info", "bold"),
        )
    say("  a shell:     ", (typed("lab", "shell", lab.hosts[0].name), "bold"))
    say("  the end:     ", (typed("lab", "down"), "bold"))
