"""The script that reads a host's namespaces in one go: starting a command costs more than it does.

What it prints is in sections. Each begins with a line of `MARK`, its name, and what it is about.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

MARK = "@@dunnage"

_INSIDE = f"""\
echo {MARK} links; echo "$asked" | ip -json -details -force -batch -
echo {MARK} sockets; ss --no-header --listening --tcp --numeric --processes"""
_FORWARDING = f"echo {MARK} forwarding; bridge -json fdb show"


@dataclass(frozen=True)
class Tools:
    """What a host's daemon has for containers' networks."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables under which its `iptables` runs."""
    namespaces: str = ""
    """Directory in which it keeps network namespaces as files; empty if not known."""


def script(addresses: Iterable[str], pids: Iterable[int], tools: Tools | None) -> str:
    """Read the host's own namespace, and those of processes and of Docker's overlay networks.

    `addresses` are those whose routes are asked for; `tools` is None where no daemon translates.
    """
    asked = "\n".join(("address show", *(f"route get {each}" for each in addresses)))
    parts = [
        f"asked={shlex.quote(asked)}; inside={shlex.quote(_INSIDE)}; export asked inside",
        f'echo {MARK} own; eval "$inside"',
    ]
    if tools is not None:
        parts += [_rules(tools), _PROXIES]
    parts += [_of_process(pid) for pid in pids]
    if tools is not None and tools.namespaces:
        parts.append(_overlays(tools.namespaces))
    return "\n".join(parts)


def _rules(tools: Tools) -> str:
    variables = [f"{name}={value}" for name, value in tools.environment.items()]
    command = shlex.join(("env", *variables, "iptables", "--table", "nat", "--list-rules"))
    return f"echo {MARK} rules; {command} || echo {MARK} no-rules"


_PROXIES = f"""\
for each in $(grep -lx docker-proxy /proc/[0-9]*/comm 2>/dev/null); do
pid=${{each#/proc/}}; pid=${{pid%/comm}}
echo {MARK} command $pid; tr '\\0' '\\n' </proc/$pid/cmdline
done"""


def _of_process(pid: int) -> str:
    """Where its network is the host's own, that is all there is to say."""
    return f"""\
echo {MARK} process {pid}
if [ /proc/{pid}/ns/net -ef /proc/self/ns/net ]; then echo {MARK} shared
else nsenter --target={pid} --net sh -c "$inside"; fi"""


def _overlays(directory: str) -> str:
    """Docker begins the names of overlay networks' namespaces with a number and a dash."""
    inside = shlex.quote(f"echo {MARK} links; ip -json -details address show; {_FORWARDING}")
    return f"""\
for each in {shlex.quote(directory)}/[0-9]*-*; do
[ -e "$each" ] || continue
echo {MARK} overlay; nsenter --net="$each" sh -c {inside}
done"""
