"""`dunnage lab status`: which labs stand here, and what is in them."""

from __future__ import annotations

from rich.table import Table

from dunnage import lab_tool
from dunnage.cli.shared.terminal import Format, FormatOption, out, say, show_json, show_line

NAME = "status"
HELP = "Show the labs on this machine, their hosts, Docker daemons and kubeconfigs."
EXAMPLES = "Examples:  dunnage lab status  ·  dunnage lab status --format json"


def command(format_: FormatOption = Format.TEXT) -> None:
    """A line for every host of every lab."""
    labs = lab_tool.standing_labs()
    if format_ is Format.JSON:
        show_json(
            [
                {
                    "lab": lab.name,
                    "purpose": lab.purpose,
                    "kept": lab.kept,
                    "directory": str(lab.directory),
                    "kubeconfig": None
                    if (file := lab_tool.exposed_kubeconfig(lab)) is None
                    else str(file),
                    "hosts": [
                        {
                            "name": host.name,
                            "address": host.address,
                            "alive": host.alive,
                            "daemon": None if host.daemon is None else f"unix://{host.daemon}",
                            "daemon_alive": None if host.daemon is None else host.listens,
                            "kubeconfig": None if host.kubeconfig is None else str(host.kubeconfig),
                        }
                        for host in lab.hosts
                    ],
                }
                for lab in labs
            ]
        )
        return
    if not labs:
        say("no lab stands on this machine: ", ("dunnage lab up", "bold"))
        return
    table = Table(box=None, pad_edge=False)
    for title in ("lab", "for", "host", "address", "state", "docker", "kubernetes"):
        table.add_column(title, overflow="fold")
    for lab in labs:
        for number, host in enumerate(lab.hosts):
            whose = (lab.name, lab.purpose) if number == 0 else ("", "")
            state = "up" if host.alive else "lost"
            docker = "" if host.daemon is None else "up" if host.listens else "gone"
            has = "control plane" if host.kubernetes else "node" if host.containerd else ""
            table.add_row(*whose, host.name, host.address, state, docker, has)
    out.print(table)
    for lab in labs:
        for host in [each for each in lab.hosts if each.listens][:1]:
            show_line(f"docker of {host.name} of {lab.name}, and so of others:")
            show_line(f"  docker --host unix://{host.daemon} info")
        if (file := lab_tool.exposed_kubeconfig(lab)) is not None:
            show_line(f"kubectl of {lab.name}:")
            show_line(f"  kubectl --kubeconfig {file} get nodes")
