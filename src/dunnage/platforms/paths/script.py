"""The script that reads a host's namespaces in one go: starting a command costs more than it does.

What it prints is in sections. Each begins with a line of `MARK`, its name, and what it is about.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

MARK = "@@dunnage"

_LINKS = f'echo {MARK} links; echo "$asked" | ip -json -details -force -batch -'
_FORWARDING = f"echo {MARK} forwarding; bridge -json fdb show"
_SOCKETS = "ss --no-header --listening --tcp --numeric --processes"


@dataclass(frozen=True)
class Tools:
    """What a host's daemon has for containers' networks."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables under which its `iptables` runs."""
    namespaces: str = ""
    """Directory in which it keeps network namespaces as files; empty if not known."""


def script(
    addresses: Iterable[str], pids: Iterable[int], tools: Tools | None, *, members: bool
) -> str:
    """Read the host's own namespace, and those of processes and of Docker's overlay networks.

    `addresses` are those whose routes are asked for; `tools` is None where no daemon translates.
    `members` says whether some of the processes are of members, so that listeners matter.
    """
    asked = "\n".join(("address show", *(f"route get {each}" for each in addresses)))
    sockets = f"; echo {MARK} sockets; {_SOCKETS}" if members else ""
    parts = [f"asked={shlex.quote(asked)}; export asked", f"echo {MARK} own; {_LINKS}"]
    if members:
        parts.append(_LISTENERS)
    if tools is not None:
        parts += [_FORWARDING, _rules(tools)]
    inside = [_LINKS + sockets]
    if tools is not None and tools.namespaces:  # Docker makes rules in containers as well
        inside += [_exported(tools), _TRANSLATING]
    parts += [_of_process(pid, "\n".join(inside)) for pid in pids]
    if tools is not None and tools.namespaces:
        parts.append(_overlays(tools))
    return "\n".join(parts)


_LISTENERS = f"""\
sockets=$({_SOCKETS})
echo {MARK} sockets; echo "$sockets"
while :; do
case $sockets in *'"docker-proxy",pid='*) ;; *) break ;; esac
sockets=${{sockets#*\'"docker-proxy",pid='}}; pid=${{sockets%%,*}}
echo {MARK} command $pid; tr '\\0' '\\n' </proc/$pid/cmdline
done"""
"""Also what proxies were told: their command lines say where they connect to."""


def _rules(tools: Tools) -> str:
    """What translates addresses in the host's own namespace."""
    return f"""\
(
{_exported(tools)}
{_TRANSLATING}
echo {MARK} nft; nft -j list ruleset ip 2>/dev/null
echo {MARK} sets; ipset save 2>/dev/null
)"""


def _exported(tools: Tools) -> str:
    return "\n".join(
        f"export {name}={shlex.quote(value)}" for name, value in tools.environment.items()
    )


_TRANSLATING = f"""\
rules=$(iptables --table nat --list-rules 2>&1) || echo {MARK} no-rules
echo {MARK} rules; echo "$rules"
virtual=$(cat /proc/self/net/ip_vs 2>/dev/null)
echo {MARK} virtual; echo "$virtual"
echo {MARK} onward
{{ echo "$rules" | sed -n 's/.* --to-destination \\([0-9][0-9.]*\\).*/\\1/p'
echo "$virtual" | sed -n 's/^ *-> \\(..\\)\\(..\\)\\(..\\)\\(..\\):.*/0x\\1 0x\\2 0x\\3 0x\\4/p' |
while read -r a b c d; do printf '%d.%d.%d.%d\\n' "$a" "$b" "$c" "$d"; done
}} 2>/dev/null | sort -u | sed 's/^/route get /' | ip -json -force -batch - 2>/dev/null"""
"""The rules and services that send packets elsewhere, and the routes to there."""


def _of_process(pid: int, inside: str) -> str:
    """Where its network is the host's own, that is all there is to say."""
    return f"""\
echo {MARK} process {pid}
if [ /proc/{pid}/ns/net -ef /proc/self/ns/net ]; then echo {MARK} shared
else nsenter --target={pid} --net sh -c {shlex.quote(inside)}; fi"""


def _overlays(tools: Tools) -> str:
    """Docker begins the names of overlay networks' namespaces with a number and a dash.

    IPVS leads to services in namespaces of their own: `ingress_sbox` is that of the routing mesh,
    and those of other networks begin with `lb_`.
    """
    inside = f"echo {MARK} links; ip -json -details address show; {_FORWARDING}"
    served = f"""\
{_exported(tools)}
{_LINKS}
{_TRANSLATING}
echo {MARK} marks; iptables --table mangle --list-rules 2>/dev/null"""
    directory = shlex.quote(tools.namespaces)
    return f"""\
for each in {directory}/[0-9]*-* {directory}/lb_* {directory}/ingress_sbox; do
[ -e "$each" ] || continue
case ${{each##*/}} in
[0-9]*) echo {MARK} overlay; inside={shlex.quote(inside)} ;;
*) echo {MARK} balancer; inside={shlex.quote(served)} ;;
esac
nsenter --net="$each" sh -c "$inside"
done"""
