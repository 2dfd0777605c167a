"""`dunnage lab up`: hosts on this machine, with an orchestrator on them, left standing."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from dunnage import lab_tool
from dunnage.cli.shared.cni_file import configuration_in
from dunnage.cli.shared.terminal import Format, FormatOption, say, show_json, show_line, typed
from dunnage.errors import UsageError
from dunnage.model.proxy import ProxyMode
from dunnage.runner.interrupt import Stop
from dunnage.runner.standing_lab import stand_up
from dunnage.substrates.kubernetes.choices import Choices, Network

NAME = "up"
HELP = "Make hosts on this machine, and leave them standing: for looking, trying and teaching."
EXAMPLES = (
    "Examples:  dunnage lab up --swarm  ·  dunnage lab up --hosts 5 --docker  ·  "
    "dunnage lab up --swarm --expose  ·  dunnage lab up --kubernetes --network flannel-vxlan"
)
_STEPS = {
    "docker": "a Docker daemon on each",
    "swarm": "one Swarm of them",
    "kubernetes": "a Kubernetes of them, every node ready",
    "contexts": "a Docker context for each",
    "kubeconfig": "a kubeconfig",
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
    kubernetes: Annotated[
        bool,
        typer.Option(
            "--kubernetes",
            help="Make a Kubernetes of them, its control plane on a host of its own.",
        ),
    ] = False,
    network: Annotated[
        Network,
        typer.Option(
            "--network",
            help="How pods of that Kubernetes reach each other: over a bridge on each host with "
            "routes between them, over flannel's tunnel or routes, or as the file of `--cni` says.",
        ),
    ] = Network.BRIDGE,
    cni: Annotated[
        Path | None,
        typer.Option(
            "--cni",
            metavar="FILE",
            help="CNI configuration for `--network cni`, as in a `.conflist` file. It may have the "
            "placeholders that a study's may have.",
        ),
    ] = None,
    proxy: Annotated[
        ProxyMode,
        typer.Option("--proxy", help="With what its kube-proxy leads services to pods."),
    ] = ProxyMode.IPTABLES,
    expose: Annotated[
        bool,
        typer.Option(
            "--expose",
            help="Write a Docker context for each daemon, and a kubeconfig, into the lab's "
            "directory, so that your own `docker` and `kubectl` can reach them. Only root can read "
            "them; only a port of the loopback is opened, for the kubeconfig.",
        ),
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Make it, tell each step with its time, and say what to type next."""
    asked = {"docker": docker, "swarm": swarm, "kubernetes": kubernetes}
    wanted = [family for family, is_asked in asked.items() if is_asked]
    if expose and not wanted:
        raise UsageError(
            "there is neither a Docker daemon nor a Kubernetes to be exposed",
            hint=typed("lab", "up", "--swarm", "--expose"),
        )
    began = time.monotonic()

    def tell(step: str) -> None:
        say(f"{time.monotonic() - began:5.1f} s  {_STEPS.get(step, step)}")

    choices = Choices(network, proxy, _configuration(network, cni, kubernetes=kubernetes))
    with Stop(say) as stop, stop.at_once():
        made = stand_up(hosts, wanted, choices=choices, expose=expose, tell=tell)
    lab = lab_tool.chosen_lab(made.lab)
    if format_ is Format.JSON:
        names = {host.name: host.address for host in lab.hosts}
        exposed = {"contexts": made.contexts, "kubeconfig": made.kubeconfig}
        paths = {name: None if path is None else str(path) for name, path in exposed.items()}
        show_json({"lab": lab.name, "hosts": names, **paths})
        return
    show_line(f"lab {lab.name}: {', '.join(host.name for host in lab.hosts)}")
    if made.contexts is not None:
        last = lab.hosts[-1].name
        say(
            "  your docker: ",
            (f"DOCKER_CONFIG={made.contexts} docker --context {last} info", "bold"),
        )
    if made.kubeconfig is not None:
        say("  your kubectl:", (f" kubectl --kubeconfig {made.kubeconfig} get nodes", "bold"))
    elif kubernetes:
        control = next(host.name for host in lab.hosts if host.kubeconfig is not None)
        inside = typed("lab", "shell", control, "--", "kubectl", "get", "nodes")
        say("  its kubectl: ", (inside, "bold"))
    say("  a shell:     ", (typed("lab", "shell", lab.hosts[0].name), "bold"))
    say("  the end:     ", (typed("lab", "down"), "bold"))


def _configuration(network: Network, file: Path | None, *, kubernetes: bool) -> str:
    """The text of the CNI configuration for a network; empty where that needs none."""
    whole = typed("lab", "up", "--kubernetes", "--network", "cni", "--cni", file or "FILE")
    if (network is Network.CNI) is (file is None):
        raise UsageError("`--network cni` and `--cni FILE` go together", hint=whole)
    if file is not None and not kubernetes:
        raise UsageError("`--cni` is for pods, and no Kubernetes is asked for", hint=whole)
    return "" if file is None else configuration_in(file)
