"""`dunnage lab up`: hosts on this machine, with an orchestrator on them, left standing."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Annotated

import typer

from dunnage import lab_tool
from dunnage.cli.lab.choose import naming
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
        Network | None,
        typer.Option(
            "--network",
            show_default=Network.BRIDGE.value,
            help="How pods of that Kubernetes reach each other: over a bridge on each host with "
            "routes between them, over flannel's tunnel or routes, or as the file of `--cni` says.",
        ),
    ] = None,
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
        ProxyMode | None,
        typer.Option(
            "--proxy",
            show_default=ProxyMode.IPTABLES.value,
            help="With what its kube-proxy leads services to pods.",
        ),
    ] = None,
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
    of_pods = [("--network", network), ("--cni", cni), ("--proxy", proxy)]
    given = [(name, value) for name, value in of_pods if value is not None]
    if given and not kubernetes:
        name, value = given[0]
        words = itertools.chain.from_iterable(given)
        raise UsageError(
            f"`{name} {value}` is for pods, and no Kubernetes is asked for",
            hint=typed("lab", "up", "--kubernetes", *words),
        )
    began = time.monotonic()

    def tell(step: str) -> None:
        say(f"{time.monotonic() - began:5.1f} s  {_STEPS.get(step, step)}")

    choices = Choices(
        network or Network.BRIDGE, proxy or ProxyMode.IPTABLES, _configuration(network, cni)
    )
    with Stop(say) as stop, stop.at_once():
        made = stand_up(hosts, wanted, choices=choices, expose=expose, tell=tell)
    lab = lab_tool.chosen_lab(made.lab)
    if format_ is Format.JSON:
        names = {host.name: host.address for host in lab.hosts}
        exposed = {"contexts": made.contexts, "kubeconfig": made.kubeconfig}
        paths = {name: None if path is None else str(path) for name, path in exposed.items()}
        show_json({"lab": lab.name, "hosts": names, **paths, "proxy": made.proxy})
        return
    show_line(f"lab {lab.name}: {', '.join(host.name for host in lab.hosts)}")
    which = naming(lab)
    if made.proxy is not None:
        say(f"  services:     led to pods by {made.proxy}, as {lab.hosts[0].name} tells")
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
        inside = typed("lab", "shell", *which, control, "--", "kubectl", "get", "nodes")
        say("  its kubectl: ", (inside, "bold"))
    say("  a shell:     ", (typed("lab", "shell", *which, lab.hosts[0].name), "bold"))
    say("  the end:     ", (typed("lab", "down", *which), "bold"))


def _configuration(network: Network | None, file: Path | None) -> str:
    """The text of the CNI configuration for a network; empty where that needs none."""
    if (network is Network.CNI) is (file is None):
        whole = typed("lab", "up", "--kubernetes", "--network", "cni", "--cni", file or "FILE")
        raise UsageError("`--network cni` and `--cni FILE` go together", hint=whole)
    return "" if file is None else configuration_in(file)
